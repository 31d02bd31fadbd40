"""One server, all of it: word, phases or throughput, GPUs, evidence, plot, log."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.scalar import Scalar
from textual.widgets import Input

from specdeck.services.deck import Deck
from specdeck.state.snapshot import FleetState
from specdeck.ui.arrangement import Arrangement
from specdeck.ui.commands import bindings_for
from specdeck.ui.key_pace import KeyPace
from specdeck.ui.messages import LookChanged
from specdeck.ui.panes.fleet_line import FleetLine
from specdeck.ui.panes.gpu import GpuPane
from specdeck.ui.panes.happenings import EventsPane
from specdeck.ui.panes.log import LogPane
from specdeck.ui.panes.server import EvidencePane, HeroPane, IdentityPane
from specdeck.ui.panes.size import SizePane
from specdeck.ui.panes.throughput import SHOWN_WHILE, ThroughputPane
from specdeck.ui.screens.deck_screen import DeckScreen

BORDER = 2
PLOT_HEIGHT, TALL_PLOT_HEIGHT = 9, 13
VERY_TALL = 44
FEWEST_EVENTS = 3


class ServerScreen(DeckScreen):
    """The view of a server."""

    BINDINGS = bindings_for("server")
    PANES: ClassVar[tuple[str, ...]] = ("hero", "gpus", "throughput", "evidence", "events", "log")
    KEPT: ClassVar[tuple[str, ...]] = ("log", "hero")
    AUTO_FOCUS = "LogTail"
    DEFAULT_CSS = """
    ServerScreen #hero { margin: 0; padding: 0; }
    ServerScreen #left, ServerScreen #right { width: 1fr; height: auto; }
    ServerScreen #events { display: none; }
    ServerScreen.-tall.-wide.-plotted #throughput { display: block; }
    ServerScreen.-tall.-wide.-plotted #events, ServerScreen.-wide.-roomy #events { display: block; }
    ServerScreen.-short #events, ServerScreen.-narrow #events { display: none; }
    """

    def __init__(
        self, deck: Deck, pace: KeyPace, server: str, fleet_name: str = "", *, arrangement: Arrangement | None = None
    ) -> None:
        super().__init__(deck, pace, fleet_name, arrangement=arrangement)
        self.set_reactive(ServerScreen.chosen, server)
        self._gpus, self._evidence = GpuPane(id="gpus"), EvidencePane(id="evidence")
        self._plot, self._events = ThroughputPane(id="throughput"), EventsPane(id="events")

    def compose(self) -> ComposeResult:
        """Panes bind to the one view."""
        yield FleetLine(id="fleet").data_bind(view=ServerScreen.view)
        yield IdentityPane(id="identity").data_bind(view=ServerScreen.view)
        yield HeroPane(id="hero").data_bind(view=ServerScreen.view)
        with Horizontal(id="middle"):
            with Vertical(id="left"):
                yield self._gpus.data_bind(view=ServerScreen.view)
                yield self._plot.data_bind(view=ServerScreen.view)
            with Vertical(id="right"):
                yield self._evidence.data_bind(view=ServerScreen.view)
                yield self._events.data_bind(view=ServerScreen.view)
        yield self.log_pane.data_bind(view=ServerScreen.view)
        yield SizePane(id="size").data_bind(view=ServerScreen.view)
        yield self.key_line

    def look(self, fleet: FleetState, now: float, paused_at: float | None) -> None:
        """Then give plot and events the heights that make both columns end together."""
        super().look(fleet, now, paused_at)
        if self.panes.zoomed is None:
            self._level_columns()

    @property
    def opened(self) -> str | None:
        """The one that is looked at."""
        return self.chosen

    def _level_columns(self) -> None:
        gpus, evidence = (len(pane.rows_shown) if pane.display else -BORDER for pane in (self._gpus, self._evidence))
        plot, events = self._plot, self._events
        self.set_class(self.size.height >= VERY_TALL, "-roomy")
        if not plot.display:
            plot_height, events_height = 0, max(gpus - evidence, FEWEST_EVENTS + BORDER)
        else:
            wanted = max(PLOT_HEIGHT if self.size.height < VERY_TALL else TALL_PLOT_HEIGHT, evidence - gpus)
            events_height = max(gpus + BORDER + wanted - evidence - BORDER, FEWEST_EVENTS + BORDER)
            plot_height = evidence + events_height - gpus
        below = events_height if events.display else 0
        least = Scalar.from_number(0 if plot.display or not self.is_rich else evidence + BORDER + below)
        if self._gpus.styles.min_height != least:
            self._gpus.styles.min_height = least
        for pane, height in ((plot, plot_height), (events, events_height)):
            if height and pane.styles.height != Scalar.from_number(height):
                pane.styles.height = height

    @property
    def is_rich(self) -> bool:
        """There is room for two columns."""
        return self.has_class("-wide") and self.has_class("-tall")

    def on_screen_resume(self) -> None:
        """In sight: its log is followed closely."""
        self.deck.look_at(self.chosen)

    def _log_in_sight(self) -> LogPane:
        """Instead of another pane that is shown alone: what a key does to the log can be seen."""
        if self.panes.zoomed not in (None, "log"):
            self.panes.zoom("log")
            self.post_message(LookChanged())
        return self.log_pane

    def action_ask_log(self, kind: str) -> None:
        """Ask for a search, a filter, a time or a file name."""
        self._log_in_sight().ask(kind)

    def action_next_error(self) -> None:
        """To the next place where something went wrong."""
        self._log_in_sight().next_error()

    def action_next_plot(self) -> None:
        """Plot another number."""
        self._plot.next_kind()
        self._say_where_the_plot_is()

    def action_next_window(self) -> None:
        """Plot over a longer time, after the longest over the shortest."""
        self._plot.next_window()
        self._say_where_the_plot_is()

    def _say_where_the_plot_is(self) -> None:
        if not self._plot.is_in_sight:
            serves = self.server is not None and self.server.word in SHOWN_WHILE
            where = "z, then Tab shows it alone; beside the others it needs 100 columns and 30 rows"
            self.notify(
                f"The plot is not in sight: {where if serves else 'there is one of a server that serves'}.",
                markup=False,
            )

    def action_mark(self) -> None:
        """Put a line with the time into the log."""
        self._log_in_sight().add_mark()

    def action_copy_lines(self) -> None:
        """To the clipboard of the terminal."""
        self.log_pane.copy()

    def action_next_match(self) -> None:
        """The next match."""
        self._log_in_sight().tail.step_match(1)

    def action_previous_match(self) -> None:
        """The match before."""
        self._log_in_sight().tail.step_match(-1)

    def action_follow(self) -> None:
        """Follow the log again."""
        self._log_in_sight().tail.action_follow()

    def action_wrap(self) -> None:
        """Wrap long lines, or not."""
        self._log_in_sight().tail.action_wrap()

    def action_polls(self) -> None:
        """Show or hide the access lines of health and metrics polls."""
        log = self._log_in_sight()
        log.tail.hides_polls = not log.tail.hides_polls
        log.redraw()

    def action_back(self) -> None:
        """Leave the zoom, then the search, then this view."""
        is_typing = isinstance(self.focused, Input)
        if not is_typing and self.leave_zoom():
            return
        if not self.log_pane.close_search() and not is_typing and self.is_current:
            self.dismiss()
