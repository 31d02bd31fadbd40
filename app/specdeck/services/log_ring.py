"""The kept log lines of one server: bounded, and a bar that moves takes the place of its last drawing."""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile

from specdeck.parsing.bars import lone_writer
from specdeck.parsing.lines import NOT_IN_FILE, Line

KEPT_LINES = 5_000


class LogRing:
    """Newest lines of one run; numbers begin again with a new run."""

    def __init__(self, size: int = KEPT_LINES) -> None:
        self._lines: deque[Line] = deque()
        self._size = size
        self._gone = 0
        """The number of the newest line that found no room any more."""
        self._writer = ""
        """Of the line that comes next, where it stood on a line of its own."""

    def add(self, lines: Iterable[Line]) -> None:
        """Keep more lines; a line that ended in a carriage return is replaced by what follows it.

        A writer that stands alone on its line (`(Worker_TP0 pid=7) `) belongs to the next one.
        """
        for line in lines:
            if lone_writer(line.text) is not None:
                self._writer = line.text.strip()
                continue
            if self._writer:
                line, self._writer = line._replace(text=f"{self._writer} {line.text}"), ""
            if self._lines and self._lines[-1].is_overwritten:
                self._lines.pop()
            self._lines.append(line)
        while len(self._lines) > self._size:
            self._gone = self._lines.popleft().number

    def clear(self) -> None:
        """A new run begins."""
        self._lines.clear()
        self._gone = 0
        self._writer = ""

    def after(self, number: int) -> Sequence[Line]:
        """The lines with a higher number, oldest first; a line of specdeck's own stands for those that were let go unread."""
        newer = tuple(takewhile(lambda line: line.number > number, reversed(self._lines)))[::-1]
        if not 0 < number < self._gone:
            return newer
        words = f"[specdeck: {self._gone - number} lines came too fast to be kept here]"
        return (Line(words, self._gone, NOT_IN_FILE), *newer)
