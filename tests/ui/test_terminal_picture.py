"""What is written to the terminal: only cells that it does not show yet."""

import io
from itertools import pairwise

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from specdeck.ui.terminal_picture import TerminalPicture

CONSOLE = Console(file=io.StringIO(), color_system=None, legacy_windows=False)
PLAIN = Style()


def strip(text: str) -> Strip:
    return Strip([Segment(text, PLAIN)], len(text))


def whole(picture: TerminalPicture, *lines: str) -> str:
    """Write all lines."""
    update = LayoutUpdate([[strip(line)] for line in lines], Region(0, 0, len(lines[0]), len(lines)))
    return picture.narrowed(update).render_segments(CONSOLE)


def part(picture: TerminalPicture, line: str, start: int, stop: int, *, cuts: tuple[int, ...] = ()) -> str:
    """Write the cells from start to stop of the first line, which widgets cut into pieces."""
    edges = [0, *cuts, len(line)]
    chops = {x: strip(line[x:end]) for x, end in pairwise(edges)}
    update = ChopsUpdate([chops], [(0, start, stop)], [edges[1:]])
    return picture.narrowed(update).render_segments(CONSOLE)


def test_a_part_of_a_line_is_written_from_its_first_cell_on() -> None:
    picture = TerminalPicture()
    whole(picture, "0123456789")
    assert part(picture, "0123xy6789", 4, 6) == "\x1b[1;5Hxy"


def test_what_is_there_already_is_not_written_again() -> None:
    picture = TerminalPicture()
    whole(picture, "0123456789")
    assert part(picture, "0123456789", 0, 10) == ""
    assert part(picture, "abcdefghij", 0, 10) == "\x1b[1;1Habcdefghij"
    assert part(picture, "abcdefghij", 0, 10) == ""


def test_after_a_part_the_whole_line_is_written_once() -> None:
    picture = TerminalPicture()
    whole(picture, "0123456789")
    part(picture, "0123xy6789", 4, 6)
    assert part(picture, "0123456789", 0, 10) == "\x1b[1;1H0123456789"


def test_other_pieces_of_a_line_forget_what_lay_below_them() -> None:
    picture = TerminalPicture()
    whole(picture, "0123456789")
    assert part(picture, "01234abcde", 5, 10, cuts=(5,)) == "\x1b[1;6Habcde"
    assert part(picture, "0123456789", 0, 10) == "\x1b[1;1H0123456789"
    assert part(picture, "01234abcde", 5, 10, cuts=(5,)) == "\x1b[1;6Habcde"
