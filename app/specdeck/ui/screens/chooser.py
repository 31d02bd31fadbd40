"""Choose one of several by typing a part of its words, by the arrows or by the mouse; what it means stands below."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from specdeck.quick_dataclass import dataclass
from specdeck.ui.drawing.spans import Row, clean, fit_row
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows

MOST_DETAIL = 12
FRAME = 6
"""Rows of the border, the filter and the lines between."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One that can be chosen."""

    id: str
    row: Row
    words: str
    """What a filter is looked for in."""
    detail: Callable[[int], list[Row]] = lambda width: []
    """What it means, for this width."""


class Chooser(AskedOnce[str | None]):
    """Gives the id of the choice back, None when the user changed their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", priority=True),
        Binding("down", "move(1)", "Down", show=False, priority=True),
        Binding("up", "move(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", show=False, priority=True),
        Binding("enter", "choose", "Choose", priority=True),
    ]
    DEFAULT_CSS = """
    Chooser { align: center middle; }
    Chooser > Vertical { width: 100; max-width: 96%; height: auto; max-height: 96%;
        background: $surface; border: round $primary; padding: 0 1; }
    Chooser Input, Chooser Input:focus { height: 1; border: none; padding: 0; margin: 0 0 1 0; background: $surface; }
    Chooser #detail { margin: 1 0 0 0; }
    """
    TITLE_WORDS = "choose"
    HINT = "type to filter   Enter chooses   Esc cancels"

    def __init__(self, title: str, choices: Sequence[Choice], *, chosen: str | None = None) -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)
        self._at = next((place for place, choice in enumerate(choices) if choice.id == chosen), 0)
        self._first = 0
        self._seen: tuple[Choice, ...] = self._choices

    def compose(self) -> ComposeResult:
        """The filter, the choices, what the present one means."""
        with Vertical() as box:
            box.border_title = clean(self._title)
            box.border_subtitle = self.HINT
            yield Input(placeholder="filter", id="wanted")
            yield Rows(id="choices")
            yield Rows(id="detail")

    @property
    def present(self) -> Choice | None:
        """The one under the cursor."""
        return self._seen[self._at] if self._at < len(self._seen) else None

    def on_mount(self) -> None:
        """Draw once the width is known."""
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.lower().split()
        before = self.present
        self._seen = tuple(each for each in self._choices if all(word in each.words.lower() for word in words))
        self._at = self._seen.index(before) if before in self._seen else 0
        self._draw()

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_choose()

    def action_move(self, step: int) -> None:
        """Another choice, stopping at the ends."""
        self._at = min(max(self._at + step, 0), max(len(self._seen) - 1, 0))
        self._draw()

    def action_choose(self) -> None:
        """The present one; nothing where nothing fits the filter."""
        if self.present is not None:
            self.dismiss(self.present.id)

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click chooses the cursor's place, a second one the choice; beside the box it cancels."""
        if event.widget is self:
            self.dismiss(None)
        elif event.widget is self.query_one("#choices", Rows):
            at = self._first + event.y
            if at < len(self._seen):
                is_again, self._at = at == self._at, at
                self._draw()
                if is_again or event.chain > 1:
                    self.action_choose()

    def _draw(self) -> None:
        if not self.is_mounted or not self.query("#choices"):
            return
        rows, detail = self.query_one("#choices", Rows), self.query_one("#detail", Rows)
        width = max(rows.size.width, 30)
        told = self.present.detail(width)[:MOST_DETAIL] if self.present is not None else []
        room = max(self.size.height - FRAME - len(told), 3)
        self._first = min(max(self._first, self._at - room + 1), self._at)
        shown = self._seen[self._first : self._first + room]
        lines = [self._line(choice, width, is_present=choice is self.present) for choice in shown]
        rows.show(lines or [((" nothing fits", "dim"),)])
        detail.show(told or [(("", ""),)])

    def _line(self, choice: Choice, width: int, *, is_present: bool) -> Row:
        row = fit_row((("▸ " if is_present else "  ", "accent"), *choice.row), width)
        return tuple((text, role or "strong") for text, role in row) if is_present else row
