"""Happenings, newest first."""

from specdeck.state.snapshot import Happening
from specdeck.ui.drawing.spans import Row, fit, fit_row
from specdeck.ui.drawing.words import moment
from specdeck.ui.view import View

ROLES = {"info": "", "warning": "warning", "error": "error"}


def event_rows(view: View, width: int, height: int) -> list[Row]:
    """As many as fit."""
    newest = view.fleet.happenings[-height:] if height > 0 else ()
    if not newest:
        return [fit_row(((" nothing happened yet", "dim"),), width)]
    return [_row(happening, view.now, width) for happening in reversed(newest)]


def _row(happening: Happening, now: float, width: int) -> Row:
    source = 10 if width >= 60 else 8
    return fit_row(
        (
            (f" {moment(happening.at, now)} ", "dim"),
            (fit(happening.source, source) + " ", "accent"),
            (happening.text, ROLES[happening.severity]),
        ),
        width,
    )
