"""A screen that asks for one answer and gives it once, however often Enter, Esc or the mouse come while it closes."""

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

Answer = TypeVar("Answer")


class AskedOnce(ModalScreen[Answer]):
    """Textual's own tells each answer, and takes the screen beneath away for the second one."""

    _has_answered = False

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Leave with an answer; a second one, or one from beneath another screen, is none."""
        if self._has_answered or not self.is_current:
            return AwaitComplete()
        self._has_answered = True
        return super().dismiss(result)
