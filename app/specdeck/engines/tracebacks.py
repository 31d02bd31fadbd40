"""Python tracebacks in a log: finds each exception line and says in what the traceback stood."""

import re

from specdeck.quick_dataclass import dataclass

HEAD = "Traceback (most recent call last):"
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: .*|:?$)")
_CHAIN = ("During handling of the above exception", "The above exception was the direct cause")


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception at the end of a traceback."""

    text: str
    """`ValueError: what`."""
    context: str
    """What stood before the word Traceback on its line: `Scheduler hit an exception: `; empty for a bare one."""
    before: str
    """The line above a bare one: `Exception in thread ...`."""
    rank: str | None
    line: int


class TracebackReader:
    """Fed with the text of each record, prefix already cut off; one traceback at a time."""

    def __init__(self) -> None:
        self._context = ""
        self._rank: str | None = None
        self._is_inside = False
        self._before = ""
        self._is_chained = False
        """Whether the next traceback goes on with this one."""

    def read(self, text: str, line: int, rank: str | None) -> Raised | None:
        """One line; the exception if this line is one."""
        if HEAD in text:
            self._open(text.partition(HEAD)[0].strip(), rank)
            return None
        if text.startswith(_CHAIN):
            self._is_chained = True
            return None
        if not self._is_inside:
            self._before = text or self._before
            return None
        if not text or text[0] in " \t|+":
            return None
        self._is_inside = False
        if not _EXCEPTION.fullmatch(text):
            return None
        return Raised(text, self._context, self._before, self._rank, line)

    def close(self) -> None:
        """A record of the log's own ends whatever was open."""
        self._is_inside = self._is_chained = False
        self._before = ""

    def _open(self, context: str, rank: str | None) -> None:
        if not self._is_chained:
            self._context = context
            self._rank = rank
        self._is_inside = True
        self._is_chained = False
