"""A widget that shows rows of styled text and repaints only the cells that changed."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.css.scalar import Scalar
from textual.geometry import Region
from textual.strip import Strip
from textual.theme import Theme

from specdeck.ui.drawing.spans import Row, Span, clean, fit_row, width_of
from specdeck.ui.roles import Looks, looks_of
from specdeck.ui.widgets.guarded import Guarded


class Rows(Guarded):
    """Shows rows; `show` with the same rows costs nothing.

    One region a row: textual writes a row from its left edge up to the end of a region, so two regions would cost twice.
    """

    DEFAULT_CSS = "Rows { height: 1; width: 1fr; }"
    IS_AS_TALL_AS_ITS_ROWS: ClassVar[bool] = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._rows: tuple[Row, ...] = ((),)
        """Never empty: a widget without height would not be told its width."""
        self._heading = ""
        self.painted_cells = 0
        """How many cells were asked to be painted again since the start; for tests of the repaint budget."""

    def on_mount(self) -> None:
        """Follow theme changes: the roles get other colours."""
        self.app.theme_changed_signal.subscribe(self, self._on_theme)

    def on_unmount(self) -> None:
        """The signal would keep the widget, and with it its screen, as long as the app runs."""
        self.app.theme_changed_signal.unsubscribe(self)

    def _on_theme(self, _: Theme) -> None:
        self.refresh()

    @property
    def rows_shown(self) -> tuple[Row, ...]:
        """What is on the screen now."""
        return self._rows

    @property
    def plain(self) -> str:
        """The shown text without styles."""
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self._rows)

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows instead; only what differs is painted."""
        old, new = self._rows, tuple(rows) or ((),)
        if old == new:
            return
        self._rows = new
        if len(old) != len(new):
            self.painted_cells += self.size.area
            self.refresh()
            self.fit_height()
            return
        width = self.size.width
        for y, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after and (span := changed(before, after, width)) is not None:
                start, size = span
                self.painted_cells += size
                self.refresh(Region(start, y, size, 1))

    def show_fault(self, sentence: str) -> None:
        """In place of all rows."""
        self.show([((f" {sentence}", "error"),)])

    def fit_height(self) -> None:
        """Be as tall as the rows and the border. Not `height: auto`: its cache misses rows that come while a layout runs."""
        height = Scalar.from_number(len(self._rows) + self.gutter.height)
        if self.IS_AS_TALL_AS_ITS_ROWS and self.styles.height != height:
            self.styles.height = height

    def say(self, heading: str) -> None:
        """Write the heading into the border, where it changed; never parsed as markup."""
        if heading != self._heading:
            self._heading = heading
            self.border_title = Text(clean(heading)) if heading else None

    def render_line(self, y: int) -> Strip:
        """One row in the colours of the theme."""
        width, base = self.size.width, self.visual_style.rich_style
        row = self._rows[y] if 0 <= y < len(self._rows) else ()
        return paint(row, width, base, looks_of(self.app.theme_variables))


def paint(row: Row, width: int, base: Style, looks: Looks) -> Strip:
    """A row as a strip of exactly `width` cells, in few segments: each costs some 40 bytes on its way to the terminal."""
    segments: list[Segment] = []
    text, look = "", base
    for part, role in fit_row(row, width):
        style = base + looks[role] if role else base
        if style == look or (part.isspace() and not look.reverse):
            text += part
            continue
        if text:
            segments.append(Segment(text, look))
        text, look = part, style
    return Strip([*segments, Segment(text, look)] if text else segments, width)


def changed(before: Row, after: Row, width: int) -> tuple[int, int] | None:
    """(start, size) from the first to the last cell that differs; None: none does."""
    old, new = list(fit_row(before, width)), list(fit_row(after, width))
    while old and new and old[-1] == new[-1]:  # both are as wide as the widget, so equal ends stand in one place
        del old[-1], new[-1]
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    pairs = zip(_cells(old[same:]), _cells(new[same:]), strict=False)
    differing = [x for x, (one, other) in enumerate(pairs, width_of(old[:same])) if one != other]
    return (differing[0], differing[-1] + 1 - differing[0]) if differing else None


def _cells(row: Iterable[Span]) -> list[Span]:
    """What stands in each cell: a letter with its marks, a wide one in both."""
    cells: list[Span] = []
    for text, role in row:
        if text.isascii():
            cells += [(char, role) for char in text]
            continue
        for char in text:
            if (size := cell_len(char)) or not cells:
                cells += [(char, role)] * size
            else:
                cells[-1] = (cells[-1][0] + char, cells[-1][1])
    return cells
