"""The moments that log lines tell, and what a user means by `14:32` or `-10m`. By the log's own clock: that of its host."""

from datetime import datetime, timedelta

from specdeck.late_pattern import late_pattern

STAMP = late_pattern(
    r"(?:(?P<year>\d{4})-)?(?<!\d)(?P<month>\d\d)-(?P<day>\d\d)[ T](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?!\d)"
)
LOOKED_AT = 80
WANTED = late_pattern(
    r"(?:(?:(?P<year>\d{4})-)?(?P<month>\d{1,2})-(?P<day>\d{1,2})[ T])?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
)
AGO = late_pattern(r"-(?=\d)(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m?)?(?:(?P<seconds>\d+)s)?")
YEARLESS = 2024
"""A leap year for stamps without one."""


def moment_of(text: str) -> datetime | None:
    """When a line was written, by its stamp (`2026-11-29 14:02:04`, `11-29 14:02:04`); None: it has none."""
    found = STAMP.search(text[:LOOKED_AT])
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else YEARLESS for part in found.groups())
    return _moment(year, month, day, hour, minute, second)


def wanted_moment(words: str, newest: datetime) -> datetime | None:
    """What the user asks for, beside the log's newest moment: `14:32`, `14:32:05`, `11-29 14:32`, `-10m`, `-1h30m`, `-45s`."""
    words = words.strip()
    ago = AGO.fullmatch(words)
    if ago is not None:
        hours, minutes, seconds = (int(part or 0) for part in ago.groups())
        return newest - timedelta(hours=hours, minutes=minutes, seconds=seconds)
    found = WANTED.fullmatch(words)
    if found is None:
        return None
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if found["month"] is not None:
        year = int(found["year"]) if found["year"] and newest.year != YEARLESS else newest.year
        return _moment(year, int(found["month"]), int(found["day"]), hour, minute, second)
    moment = _moment(newest.year, newest.month, newest.day, hour, minute, second)
    is_to_come = moment is not None and moment.replace(second=0) > newest
    return moment - timedelta(days=1) if moment is not None and is_to_come else moment


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
