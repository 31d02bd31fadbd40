"""Pick a theme: each one that the cursor comes to is shown at once; Escape brings the old one back."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets.option_list import Option

from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.options import Options


class ThemePicker(AskedOnce[str | None]):
    """Gives the theme's name back, None when the user changed their mind; the dashboard beside it stays in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Cancel"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    CSS = "ThemePicker { background: $background 0%; }"  # what it previews is behind it
    DEFAULT_CSS = """
    ThemePicker { align: right top; }
    ThemePicker > OptionList { width: 34; max-width: 50%; height: auto; max-height: 90%; margin: 1 1 0 0;
        background: $surface; border: round $primary; }
    """

    def __init__(self, names: Sequence[str], current: str) -> None:
        super().__init__()
        self._names = tuple(names)
        self._before = current

    def compose(self) -> ComposeResult:
        """One line a theme."""
        options = Options(*(Option(Text(name)) for name in self._names), markup=False)
        options.border_title = Text("theme")
        options.border_subtitle = Text("Enter keeps, Esc returns")
        if self._before in self._names:
            options.highlighted = self._names.index(self._before)
        yield options

    @on(Options.OptionHighlighted)
    def _on_highlighted(self, event: Options.OptionHighlighted) -> None:
        event.stop()
        self.app.theme = self._names[event.option_index]

    @on(Options.OptionSelected)
    def _on_selected(self, event: Options.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._names[event.option_index])

    def action_leave(self) -> None:
        """As it was."""
        self.app.theme = self._before
        self.dismiss(None)

    def action_down(self) -> None:
        """The next one."""
        self.query_one(Options).action_cursor_down()

    def action_up(self) -> None:
        """The one above."""
        self.query_one(Options).action_cursor_up()
