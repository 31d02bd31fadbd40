"""What verbs print: JSON with a schema number, and aligned tables. Data goes to stdout, words to stderr."""

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence

import click

SCHEMA = 1


def print_json(content: Mapping[str, object], *, is_line: bool = False) -> None:
    """One JSON object with its `schema` number first; on one line for streams."""
    whole = {"schema": SCHEMA, **content}
    is_ascii = sys.stdout.encoding == "ascii"
    click.echo(json.dumps(whole, ensure_ascii=is_ascii, allow_nan=False, indent=None if is_line else 2))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns, two spaces apart; the last one is as long as it is."""
    lines = [list(header), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell + " " * (width - width_of(cell)) for cell, width in zip(line, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


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
