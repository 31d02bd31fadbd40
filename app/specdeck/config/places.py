"""Where files are: shipped profiles and themes, the XDG folders, and the fleet file that is used when none is named."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Kind = Literal["profiles", "themes"]

_PACKAGE = Path(__file__).parents[1]


def shipped(kind: Kind) -> Path:
    """The folder that comes with specdeck: inside the package in a wheel, at the top of the checkout in an editable install."""
    in_wheel = _PACKAGE / "shipped" / kind
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parents[1] / kind


def config_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_CONFIG_HOME/specdeck`, on macOS too: people who live in terminals look there. A relative path there does not count."""
    return _xdg(environment, "XDG_CONFIG_HOME", ".config")


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_STATE_HOME/specdeck` on this machine."""
    return _xdg(environment, "XDG_STATE_HOME", ".local/state")


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_CACHE_HOME/specdeck` on this machine."""
    return _xdg(environment, "XDG_CACHE_HOME", ".cache")


def _xdg(environment: Mapping[str, str], variable: str, default: str) -> Path:
    named = environment.get(variable, "")
    base = Path(named) if named.startswith("/") else Path.home() / default
    return base / "specdeck"


def folders_of(kind: Kind, fleet: Path | None, environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The folders in which profiles or themes are looked up; what an earlier one has hides the same name in a later one."""
    beside = (fleet.parent / kind,) if fleet else ()
    return tuple(dict.fromkeys((*beside, config_folder(environment) / kind, shipped(kind))))


def named_fleet(path: Path | None, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The fleet file that the user named, by option or by `$SPECDECK_FLEET`."""
    variable = environment.get("SPECDECK_FLEET", "")
    chosen = path or (Path(variable) if variable else None)
    return chosen.expanduser() if chosen else None


def usual_fleets(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Where a fleet file is looked for when none is named."""
    return Path("fleet.yaml"), config_folder(environment) / "fleet.yaml"
