"""The numbers of a server over time, once there is something to plot."""

from specdeck.state.snapshot import Word
from specdeck.ui.drawing.plots import WINDOWS, Plot, kinds_of, plot_of
from specdeck.ui.panes.base import Pane
from specdeck.ui.widgets.chart import Chart

SHOWN_WHILE = (Word.READY, Word.UNHEALTHY, Word.STALLED)
HINT = "   c other plot, C longer"
RUN_SECONDS = 3600.0
"""A run is taken for so long when it is asked how often its plot moves."""


class ThroughputPane(Chart, Pane):
    """A plot; not there while the server starts or is down."""

    DEFAULT_CSS = "ThroughputPane { display: none; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._kind = ""
        """The name of what was chosen; where there is none of it, the first one is shown."""
        self._window = 0

    def _redraw(self) -> None:
        """Plot, or give the space to the log."""
        view = self.view
        server = view.server if view is not None else None
        if view is None or server is None or not self.is_mounted:
            return
        kinds = kinds_of(server) if server.word in SHOWN_WHILE else []
        self.screen.set_class(bool(kinds), "-plotted")
        if kinds and self.display:
            kind = next((each for each in kinds if each.name == self._kind), kinds[0])
            window = WINDOWS[self._window]
            if self.is_due(view.now, (kind.name, window, server.history.marks[-1:]), window or RUN_SECONDS):
                self._draw_plot(plot_of(server, kind, window, view.now), view.now)

    def _draw_plot(self, plot: Plot, now: float) -> None:
        hint = HINT if len(plot.heading) + len(HINT) + 4 <= self.size.width else ""
        self.say(plot.heading + hint)
        self.plot(plot, now)

    @property
    def is_in_sight(self) -> bool:
        """Whether there is a plot to look at."""
        return self.display and self.is_on_screen and self.size.height > 0

    def next_kind(self) -> None:
        """Another number of the same server."""
        view = self.view
        names = [kind.name for kind in kinds_of(view.server)] if view is not None and view.server is not None else []
        if names:
            here = names.index(self._kind) if self._kind in names else 0
            self._kind = names[(here + 1) % len(names)]
            self.redraw()

    def next_window(self) -> None:
        """Five minutes, an hour, the whole run."""
        self._window = (self._window + 1) % len(WINDOWS)
        self.redraw()
