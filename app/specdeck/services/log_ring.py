"""The kept log lines of one server: bounded, and a bar that moves takes the place of its last drawing."""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile

from specdeck.parsing.lines import Line

KEPT_LINES = 5_000


class LogRing:
    """Newest lines of one run; numbers begin again with a new run."""

    def __init__(self, size: int = KEPT_LINES) -> None:
        self._lines: deque[Line] = deque(maxlen=size)

    def add(self, lines: Iterable[Line]) -> None:
        """Keep more lines; a line that ended in a carriage return is replaced by what follows it."""
        for line in lines:
            if self._lines and self._lines[-1].is_overwritten:
                self._lines.pop()
            self._lines.append(line)

    def clear(self) -> None:
        """A new run begins."""
        self._lines.clear()

    def after(self, number: int) -> Sequence[Line]:
        """The lines with a higher number, oldest first."""
        newer = tuple(takewhile(lambda line: line.number > number, reversed(self._lines)))
        return newer[::-1]
