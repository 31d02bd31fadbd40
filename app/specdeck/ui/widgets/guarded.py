"""A widget whose own faults end nothing: one sentence in its place, the traceback in the log, and another try later."""

import logging
from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from specdeck.ui.drawing.spans import clean, fit

_log = logging.getLogger(__name__)


class Guarded(Widget):
    """Draws through `attempt`; textual would end the whole dashboard for any exception of a handler, a watcher or a render."""

    fault: str | None = None
    """What went wrong last; None: nothing does now."""

    def redraw(self) -> None:
        """Draw what is newest; subclasses say how in `_redraw`."""
        if self.attempt(self._redraw):
            self.fault = None

    def _redraw(self) -> None:
        """Draw; whatever it raises is shown."""

    def attempt(self, work: Callable[[], object]) -> bool:
        """Do a piece of work; False: it failed, and the widget says so."""
        try:
            work()
        except Exception as error:
            self._tell_fault(error)
            return False
        return True

    def show_fault(self, sentence: str) -> None:
        """Say in one line that this pane failed."""
        self.refresh()

    def _tell_fault(self, error: Exception) -> None:
        sentence = clean(f"{self.id or type(self).__name__} failed: {type(error).__name__}: {error}; trying again")
        if sentence == self.fault:
            return
        self.fault = sentence
        _log.error("%s", sentence, exc_info=error)
        self.show_fault(sentence)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the widget; where drawing them fails, the sentence."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            self._tell_fault(error)
            first = Strip([Segment(fit(f" {self.fault}", crop.width), Style(bold=True))], crop.width)
            return [first, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]
