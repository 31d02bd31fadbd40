"""Problems in YAML files: collected while reading, shown all together, each with its place and the nearest spelling."""

from collections.abc import Iterable
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path

from specdeck.errors import ConfigError
from specdeck.quick_dataclass import dataclass

_LONGEST = 80


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file; lines and columns count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong."""

    place: Place
    key: str
    """With the keys above it: `hosts.lab.servers.kimi.port`."""
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.key}: {self.what}"


class ConfigProblems(ConfigError):
    """A ConfigError that still knows its problems one by one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(slots=True)
class Problems:
    """The problems found so far."""

    found: list[Problem] = field(default_factory=list)

    def add(self, place: Place, key: str, what: str) -> None:
        """One more problem."""
        self.found.append(Problem(place, shown(key), what))

    def raise_if_any(self) -> None:
        """Raise ConfigError with all of them."""
        if self.found:
            raise ConfigProblems(self.found)


def place_of_file(path: Path) -> Place:
    """The beginning of a file."""
    return Place(shown(str(path)))


def nearest(word: str, choices: Iterable[str]) -> str:
    """`, did you mean port?` where something is near; else nothing."""
    near = get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f", did you mean {near[0]}?" if near else ""


def shown(text: str) -> str:
    """Foreign text on one line of a terminal: what cannot be printed is made visible, what is long is cut."""
    safe = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return safe if len(safe) <= _LONGEST or "/" in safe else f"{safe[:_LONGEST]}…"
