"""Where in a log something went wrong: each traceback, each run of error lines is one place. Pure."""

from collections.abc import Sequence

from specdeck.late_pattern import late_pattern
from specdeck.parsing.lines import Line
from specdeck.ui.drawing.log_look import looks_like

MAY_BE = late_pattern(r"ERROR|CRITICAL|FATAL|Traceback|Error|Exception|out of memory|Killed|\[[EF]\d{4} ")
"""Cheap, and right where it says no."""


def is_error(line: Line) -> bool:
    """Whether the line is drawn as an error."""
    return MAY_BE.search(line.text) is not None and looks_like(line.text) == "error"


def error_rows(rows: Sequence[Line]) -> list[int]:
    """The first row of each place, oldest first: frames (indented lines) and errors right after an error belong to it."""
    places: list[int] = []
    is_inside = False
    for row, line in enumerate(rows):
        if is_error(line):
            if not is_inside:
                places.append(row)
            is_inside = True
        elif not line.text[:1].isspace():
            is_inside = False
    return places
