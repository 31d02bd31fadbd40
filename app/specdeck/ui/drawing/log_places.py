"""Where in the rows of a log something is: a line by its number, a moment. Pure."""

from datetime import datetime

from specdeck.ui.drawing.log_lines import LogLines
from specdeck.ui.drawing.log_times import moment_of

BAR_LINES = 50
"""A line that a bar has drawn over is shown by the one that took its place, if that is so near."""


def row_of_number(lines: LogLines, number: int) -> int | None:
    """Where the line of that number begins; None: it is not kept."""
    oldest = lines.oldest
    row = lines.first_row(lambda line: line.number >= number)
    if row is None or oldest is None or not oldest.number <= number >= lines.rows[row].number - BAR_LINES:
        return None
    return row


def row_of_moment(lines: LogLines, moment: datetime) -> int | None:
    """The first line of that moment or later; None: all are older, or tell no time."""
    return lines.first_row(lambda line: (moment_of(line.text) or datetime.min) >= moment)


def newest_moment(lines: LogLines) -> datetime | None:
    """The newest moment that a kept line tells."""
    return next((at for line in reversed(lines.lines) if (at := moment_of(line.text)) is not None), None)


def oldest_moment(lines: LogLines) -> datetime | None:
    """The oldest one."""
    return next((at for line in lines.lines if (at := moment_of(line.text)) is not None), None)
