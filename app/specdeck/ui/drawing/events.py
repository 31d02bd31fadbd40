"""Happenings, newest first."""

from specdeck.state.snapshot import Happening
from specdeck.ui.drawing.spans import Row, fit, fit_row, width_of, wrapped
from specdeck.ui.drawing.words import moment
from specdeck.ui.view import View

ROLES = {"info": "", "warning": "warning", "error": "error"}


MOST_LINES = 4
"""Rows of one happening."""


def event_rows(view: View, width: int, height: int, *, is_whole: bool = False) -> list[Row]:
    """As many as fit, in a row each; in whole where all have room for that, or it is wanted."""
    newest = view.fleet.happenings[-height:] if height > 0 else ()
    if not newest:
        return [fit_row(((" nothing happened yet", "dim"),), width)]
    whole = [row for each in reversed(newest) for row in _rows(each, view.now, width, MOST_LINES)]
    if is_whole or len(whole) <= height:
        return whole[:height]
    return [row for each in reversed(newest) for row in _rows(each, view.now, width, 1)]


def _rows(happening: Happening, now: float, width: int, most: int) -> list[Row]:
    start: Row = (
        (f" {moment(happening.at, now)} ", "dim"),
        (fit(happening.source, 10 if width >= 60 else 8) + " ", "accent"),
    )
    indent = width_of(start)
    role = ROLES[happening.severity]
    first, *more = wrapped(happening.text, max(width - indent, 1), most=most) or [""]
    return [
        fit_row((*start, (first, role)), width),
        *(fit_row(((" " * indent, ""), (line, role)), width) for line in more),
    ]
