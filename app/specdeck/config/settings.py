"""The user's own settings: `config.yaml` in the XDG folder; how the dashboard looks, which keys, how alerts ring."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from specdeck.config import places, schema
from specdeck.config.problems import Place, Problems
from specdeck.config.reader import Found, read
from specdeck.config.yaml_source import load
from specdeck.quick_dataclass import dataclass

FILE = "config.yaml"


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """How to be told of what nobody looks at."""

    kinds: tuple[str, ...] = schema.ALERT_KINDS
    bell: bool = True
    desktop: bool = True
    command: tuple[str, ...] = ()
    """An argument list, never a shell string."""
    webhook: str | None = None
    webhook_env: str | None = None
    """The variable that holds the address, where that is a secret."""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """Other keys for one command, and where the file says so."""

    keys: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Settings:
    """As the file says, defaults filled in."""

    is_ascii: bool = False
    has_mouse: bool = True
    alerts: AlertSettings = AlertSettings()
    keys: Mapping[str, KeyChoice] = field(default_factory=dict)
    """By the name of the command; whether there is one is not known here."""
    source: Path | None = None


def read_settings(problems: Problems) -> Settings:
    """The settings of this user; without a file, and for what is wrong in it, the defaults."""
    path = places.config_folder() / FILE
    if not path.exists():
        return Settings()
    source, node = load(path, problems)
    found = read(node, schema.SETTINGS, source) if node is not None else None
    return _settings(found, path) if found is not None else Settings(source=path)


def _settings(found: Found, path: Path) -> Settings:
    return Settings(
        is_ascii=found.get("ascii", False),
        has_mouse=found.get("mouse", True),
        alerts=AlertSettings(**found.get("alerts", {})),
        keys={name: KeyChoice(entry.plain(), entry.place) for name, entry in found.under("keys").items()},
        source=path,
    )
