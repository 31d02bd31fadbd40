"""The palette, closed once however often Enter is pressed. Textual's own closes again, and ends the dashboard with it."""

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.widgets import Button, Input


class Palette(CommandPalette):
    """What is chosen is done once; keys that still come while it closes do nothing."""

    _has_left = False

    @on(Input.Submitted)
    @on(Button.Pressed)
    def _on_late_key(self, event: Input.Submitted | Button.Pressed) -> None:
        """Before textual's handler, which the class it is of calls past any override."""
        if self._has_left:
            event.stop()
            event.prevent_default()

    def _select_or_command(self, event: Input.Submitted | Button.Pressed | None = None) -> None:
        if not self._has_left:
            super()._select_or_command(event)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave the palette; a second time nothing."""
        if self._has_left:
            return AwaitComplete()
        self._has_left = True
        return super().dismiss(result)
