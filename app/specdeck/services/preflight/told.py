"""The tagged lines of the preflight script: `TAG REST`, a tag may come more than once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass

_BEGIN = "specdeck-preflight"
"""What login shells print before it is no answer."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the host said, by tag."""

    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, answer: bytes) -> "Told":
        """Never raises on content."""
        lines: defaultdict[str, list[str]] = defaultdict(list)
        for line in _after_the_mark(answer.decode("utf-8", "replace").split("\n")):
            tag, _, rest = line.partition(" ")
            if tag:
                lines[tag].append(plain(rest))
        return cls(lines)

    def first(self, tag: str) -> str:
        """The rest of the first line with this tag; empty where there is none."""
        return next(iter(self.all(tag)), "")

    def all(self, tag: str) -> Sequence[str]:
        """The rests of all lines with this tag."""
        return self.lines.get(tag, ())

    def __contains__(self, tag: str) -> bool:
        return tag in self.lines


def _after_the_mark(lines: list[str]) -> list[str]:
    return lines[lines.index(_BEGIN) + 1 :] if _BEGIN in lines else []
