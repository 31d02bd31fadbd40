"""vLLM's log prefix in all its shapes: `(EngineCore pid=1) ERROR 09-28 15:47:24 [core.py:718] message`, or parts of it."""

import re
from dataclasses import dataclass

_PREFIX = re.compile(
    r"(?:\((?P<writer>[A-Za-z][\w.:-]{0,60})(?: rank=\d+)? pid=\d+\) ?)?"
    r"(?:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<month>\d\d)-(?P<day>\d\d)"
    r" (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
    r" \[[^\]]{0,120}:\d+\] ?)?"
)
_DAYS_BEFORE = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)
_YEAR_SECONDS = 366 * 86_400.0


@dataclass(frozen=True, slots=True)
class Record:
    """One message of the log; leading spaces are kept, a traceback's frames need them."""

    message: str
    writer: str = ""
    level: str = ""
    at: float | None = None
    """Seconds since the year began: the prefix names no year."""


def record_of(text: str) -> Record:
    """A line of the log with its prefix cut off."""
    match = _PREFIX.match(text)
    if match is None or not match.end():
        return Record(text)
    at = _seconds(match) if match["level"] else None
    return Record(text[match.end() :], match["writer"] or "", match["level"] or "", at)


def _seconds(match: re.Match[str]) -> float:
    month = min(max(int(match["month"]), 1), 12)
    days = _DAYS_BEFORE[month - 1] + int(match["day"])
    return days * 86_400.0 + int(match["hour"]) * 3600.0 + int(match["minute"]) * 60.0 + int(match["second"])


class YearlessClock:
    """Seconds since the first stamp of a log whose stamps name no year."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._now: float | None = None

    @property
    def now(self) -> float | None:
        """The newest stamp; None before the first."""
        return self._now

    def hear(self, at: float | None) -> None:
        """A record's stamp."""
        if at is None:
            return
        self._first = at if self._first is None else self._first
        passed = at - self._first
        self._now = passed if passed > -_YEAR_SECONDS / 2 else passed + _YEAR_SECONDS
