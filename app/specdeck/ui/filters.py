"""The last thing that happens to each line before it is written: plain ASCII where that is wanted, no colours for NO_COLOR."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome

from specdeck.parsing.ascii_only import ascii_only
from specdeck.ui.palette import contrast

HIGHLIGHT = 1.9
"""A ground that stands out this much is a cursor or a match: without colours it is reversed."""
FAINT = 4.0
"""Text with less contrast than this is meant to stand back."""


def with_ours(filters: Sequence[LineFilter], *, is_ascii: bool, has_colours: bool) -> list[LineFilter]:
    """Textual's filters with ours; its own for NO_COLOR writes greys, which are colours too."""
    kept = [each for each in filters if not isinstance(each, Monochrome)]
    return [*kept, *([] if has_colours else [NoColours()]), *([AsciiOnly()] if is_ascii else [])]


class AsciiOnly(LineFilter):
    """Borders, shapes, sparklines, and what hosts say."""

    def apply(self, segments: Iterable[Segment], background: Color) -> list[Segment]:
        """The same cells in ASCII."""
        return [Segment(ascii_only(text), style, control) for text, style, control in segments]


class NoColours(LineFilter):
    """Bold, dim and reverse stay: they carry what the colours did."""

    def apply(self, segments: Iterable[Segment], background: Color) -> list[Segment]:
        """The same text in the terminal's own two colours."""
        return [
            Segment(text, _uncoloured(style, background.rgb) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=2048)
def _uncoloured(style: Style, behind: tuple[int, int, int]) -> Style:
    ground = _rgb(style.bgcolor, behind)
    text = _rgb(style.color, ground)
    is_faint = style.color is not None and contrast(text, ground) < FAINT
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        dim=True if is_faint or style.dim else None,
        reverse=True if style.reverse or contrast(ground, behind) > HIGHLIGHT else None,
        link=None,
        meta=style.meta or None,
    )


def _rgb(colour: object, default: tuple[int, int, int]) -> tuple[int, int, int]:
    triplet = getattr(colour, "triplet", None)
    return tuple(triplet) if triplet is not None else default
