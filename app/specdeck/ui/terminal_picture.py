"""Knows what the terminal shows, so that of an update only the cells that differ are written: over SSH and tmux each byte counts.

Textual itself writes a partial update from the begin of its widget, once a region, and again where nothing differs.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip


class TerminalPicture:
    """Of one terminal."""

    def __init__(self) -> None:
        self._lines: dict[int, Strip] = {}

    def narrowed(self, update: CompositorUpdate) -> CompositorUpdate:
        """The same update, to be written in fewer bytes; how it would change the picture is noted when it is written."""
        if isinstance(update, ChopsUpdate):
            return _Narrowed(update, self)
        if isinstance(update, LayoutUpdate):
            return _Whole(update, self)
        self._lines.clear()
        return update

    def take_whole(self, update: LayoutUpdate) -> None:
        """All lines are written."""
        self._lines = {
            y: Strip.join(strips).simplify() for y, strips in enumerate(map(list, update.strips), update.region.y)
        }

    def take(self, y: int, start: int, part: Strip) -> bool:
        """These cells are to be written; False: they are there already."""
        line = self._lines.get(y)
        stop = start + part.cell_length
        if line is None or line.cell_length < stop:
            return True
        if line.crop(start, stop) == part:
            return False
        self._lines[y] = Strip.join([line.crop(0, start), part, line.crop(stop)]).simplify()
        return True


class _Whole(LayoutUpdate):
    """Written as it is, and kept."""

    def __init__(self, update: LayoutUpdate, picture: TerminalPicture) -> None:
        strips = [list(line) for line in update.strips]
        super().__init__([*strips], update.region)
        self._picture = picture

    def render_segments(self, console: Console) -> str:
        self._picture.take_whole(self)
        return super().render_segments(console)


class _Narrowed(ChopsUpdate):
    """Only the cells of its spans, and of these only what the terminal does not show yet."""

    def __init__(self, update: ChopsUpdate, picture: TerminalPicture) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)
        self._picture = picture

    def render_segments(self, console: Console) -> str:
        parts = (part for part in self._parts() if self._picture.take(*part))
        return "".join(f"{Control.move_to(x, y).segment.text}{strip.render(console)}" for y, x, strip in parts)

    def _parts(self) -> Iterator[tuple[int, int, Strip]]:
        """(line, first cell, cells)."""
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                start, stop = max(x, first), min(end, last)
                if strip is not None and start < stop:
                    part = strip if (start, stop) == (x, end) else strip.crop(start - x, stop - x)
                    yield y, start, part.simplify()
