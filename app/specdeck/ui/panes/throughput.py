"""Tokens per second over the last minutes, once there is something to plot."""

from specdeck.state.snapshot import Word
from specdeck.ui.drawing.words import age, rate
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View
from specdeck.ui.widgets.chart import Chart, window_of

LEAST_POINTS = 2
SHOWN_WHILE = (Word.READY, Word.UNHEALTHY, Word.STALLED)


class ThroughputPane(Chart, Pane, can_focus=True):
    """A plot; not there while the server starts or is down."""

    DEFAULT_CSS = "ThroughputPane { display: none; }"

    def _redraw(self) -> None:
        """Plot, or give the space to the log."""
        view = self.view
        server = view.server if view is not None else None
        if view is None or server is None or not self.is_mounted:
            return
        is_wanted = server.word in SHOWN_WHILE and len(server.throughput_history) >= LEAST_POINTS
        self.screen.set_class(is_wanted, "-plotted")
        if is_wanted and self.display:
            self.say(self.heading(view))
            self.plot(server.throughput_history, view.now)

    def heading(self, view: View) -> str:
        """The highest value of the window, and the window."""
        history = view.server.throughput_history if view.server is not None else ()
        window = window_of(history, view.now)
        recent = [value for at, value in history if at >= view.now - window]
        top = f", highest {rate(max(recent))}" if recent else ""
        return f"tok/s over {age(window)}{top}"
