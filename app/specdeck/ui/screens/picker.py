"""Pick a launch profile."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from specdeck.config.objects import Profile
from specdeck.ui.drawing.spans import clean


class ProfilePicker(ModalScreen[str | None]):
    """Gives the profile's name back, None when the user changed their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Cancel"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    DEFAULT_CSS = """
    ProfilePicker { align: center middle; }
    ProfilePicker > OptionList { width: 76; max-width: 96%; height: auto; max-height: 80%;
        background: $surface; border: round $primary; }
    """

    def __init__(self, server: str, profiles: Sequence[Profile], *, current: str | None) -> None:
        super().__init__()
        self._server = server
        self._profiles = tuple(profiles)
        self._current = current

    def compose(self) -> ComposeResult:
        """One line a profile, with what it is for."""
        options = OptionList(*(self._option(profile) for profile in self._profiles), markup=False)
        options.border_title = Text(clean(f"profile for {self._server}"))
        options.border_subtitle = Text("Enter shows what changes, Escape cancels")
        yield options

    def _option(self, profile: Profile) -> Option:
        mark = "● " if profile.name == self._current else "  "
        about = f"  {clean(profile.describe)}" if profile.describe else ""
        return Option(Text.assemble(f"{mark}{clean(profile.name)}", (about, "dim")))

    @on(OptionList.OptionSelected)
    def _on_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._profiles[event.option_index].name)

    def action_leave(self) -> None:
        """Nothing is picked."""
        self.dismiss(None)

    def action_down(self) -> None:
        """The next one."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """The one above."""
        self.query_one(OptionList).action_cursor_up()
