"""Text as plain ASCII of the same width: our own shapes, bars and borders by a table, the rest by its nearest letter."""

import unicodedata
from functools import lru_cache

SIGNS = str.maketrans(
    {
        # states: each another sign
        "●": "*", "◐": "~", "◑": "%", "▲": "!", "✖": "X", "○": "o", "◌": "?", "■": "#",
        # sparklines, bars, plots
        "▁": "_", "▂": ".", "▃": "-", "▄": ":", "▅": "=", "▆": "+", "▇": "*", "█": "#",
        "▏": "-", "▎": "-", "▍": "-", "▌": "=", "▋": "=", "▊": "=", "▉": "=", "░": ".", "▒": ":", "▓": "%",
        "▔": "-", "▕": "|", "▀": "'", "▐": "|", "▖": ".", "▗": ".", "▘": "'", "▝": "'", "▙": "#", "▟": "#", "▛": "#", "▜": "#",
        # marks and arrows
        "▸": ">", "▶": ">", "►": ">", "◀": "<", "▼": "v", "✓": "v", "✗": "x", "×": "x", "·": ".", "∙": "-", "•": "*", "…": "~",
        "→": ">", "←": "<", "↑": "^", "↓": "v", "≠": "!", "≤": "<", "≥": ">", "≈": "~", "°": "C", "µ": "u", "⏎": "E", "⌕": "/",
        "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ",
    }
)  # fmt: skip
"""Cells of one column each."""
_TOP, _BOTTOM = 0b0001_1011, 0b1110_0100
"""Of the dots of a braille cell those of its upper and of its lower two rows (ISO 11548-1: bits 0 to 7 are dots 1 to 8)."""


@lru_cache(maxsize=8192)
def ascii_only(text: str) -> str:
    """No character above 127, as many terminal cells as before."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _plain(char) for char in text.translate(SIGNS))


def _plain(char: str) -> str:
    code = ord(char)
    if 0x2500 <= code <= 0x257F:
        return _line(char)
    if 0x2800 <= code <= 0x28FF:
        return _dots(code - 0x2800)
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return ""
    width = 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    base = unicodedata.normalize("NFKD", char)[:1]
    return base if width == 1 and base.isascii() and base.isprintable() else "?" * width


def _line(char: str) -> str:
    """Box drawing: horizontal, vertical, or a corner."""
    name = unicodedata.name(char)
    if "DIAGONAL" in name:
        return "/"
    if "HORIZONTAL" in name and not {"VERTICAL", "UP", "DOWN"} & set(name.split()):
        return "-"
    if "VERTICAL" in name and "HORIZONTAL" not in name and not {"LEFT", "RIGHT"} & set(name.split()):
        return "|"
    return "+"


def _dots(mask: int) -> str:
    if not mask:
        return " "
    return ":" if mask & _TOP and mask & _BOTTOM else "'" if mask & _TOP else "."
