"""Theme files into frozen specs; what Textual makes of them is not decided here."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from specdeck.config import places, schema
from specdeck.config.problems import Place, Problems
from specdeck.config.reader import Found, read
from specdeck.config.yaml_source import load, yaml_files
from specdeck.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ThemeSpec:
    """A colour theme as its file says it."""

    name: str
    is_dark: bool
    colors: Mapping[str, str]
    """`primary`, `background`, `error`, ...: only those that the file has."""
    variables: Mapping[str, str]
    source: Path
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    """Where each colour and variable stands, by its name."""


def load_themes(fleet: Path | None = None) -> Mapping[str, ThemeSpec]:
    """All themes by name: beside the fleet file, in the XDG folder, shipped. Raises ConfigError with all problems."""
    problems = Problems()
    themes = read_themes(places.folders_of("themes", fleet, os.environ), problems)
    problems.raise_if_any()
    return themes


def read_themes(folders: Sequence[Path], problems: Problems) -> Mapping[str, ThemeSpec]:
    """The themes of these folders; an earlier folder hides the same name in a later one."""
    themes: dict[str, ThemeSpec] = {}
    for folder in folders:
        for path in yaml_files(folder, problems):
            source, node = load(path, problems)
            found = read(node, schema.THEME, source) if node is not None else None
            if found is not None and "name" in found:
                theme = _theme(found, path)
                if (other := themes.get(theme.name)) and other.source.parent == folder:
                    problems.add(
                        found["name"].place, "name", f"{theme.name} is the name of {other.source.name} already"
                    )
                themes.setdefault(theme.name, theme)
    return dict(sorted(themes.items()))


def read_theme(path: Path, problems: Problems) -> Mapping[str, ThemeSpec]:
    """The one of this file by its name; none where there is no such file."""
    if not path.exists():
        return {}
    source, node = load(path, problems)
    found = read(node, schema.THEME, source) if node is not None else None
    return {found["name"].value: _theme(found, path)} if found is not None and "name" in found else {}


def _theme(found: Found, path: Path) -> ThemeSpec:
    return ThemeSpec(
        name=found["name"].value,
        is_dark=found.get("dark", True),
        colors=found.get("colors", {}),
        variables=found.get("variables", {}),
        source=path,
        places={name: entry.place for table in ("colors", "variables") for name, entry in found.under(table).items()}
        | {"name": found["name"].place},
    )
