"""All files at once: what `check`, `profiles` and `themes` look at, whether or not there is a fleet file."""

from dataclasses import field
from pathlib import Path

from specdeck.config import places
from specdeck.config.fleet import find_fleet, notes_of, read_fleet
from specdeck.config.objects import Fleet
from specdeck.config.problems import Problem, Problems
from specdeck.config.settings import Settings, read_settings
from specdeck.config.theme import ThemeSpec, read_themes
from specdeck.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Everything:
    """What was found, what is wrong with it, and what may surprise."""

    fleet: Fleet
    themes: tuple[ThemeSpec, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)


def read_everything(path: Path | None) -> Everything:
    """Read the fleet file (if there is one), all profiles, all themes and the settings; never raises ConfigError."""
    problems = Problems()
    chosen = find_fleet(path)
    fleet = read_fleet(chosen, problems)
    themes = read_themes(places.folders_of("themes", chosen), problems)
    settings = read_settings(problems)
    found = tuple(sorted(set(problems.found)))
    return Everything(fleet, tuple(themes.values()), found, notes_of(fleet), settings)
