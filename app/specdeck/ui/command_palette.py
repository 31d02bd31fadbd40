"""The palette, closed once however often Enter is pressed. Textual's own closes again, and ends the dashboard with it."""

from contextlib import suppress
from typing import Any

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.widgets import Button, Input
from textual.worker import Worker, WorkerState

from specdeck.ui.drawing.spans import clean


class Palette(CommandPalette):
    """What is chosen is done once; keys that still come while it closes do nothing. Its words are as readable as all others."""

    CSS = """
    SearchIcon { display: none; }
    Palette > .command-palette--help-text { color: $foreground; text-style: not bold; }
    """
    _has_left = False

    @on(Input.Submitted)
    @on(Button.Pressed)
    def _on_late_key(self, event: Input.Submitted | Button.Pressed) -> None:
        """Before textual's handler, which the class it is of calls past any override."""
        if self._has_left:
            event.stop()
            event.prevent_default()

    def run_worker(self, *work: Any, **wishes: Any) -> Worker[Any]:  # noqa: ANN401 - as textual has it
        """Its search, which ends nothing if the palette is taken apart meanwhile: when specdeck is left, or Esc comes at once."""
        return super().run_worker(*work, **{**wishes, "exit_on_error": False})

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A search that failed is said, as long as there is somebody who waits for it."""
        if event.state is WorkerState.ERROR and self.is_current and not self._has_left:
            error = event.worker.error
            words = clean(f"the palette failed: {type(error).__name__}: {error}; close and open it again")
            self.notify(words, severity="error", markup=False)

    def _select_or_command(self, event: Input.Submitted | Button.Pressed | None = None) -> None:
        if not self._has_left:
            super()._select_or_command(event)

    def _action_command_list(self, action: str) -> None:
        """A page up or down before the list is laid out (textual knows no line of it yet) moves nothing."""
        with suppress(KeyError):
            super()._action_command_list(action)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave the palette; a second time nothing."""
        if self._has_left:
            return AwaitComplete()
        self._has_left = True
        return super().dismiss(result)
