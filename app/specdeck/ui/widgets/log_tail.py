"""A bounded tail of log lines: follows, scrolls, wraps, searches, filters."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len
from textual.message import Message
from textual.reactive import var

from specdeck.parsing.lines import NOT_IN_FILE, Line
from specdeck.ui.commands import bindings_for
from specdeck.ui.drawing.log_errors import error_rows
from specdeck.ui.drawing.log_lines import LineFilter
from specdeck.ui.drawing.log_places import row_of_moment, row_of_number
from specdeck.ui.widgets.drawn_log import DrawnLog

MAX_ROWS = 6000
SPARE_ROWS = 500
"""Removed at once, so that trimming is rare."""
MOST_WHILE_READING = 50_000
"""Whoever looks further up keeps what he looks at, with what was fetched for it."""
NEAR_TOP = 3


class LogTail(DrawnLog, can_focus=True):
    """Shows the newest lines; stays where the user scrolled to."""

    BINDINGS = bindings_for("log")
    DEFAULT_CSS = """
    LogTail { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: auto; overflow-y: auto; }
    """
    is_following = var(True)
    hides_polls = var(True, init=False)
    """Without the access lines of health and metrics polls, which would push everything else out of sight."""
    news = var(0)
    """Lines that came while the user looked further up."""

    class Told(Message):
        """Following, matches or the number of new lines changed: a title may want to say so."""

    class OlderWanted(Message):
        """The user reached the oldest kept line and wants to see what is before it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.error_place = (0, 0)
        """The place of an error that was gone to, of how many; (0, 0): none."""

    # What is there

    @property
    def last_number(self) -> int:
        """The number of the newest line, 0 where there is none."""
        return self.log_lines.last_number

    @property
    def marked(self) -> int | None:
        """The number of the line that a jump led to."""
        return self._marked.number if self._marked is not None else None

    @property
    def shown_lines(self) -> list[Line]:
        """All lines that the filter lets through."""
        lines = self.log_lines
        return [line for row, line in enumerate(lines.rows) if lines.is_first_row(row)]

    @property
    def words(self) -> str:
        """What the filter asks for; empty: all lines."""
        return self.log_lines.filter.words

    # Lines come and go

    def clear(self) -> None:
        """Forget everything: another run."""
        self.log_lines.clear()
        self.finds.clear()
        self._marked, self.news, self.error_place = None, 0, (0, 0)
        self.is_following = True
        self._resized_content()

    def add(self, lines: Sequence[Line]) -> None:
        """New lines; a bar takes the place of its own older state."""
        if not lines:
            return
        if self.is_following and self._are_some_missing(lines[0]):
            self.log_lines.clear()
            self.finds.clear()
            lines = lines[1:]
        first_changed = self._first_row_of_last_line()
        grown = self.log_lines.add(lines)
        self.finds.look(first_changed)
        self._let_old_ones_go()
        if not self.is_following:
            self.news += grown
        self._resized_content()

    def _first_row_of_last_line(self) -> int:
        """A bar's rows are replaced: what was found above them stays."""
        lines = self.log_lines
        row = len(lines.rows)
        while row and lines.rows[row - 1] is lines.lines[-1]:
            row -= 1
        return row

    def _are_some_missing(self, first: Line) -> bool:
        """More came than were kept since the last look: what follows is shown in one piece, the rest is fetched on scrolling up."""
        return first.offset == NOT_IN_FILE and self.last_number > 0 and first.number > self.last_number + 1

    def _let_old_ones_go(self) -> None:
        gone = self.log_lines.trim(MAX_ROWS if self.is_following else MOST_WHILE_READING, SPARE_ROWS)
        if not gone:
            return
        self.finds.forget_first(gone)
        if not self.is_following:
            self._jump_to(max(0, self.scroll_offset.y - gone))

    def prepend(self, lines: Sequence[Line]) -> None:
        """Older lines; what is in sight stays."""
        rows = self.log_lines.prepend(lines)
        self.finds.look_above()
        top = self.scroll_offset.y
        self._grow()
        self._jump_to(top + rows)
        self._resized_content()

    @property
    def is_full(self) -> bool:
        """No older lines fit any more."""
        return len(self.log_lines.lines) >= MOST_WHILE_READING

    def add_mark(self, text: str) -> None:
        """A line of the user's own, to find the place again."""
        self.log_lines.mark(text)
        self._resized_content()

    def _resized_content(self) -> None:
        self._grow()
        if self.is_following:
            self._jump_to(self.max_scroll_y)
        self.refresh()
        self.post_message(self.Told())

    # How they are shown

    def on_resize(self) -> None:
        """Wrap again where the width decides the rows."""
        width = self.scrollable_content_region.width
        if width == self._width or not self.is_wrapped:
            self._width = width
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

    def filter(self, words: str) -> None:
        """Only lines with these words, or with `!` before them only those without; empty: all lines."""
        self.log_lines.filter = LineFilter(words)
        self._rebuild()

    def _rebuild(self) -> None:
        lines = self.log_lines
        top = lines.rows[self.scroll_offset.y] if self.scroll_offset.y < len(lines.rows) else None
        lines.wrap_width = self._wrap_width if self.is_wrapped else 0
        lines.hides_polls = self.hides_polls
        lines.rebuild()
        self.finds.look(0)
        self._resized_content()
        if top is not None and not self.is_following:
            row = lines.row_of(top)
            later = lines.first_row(lambda line: line.number >= top.number) if row is None else row
            self._show_row(len(lines.rows) - 1 if later is None else later)

    # Where the user looks

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Looking at the end is following; scrolling up is not."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        at_end = new_value >= self.max_scroll_y
        if at_end != self.is_following and at_end == (new_value > old_value):
            self.is_following = at_end
            if at_end:
                self.news = 0
            self.post_message(self.Told())
        if new_value <= NEAR_TOP and new_value < old_value and not self.is_following:
            self.post_message(self.OlderWanted())

    def action_scroll_up(self) -> None:
        """A row up; from the top on, older lines are asked for."""
        self._ask_at_top()
        super().action_scroll_up()

    def action_page_up(self) -> None:
        """A page up."""
        self._ask_at_top()
        super().action_page_up()

    def action_scroll_home(self) -> None:
        """To the oldest kept line; once more, older ones are fetched."""
        self._ask_at_top()
        super().action_scroll_home()

    def on_mouse_scroll_up(self) -> None:
        """The wheel."""
        self._ask_at_top()

    def _ask_at_top(self) -> None:
        if self.scroll_offset.y == 0:
            self.post_message(self.OlderWanted())

    def action_follow(self) -> None:
        """Back to the newest line, and to its begin after a jump."""
        if self._marked is not None:
            self._jump_sideways(0)
        self.is_following, self.news, self._marked, self.error_place = True, 0, None, (0, 0)
        self._resized_content()

    def action_wrap(self) -> None:
        """Wrap long lines, or not."""
        self.is_wrapped = not self.is_wrapped

    def go_to_line(self, number: int) -> bool:
        """Show the line of that number, whatever the filter; False where it is not kept."""
        if self.words:
            self.filter("")
        row = row_of_number(self.log_lines, number)
        if row is not None:
            self.go_to_row(row)
        return row is not None

    def go_to_row(self, row: int) -> None:
        """Point at a row, a third from the top."""
        self._marked = self.log_lines.rows[row]
        self._show_row(row)

    def go_to_moment(self, moment: datetime) -> bool:
        """Show the first line of that moment or later; False where all are older."""
        row = row_of_moment(self.log_lines, moment)
        if row is not None:
            self.go_to_row(row)
        return row is not None

    def go_to_next_error(self) -> bool:
        """The next place where something went wrong, after the last one the first one; False: there is none."""
        places = error_rows(self.log_lines.rows)
        if not places:
            self.error_place = (0, 0)
            return False
        here = self.log_lines.row_of(self._marked) if self._marked is not None else None
        at = next((index for index, row in enumerate(places) if here is not None and row > here), 0)
        self.error_place = (at + 1, len(places))
        self.go_to_row(places[at])
        return True

    def unmark(self) -> None:
        """No line is pointed at any more, and lines are seen from their begin."""
        if self._marked is not None:
            self._jump_sideways(0)
        self._marked, self.error_place = None, (0, 0)
        self.refresh()

    def _show_row(self, row: int) -> None:
        top = min(max(0, row - self._room // 3), max(0, len(self.log_lines.rows) - self._room))
        self._jump_to(top)
        self.is_following = False  # also at the end: what was looked for stays in sight
        self.refresh()
        self.post_message(self.Told())

    # Search

    def search(self, pattern: str) -> int:
        """Find a text, ignoring case; shows the newest match. Returns how many lines match."""
        self.finds.begin(pattern)
        self.step_match(0)
        self.refresh()
        self.post_message(self.Told())
        return len(self.finds.matches)

    def step_match(self, step: int) -> None:
        """The next (1) or the previous (-1) match, around the ends; also sideways where it is right of the edge."""
        row = self.finds.step(step)
        if row is not None:
            self.go_to_row(row)
            self._jump_sideways(self._left_for_match(row))

    def _left_for_match(self, row: int) -> int:
        """The leftmost column to show so that the match is in sight, with something before it."""
        text = "".join(part for part, _ in self._drawn(row))
        begin = text.lower().find(self.finds.pattern)
        if self.is_wrapped or begin < 0:
            return 0
        start, width = cell_len(text[:begin]), max(self._width, 1)
        end = start + cell_len(text[begin : begin + len(self.finds.pattern)])
        return 0 if end < width else max(0, start - width // 3)
