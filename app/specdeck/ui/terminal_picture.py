"""Knows what the terminal shows, so that of an update only the cells that differ are written: over SSH and tmux each byte counts.

Textual itself writes a partial update from the begin of its widget, once a region, and again where nothing differs.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip


class TerminalPicture:
    """Of one terminal: each line as the pieces that were written last, by their first cell."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[int, Strip]] = {}

    def narrowed(self, update: CompositorUpdate) -> CompositorUpdate:
        """The same update, to be written in fewer bytes; how it would change the picture is noted when it is written."""
        if isinstance(update, ChopsUpdate):
            return _Narrowed(update, self)
        if isinstance(update, LayoutUpdate):
            return _Whole(update, self)
        self._lines.clear()
        return update

    def forget(self) -> None:
        """Somebody else wrote to the terminal."""
        self._lines.clear()

    def take_whole(self, update: LayoutUpdate) -> None:
        """All lines are written."""
        self._lines.clear()
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                self._lines.setdefault(y, {})[x] = strip
                x += strip.cell_length

    def shows(self, y: int, x: int, strip: Strip) -> bool:
        """This very piece is there already."""
        return self._lines.get(y, {}).get(x) == strip

    def take(self, y: int, start: int, stop: int, strip: Strip | None) -> None:
        """These cells are written; None: a part of a piece, of which no whole is known now."""
        line = self._lines.setdefault(y, {})
        for x in [x for x, old in line.items() if x < stop and start < x + old.cell_length]:
            del line[x]
        if strip is not None:
            line[start] = strip


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
        return "".join(
            f"{Control.move_to(x, y).segment.text}{strip.render(console)}" for y, x, strip in self._to_write()
        )

    def _to_write(self) -> Iterator[tuple[int, int, Strip]]:
        """(line, first cell, cells)."""
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                start, stop = max(x, first), min(end, last)
                if strip is None or start >= stop or self._picture.shows(y, x, strip):
                    continue
                is_whole = (start, stop) == (x, end)
                self._picture.take(y, start, stop, strip if is_whole else None)
                yield y, start, strip if is_whole else strip.crop(start - x, stop - x)
