"""What verbs print: JSON with a schema number, and aligned tables. Data goes to stdout, words to stderr."""

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence

import click

SCHEMA = 1
GAP = "  "
LEAST_ROOM = 12


def print_json(content: Mapping[str, object], *, is_line: bool = False) -> None:
    """One JSON object with its `schema` number first; on one line for streams."""
    whole = {"schema": SCHEMA, **content}
    is_ascii = sys.stdout.encoding == "ascii"
    click.echo(json.dumps(whole, ensure_ascii=is_ascii, allow_nan=False, indent=None if is_line else 2))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns, two spaces apart; the last one is as long as it is, on a terminal it goes on under its own beginning."""
    lines = [list(header), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    begin = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    for line in lines:
        cells = [cell + " " * (width - width_of(cell)) for cell, width in zip(line, widths, strict=True)]
        first, *more = _folded(line[-1], begin)
        click.echo(GAP.join([*cells[:-1], first]).rstrip())
        for rest in more:
            click.echo(" " * begin + rest)


def _folded(text: str, begin: int) -> list[str]:
    """At the blanks, where a terminal is too narrow; as it is for a file, a pipe, or where no word would fit."""
    room = shutil.get_terminal_size().columns - begin
    if not sys.stdout.isatty() or width_of(text) <= room or room < LEAST_ROOM:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [text]


def say(text: str) -> None:
    """Words for the user, on stderr."""
    click.echo(text, err=True)


def plain(text: str) -> str:
    """Foreign text for a terminal: control and escape characters are made visible."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def width_of(text: str) -> int:
    """How many columns a text takes: wide characters two, marks that combine none."""
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
