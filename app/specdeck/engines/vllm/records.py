"""vLLM's log prefix in all its shapes: `(EngineCore pid=1) ERROR 09-28 15:47:24 [core.py:718] message`, or parts of it."""

import re
from typing import NamedTuple

_PREFIX = re.compile(
    r"(?:\((?P<writer>[A-Za-z][\w.:-]{0,60})(?: rank=\d+)? pid=\d+\) ?)?"
    r"(?:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<stamp>\d\d-\d\d \d\d:\d\d:\d\d) \[[^\]]{0,120}:\d+\] ?)?"
)
_DAYS_BEFORE = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)
_YEAR_SECONDS = 366 * 86_400.0


class Record(NamedTuple):
    """One message of the log; leading spaces are kept, a traceback's frames need them."""

    message: str
    writer: str = ""
    level: str = ""
    stamp: str = ""
    """`09-28 15:47:24`; empty where there is none."""


def record_of(text: str) -> Record:
    """A line of the log with its prefix cut off."""
    match = _PREFIX.match(text)
    if match is None or not match.end():
        return Record(text)
    writer, level, stamp = match.groups("")
    return Record(text[match.end() :], writer, level, stamp)


def _seconds(stamp: str) -> float:
    """Since the year began: the stamp names no year."""
    month, day, hour, minute, second = (int(stamp[place : place + 2]) for place in (0, 3, 6, 9, 12))
    days = _DAYS_BEFORE[min(max(month, 1), 12) - 1] + day
    return days * 86_400.0 + hour * 3600.0 + minute * 60.0 + second


class YearlessClock:
    """Seconds since the first stamp of a log whose stamps name no year."""

    def __init__(self) -> None:
        self._word = ""
        self._first: float | None = None
        self._now: float | None = None

    @property
    def now(self) -> float | None:
        """The newest stamp; None before the first."""
        return self._now

    def hear(self, stamp: str) -> None:
        """A record's stamp; the same second is read once."""
        if not stamp or stamp == self._word:
            return
        self._word = stamp
        at = _seconds(stamp)
        self._first = at if self._first is None else self._first
        passed = at - self._first
        self._now = passed if passed > -_YEAR_SECONDS / 2 else passed + _YEAR_SECONDS
