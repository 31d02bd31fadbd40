"""Rows of styled text as plain values: (text, role) pairs, cleaned of control characters, with a fixed cell width."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from rich.cells import cell_len, set_cell_size

from specdeck.late_pattern import late_pattern

Span = tuple[str, str]
"""Text and the name of its look (`roles.py`); an empty role is plain text."""
Row = tuple[Span, ...]
JOINERS = "\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
"""Characters that terminals measure differently or that turn text around: they would break borders."""


MOST_MARKS = 4
"""On one letter: what a host piles up there would cover the lines around, and a thousand of them take no cell."""


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """Foreign text that is safe to draw: tabs are spaces, other control characters a visible dot."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for char in text.expandtabs(4):
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= MOST_MARKS and char not in JOINERS:
            shown.append("·" if category in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else char)
    return "".join(shown)


def width_of(row: Iterable[Span]) -> int:
    """Terminal cells of a row."""
    return sum(cell_len(text) for text, _ in row)


def fit(text: str, width: int) -> str:
    """Exactly `width` cells: cut with an ellipsis or filled with spaces."""
    text = clean(text)
    if width <= 0:
        return ""
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    return text + " " * (width - cell_len(text))


def right(text: str, width: int) -> str:
    """Exactly `width` cells, right-aligned; what is too long is cut."""
    text = clean(text)
    missing = width - cell_len(text)
    return " " * missing + text if missing >= 0 else fit(text, width)


@lru_cache(maxsize=512)
def fit_row(row: Row, width: int) -> Row:
    """A row of exactly `width` cells. What is drawn is asked for three times: to compare it, to paint it, and as what it was."""
    spans: list[Span] = []
    left = width
    for text, role in row:
        shown = clean(text)
        size = cell_len(shown)
        if size > left:
            spans.append((fit(shown, left), role))
            left = 0
            break
        spans.append((shown, role))
        left -= size
    return (*spans, (" " * left, "")) if left > 0 else tuple(spans)


def ends(start: Row, end: Row, width: int) -> Row:
    """`start` at the left edge and `end` at the right one; `start` gives way where both do not fit."""
    room = width - width_of(end)
    return (*fit_row(start, room), *end) if room > 0 else fit_row(start, width)


def highlighted(row: Row, wanted: str, role: str) -> Row:
    """The row with each place that holds the (lower-case) text in another role, as far as it lies within one span."""
    spans: list[Span] = []
    for text, own in row:
        lower, begin = text.lower(), 0
        while (at := lower.find(wanted, begin)) >= 0 and len(lower) == len(text):
            spans += [(text[begin:at], own), (text[at : at + len(wanted)], role)]
            begin = at + len(wanted)
        spans.append((text[begin:], own))
    return tuple(span for span in spans if span[0])


def dimmed(row: Row) -> Row:
    """The same row as old news."""
    return tuple((text, "dim") for text, _ in row)


_UNIT_FOLLOWS = late_pattern(r"\d (?:s|ms|h|[KMGT]i?B|tok/s)(?!\w)")
"""A number and its unit stay together."""


def wrapped(text: str, width: int, *, most: int = 3) -> list[str]:
    """The text cut into at most `most` lines of at most `width` cells, at spaces where there are some."""
    lines: list[str] = []
    rest = clean(text).strip()
    while rest and len(lines) < most:
        piece = rest if cell_len(rest) <= width else _piece(rest, width)
        lines.append(piece.rstrip())
        rest = rest[len(piece) :].lstrip()
    if rest and lines:
        lines[-1] = fit(lines[-1] + " " + rest, width).rstrip()
    return lines


def _piece(text: str, width: int) -> str:
    piece = cut(text, width)
    at_space = piece.rfind(" ")
    while at_space > 0 and _UNIT_FOLLOWS.match(text, at_space - 1):
        at_space = piece.rfind(" ", 0, at_space)
    return piece[:at_space] if at_space > width // 2 else piece


def cut(text: str, width: int) -> str:
    """The longest start of the text that takes at most `width` cells, at least one character."""
    if text.isascii():
        return text[: max(width, 1)]
    cells = 0
    for index, char in enumerate(text):
        cells += cell_len(char)
        if cells > width:
            return text[: max(index, 1)]
    return text
