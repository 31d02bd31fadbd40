"""A log of which only the visible rows are drawn: wrapped or sideways, one line pointed at, parts selected by mouse."""

from textual.geometry import Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.theme import Theme

from specdeck.parsing.lines import Line
from specdeck.ui.drawing.log_lines import LogLines
from specdeck.ui.drawing.log_row import log_row, selected
from specdeck.ui.drawing.log_search import LogSearch
from specdeck.ui.drawing.spans import Row
from specdeck.ui.roles import looks_of
from specdeck.ui.widgets.guarded import Guarded
from specdeck.ui.widgets.rows import paint

NARROW = 98
MARK = 2
"""Cells before a line that a jump led to."""


class DrawnLog(Guarded, ScrollView):
    """Its rows; which there are and where to look is for others to say."""

    is_wrapped = var(False, init=False)
    nothing = var("")
    """What stands there while there is no row."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.log_lines = LogLines()
        self.finds = LogSearch(self.log_lines)
        self._marked: Line | None = None
        self._width = 0

    def on_mount(self) -> None:
        """Follow theme changes."""
        self.app.theme_changed_signal.subscribe(self, self._on_theme)

    def on_unmount(self) -> None:
        """The signal would keep the widget, and with it its screen, as long as the app runs."""
        self.app.theme_changed_signal.unsubscribe(self)

    def _on_theme(self, _: Theme) -> None:
        self.refresh()

    @property
    def plain(self) -> str:
        """All kept rows as text."""
        return "\n".join(self.log_lines.text_of(row) for row in range(len(self.log_lines.rows)))

    @property
    def chosen_lines(self) -> list[Line]:
        """The line that was jumped to, if it is in sight; else all lines in sight."""
        top = self.scroll_offset.y
        rows = range(top, min(top + self._room, len(self.log_lines.rows)))
        seen = list({id(line): line for line in (self.log_lines.rows[row] for row in rows)}.values())
        return [line for line in seen if line is self._marked] or seen

    @property
    def _room(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    # Its size, and where it is scrolled to

    @property
    def _virtual_width(self) -> int:
        return self._wrap_width if self.is_wrapped else max(self.log_lines.widest, 1) + MARK

    @property
    def _wrap_width(self) -> int:
        """With room for the scroll bar, which may come only with the rows that wrapping makes, and for the mark of a jump."""
        return max(self.size.width - self.styles.scrollbar_size_vertical - MARK, 1)

    def _grow(self) -> None:
        """Another size. Not by assignment, which lays out the whole screen anew: a busy log grows four times a second."""
        size = Size(self._virtual_width, len(self.log_lines.rows))
        if size != self.virtual_size:
            self.set_reactive(DrawnLog.virtual_size, size)
            self._scroll_update(size)

    def _jump_to(self, y: float) -> None:
        self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def _jump_sideways(self, x: float) -> None:
        if x != self.scroll_offset.x:
            self.scroll_to(x=x, animate=False, force=True, immediate=True)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """One visible row; a line that goes on beyond the right edge ends in an ellipsis, beside the scroll bar."""
        width, base = self.scrollable_content_region.width, self.visual_style.rich_style
        left, row = self.scroll_offset.x, y + self.scroll_offset.y
        looks = looks_of(self.app.theme_variables)
        if not 0 <= row < len(self.log_lines.rows):
            is_empty = not self.log_lines.rows and not y
            return paint(((f" {self.nothing}", "dim"),), width, base, looks) if is_empty else Strip.blank(width, base)
        spans = self._drawn(row)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row)) is not None:
            spans = selected(spans, *span)
        strip = paint(spans, left + width, base, looks)
        if left:
            strip = strip.crop(left, left + width)
        return strip.apply_offsets(left, row)

    def _drawn(self, row: int) -> Row:
        is_short = self._width < NARROW and not self.is_wrapped
        return log_row(self.log_lines, row, finds=self.finds, marked=self._marked, is_short=is_short)

    # Selecting with the mouse

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as it is drawn."""
        rows = range(len(self.log_lines.rows))
        first = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else len(rows) - 1
        drawn = ["".join(text for text, _ in self._drawn(row)) if first <= row <= last else "" for row in rows]
        return selection.extract("\n".join(drawn)).strip("\n"), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Another part is selected."""
        self.refresh()
