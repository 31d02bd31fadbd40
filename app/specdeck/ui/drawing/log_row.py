"""One row of a log in the looks of its parts: stamp, level, matches, what a bar stands for. Pure."""

from specdeck.parsing.lines import NOT_IN_FILE, Line
from specdeck.ui.drawing.log_lines import LogLines
from specdeck.ui.drawing.log_look import looks_like, split_stamp
from specdeck.ui.drawing.log_search import LogSearch
from specdeck.ui.drawing.spans import Row, highlighted

STRONG = {"error": "error-strong", "warning": "warning-strong"}
"""A line that is pointed at looks like what it is: one that was searched for is no error."""


def log_row(lines: LogLines, row: int, *, finds: LogSearch, marked: Line | None, is_short: bool) -> Row:
    """As it is drawn; `is_short`: stamps without their date."""
    line, text, is_first = lines.rows[row], lines.text_of(row), lines.is_first_row(row)
    if line is marked:
        role = STRONG.get(looks_like(line.text), "strong")
        pointed: Row = (("▶ " if is_first else "  ", "key"), (text, role))
        return highlighted(pointed, finds.pattern, "found") if finds.pattern else pointed
    if line.offset == NOT_IN_FILE:
        return ((text, "accent"),)
    role = looks_like(line.text, is_bar=line.is_overwritten)
    spans = split_stamp(text, role, is_short=is_short)
    if finds.pattern:
        spans = highlighted(spans, finds.pattern, "found" if finds.is_at(line) else "key")
    folded = lines.folded.get(line.number, 0) if is_first and role == "accent" else 0
    return (*spans, (f"  (bar, {folded} update{'s' if folded > 1 else ''} folded)", "dim")) if folded else spans


def selected(row: Row, start: int, end: int) -> Row:
    """The row with a part of it turned round; `end` -1: up to its end."""
    text = "".join(part for part, _ in row)
    stop = len(text) if end < 0 else end
    return ((text[:start], ""), (text[start:stop], "found"), (text[stop:], ""))
