"""A text over the dashboard, to be read, scrolled and closed: what the help and the diagnosis share."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from specdeck.ui.drawing.spans import Row
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows


class ReadingScreen(AskedOnce[None]):
    """A screen says its heading, what it reads for a width, and with which keys besides j and k it is left."""

    HEADING: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    DEFAULT_CSS = """
    ReadingScreen { align: center middle; }
    ReadingScreen > VerticalScroll { max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $primary; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def reads(self, width: int) -> Sequence[Row]:
        """The text for so many columns."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll() as scroll:
            scroll.border_title = self.HEADING
            scroll.border_subtitle = "Escape closes"
            yield Rows()

    def on_resize(self) -> None:
        """Wrap for the width."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """It may have been closed meanwhile."""
        for rows in self.query(Rows):
            rows.show(self.reads(max(rows.size.width, 30)))

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one(VerticalScroll).scroll_up(animate=False)
