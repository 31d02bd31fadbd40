"""A bounded tail of log lines: follows, scrolls, wraps, searches; draws only the visible lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.theme import Theme

from specdeck.parsing.lines import Line
from specdeck.ui.commands import bindings_for
from specdeck.ui.drawing.log_look import is_poll, looks_like, split_stamp
from specdeck.ui.drawing.spans import Row, clean, cut
from specdeck.ui.roles import looks_of
from specdeck.ui.widgets.guarded import Guarded
from specdeck.ui.widgets.rows import paint

MAX_ROWS = 6000
SPARE_ROWS = 500
"""Removed at once, so that trimming is rare."""
MAX_CHARACTERS = 4000
NARROW = 98


@dataclass(frozen=True, slots=True)
class LogRow:
    """One drawn row: a line, or a part of a wrapped one."""

    number: int
    text: str
    role: str | None
    """None: looked for when it is drawn, since most lines of a busy log never are."""
    is_first: bool = True
    is_open: bool = False
    """It ended in a carriage return: the next line takes its place."""


class LogTail(Guarded, ScrollView, can_focus=True):
    """Shows the newest lines; stays where the user scrolled to."""

    BINDINGS = bindings_for("log")
    DEFAULT_CSS = """
    LogTail { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: auto; overflow-y: auto; }
    """
    is_following = var(True)
    is_wrapped = var(False, init=False)
    hides_polls = var(True, init=False)
    """Without the access lines of health and metrics polls, which would push everything else out of sight."""
    news = var(0)
    """Lines that came while the user looked further up."""

    class Told(Message):
        """Following, matches or the number of new lines changed: a title may want to say so."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Line] = []
        self._rows: list[LogRow] = []
        self._width = 0
        self._widest = 0
        self.pattern = ""
        self.matches: list[int] = []
        self.match_index = -1
        self.marked: int | None = None
        """The number of the line that a jump led to."""

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
        return "\n".join(row.text for row in self._rows)

    @property
    def last_number(self) -> int:
        """The number of the newest line, 0 where there is none."""
        return self._lines[-1].number if self._lines else 0

    def clear(self) -> None:
        """Forget everything: another run."""
        self._lines.clear()
        self._rows.clear()
        self.matches.clear()
        self.match_index, self.marked, self._widest, self.news = -1, None, 0, 0
        self.is_following = True
        self._resized_content()

    def add(self, lines: Sequence[Line]) -> None:
        """New lines; a bar takes the place of its own older state."""
        if not lines:
            return
        grown = 0
        for line in lines:
            grown += self._add(line)
        self._trim()
        if self.pattern:
            self._find()
        if not self.is_following:
            self.news += max(grown, 0)
        self._resized_content()

    def _add(self, line: Line) -> int:
        before = len(self._lines)
        if self._lines and self._lines[-1].is_overwritten:
            gone = self._lines.pop()
            while self._rows and self._rows[-1].number == gone.number:
                self._rows.pop()
            if not line.text.strip():
                line = Line(gone.text, line.number, line.offset, line.is_overwritten, line.is_cut)
        self._lines.append(line)
        rows = self._rows_of(line)
        self._rows += rows
        return len(self._lines) - before if rows else 0

    def _rows_of(self, line: Line) -> list[LogRow]:
        if self.hides_polls and is_poll(line.text):
            return []
        text = clean(line.text[:MAX_CHARACTERS]) + ("…" if line.is_cut or len(line.text) > MAX_CHARACTERS else "")
        if not self.is_wrapped or self._width <= 0:
            self._widest = max(self._widest, len(text) if text.isascii() else cell_len(text))
            return [LogRow(line.number, text, looks_like(text, is_bar=True) if line.is_overwritten else None)]
        role = looks_like(text, is_bar=line.is_overwritten)
        rows: list[LogRow] = []
        while text or not rows:
            piece = cut(text, self._width)
            rows.append(LogRow(line.number, piece, role, is_first=not rows))
            text = text[len(piece) :]
        return rows

    def _trim(self) -> None:
        if len(self._lines) <= MAX_ROWS:
            return
        del self._lines[:SPARE_ROWS]
        oldest = self._lines[0].number
        gone = next((index for index, row in enumerate(self._rows) if row.number >= oldest), 0)
        del self._rows[:gone]
        if not self.is_following:
            self.scroll_to(y=max(0, self.scroll_offset.y - gone), animate=False, force=True, immediate=True)

    def _resized_content(self) -> None:
        width = self._width if self.is_wrapped else max(self._widest, 1)
        self.virtual_size = Size(width, len(self._rows))
        if self.is_following:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Told())

    def on_resize(self) -> None:
        """Wrap again where the width decides the rows."""
        width = self.scrollable_content_region.width
        if width == self._width:
            if self.is_following:
                self._resized_content()
            return
        self._width = width
        self._rebuild()

    def watch_is_wrapped(self) -> None:
        """Wrapped or sideways."""
        self._rebuild()

    def watch_hides_polls(self) -> None:
        """With or without the lines of polls."""
        self._rebuild()

    def _rebuild(self) -> None:
        top = self._rows[self.scroll_offset.y].number if self.scroll_offset.y < len(self._rows) else None
        self._widest = 0
        self._rows = [row for line in self._lines for row in self._rows_of(line)]
        self._find()
        self._resized_content()
        if top is not None and not self.is_following:
            self.go_to_line(top, is_marked=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Looking at the end is following; scrolling up is not."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        at_end = new_value >= self.max_scroll_y
        if at_end != self.is_following and (at_end or new_value < old_value):
            self.is_following = at_end
            if at_end:
                self.news = 0
            self.post_message(self.Told())

    def action_follow(self) -> None:
        """Back to the newest line."""
        self.is_following, self.news, self.marked = True, 0, None
        self._resized_content()

    def action_wrap(self) -> None:
        """Wrap long lines, or not."""
        self.is_wrapped = not self.is_wrapped

    def go_to_line(self, number: int, *, is_marked: bool = True) -> bool:
        """Show the line of that number; False where it is not kept."""
        index = next((i for i, row in enumerate(self._rows) if row.number >= number), None)
        if index is None or self._rows[index].number > number + 50:
            return False
        if is_marked:
            self.marked = self._rows[index].number
        self._show_row(index)
        return True

    def _show_row(self, index: int) -> None:
        room = max(self.scrollable_content_region.height, 1)
        top = min(max(0, index - room // 3), max(0, len(self._rows) - room))
        self.is_following = False
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Told())

    def search(self, pattern: str) -> int:
        """Find a text, ignoring case; shows the newest match. Returns how many rows match."""
        self.pattern = pattern.lower()
        self._find()
        self.match_index = len(self.matches) - 1
        if self.matches:
            self._show_row(self.matches[self.match_index])
        self.refresh()
        self.post_message(self.Told())
        return len(self.matches)

    def _find(self) -> None:
        wanted = self.pattern
        self.matches = [i for i, row in enumerate(self._rows) if wanted in row.text.lower()] if wanted else []
        self.match_index = min(self.match_index, len(self.matches) - 1)

    def step_match(self, step: int) -> None:
        """The next (1) or the previous (-1) match, around the ends."""
        if not self.matches:
            return
        self.match_index = (self.match_index + step) % len(self.matches)
        self._show_row(self.matches[self.match_index])

    def render_line(self, y: int) -> Strip:
        """One visible row."""
        width, base = self.size.width, self.visual_style.rich_style
        left, index = self.scroll_offset.x, y + self.scroll_offset.y
        if not 0 <= index < len(self._rows):
            return Strip.blank(width, base)
        row = self._drawn(self._rows[index])
        whole = max(width, sum(cell_len(text) for text, _ in row)) if left else width
        strip = paint(row, whole, base, looks_of(self.app.theme_variables))
        return strip.crop(left, left + width).extend_cell_length(width, base) if left else strip

    def _drawn(self, row: LogRow) -> Row:
        role = looks_like(row.text) if row.role is None else row.role
        if row.number == self.marked:
            return (("▶ " if row.is_first else "  ", "error-strong"), (row.text, "error-strong"))
        if self.pattern and (at := row.text.lower().find(self.pattern)) >= 0:
            end = at + len(self.pattern)
            return ((row.text[:at], role), (row.text[at:end], "found"), (row.text[end:], role))
        is_short = self._width < NARROW and not self.is_wrapped
        return split_stamp(row.text, role, is_short=is_short)
