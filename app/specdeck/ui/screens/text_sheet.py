"""Something to read with one decision: Enter does it, any other key leaves it."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from specdeck.ui.drawing.spans import Row, clean
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows


class TextSheet(AskedOnce[bool]):
    """Gives True back for Enter, False for Escape; arrows scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", "Do it", priority=True),
        Binding("escape,q", "leave", "Leave", priority=True),
        Binding("down,j", "scroll(1)", show=False, priority=True),
        Binding("up,k", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(10)", show=False, priority=True),
        Binding("pageup", "scroll(-10)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    TextSheet { align: center middle; }
    TextSheet > Vertical { width: 108; max-width: 96%; height: auto; max-height: 96%;
        background: $surface; border: round $primary; padding: 0 1; }
    TextSheet.-failed > Vertical { border: round $error; }
    TextSheet VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
    TextSheet #question { margin: 1 0 0 0; }
    """

    def __init__(
        self, title: str, rows: Callable[[int], list[Row]], question: Row, *, is_problem: bool = False
    ) -> None:
        super().__init__(classes="-failed" if is_problem else None)
        self._title = title
        self._rows = rows
        self._question = question

    def compose(self) -> ComposeResult:
        """The text above, the question below."""
        with Vertical() as box:
            box.border_title = clean(self._title)
            with VerticalScroll(can_focus=False):
                yield Rows(id="text")
            yield Rows(id="question")

    def on_mount(self) -> None:
        """Draw once the width is known."""
        self.call_after_refresh(self._draw)

    def on_resize(self, _: events.Resize) -> None:
        """Wrap for the new width."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self.is_mounted and self.query("#text"):
            text = self.query_one("#text", Rows)
            text.show(self._rows(max(text.size.width, 40)))
            self.query_one("#question", Rows).show([self._question])
            self.query_one(VerticalScroll).styles.max_height = max(self.size.height - 6, 3)

    def action_agree(self) -> None:
        """Do it."""
        self.dismiss(True)

    def action_leave(self) -> None:
        """Leave it as it is."""
        self.dismiss(False)

    def action_scroll(self, step: int) -> None:
        """Read on."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
