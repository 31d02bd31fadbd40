"""One server, all of it: word, phases or throughput, GPUs, evidence, plot, log."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.scalar import Scalar
from textual.widgets import Footer, Input

from specdeck.services.deck import Deck
from specdeck.state.snapshot import FleetState
from specdeck.ui.commands import bindings_for
from specdeck.ui.key_pace import KeyPace
from specdeck.ui.panes.gpu import GpuPane
from specdeck.ui.panes.happenings import EventsPane
from specdeck.ui.panes.log import LogPane
from specdeck.ui.panes.server import EvidencePane, HeroPane, IdentityPane
from specdeck.ui.panes.throughput import ThroughputPane
from specdeck.ui.screens.deck_screen import DeckScreen

BORDER = 2
PLOT_HEIGHT, TALL_PLOT_HEIGHT = 9, 13
VERY_TALL = 44
FEWEST_EVENTS = 3


class ServerScreen(DeckScreen):
    """The view of a server."""

    BINDINGS = bindings_for("server")
    AUTO_FOCUS = "LogTail"

    def __init__(self, deck: Deck, pace: KeyPace, server: str, fleet_name: str = "") -> None:
        super().__init__(deck, pace, fleet_name)
        self.set_reactive(ServerScreen.chosen, server)

    def compose(self) -> ComposeResult:
        """Panes bind to the one view."""
        yield IdentityPane(id="identity").data_bind(view=ServerScreen.view)
        yield HeroPane(id="hero").data_bind(view=ServerScreen.view)
        with Horizontal(id="middle"):
            with Vertical(id="left"):
                yield GpuPane(id="gpus").data_bind(view=ServerScreen.view)
                yield ThroughputPane(id="throughput").data_bind(view=ServerScreen.view)
            with Vertical(id="right"):
                yield EvidencePane(id="evidence").data_bind(view=ServerScreen.view)
                yield EventsPane(id="events").data_bind(view=ServerScreen.view)
        yield LogPane(self.deck, id="log").data_bind(view=ServerScreen.view)
        yield Footer(show_command_palette=False, compact=False)

    def look(self, fleet: FleetState, now: float, paused_at: float | None) -> None:
        """Then give plot and events the heights that make both columns end together."""
        super().look(fleet, now, paused_at)
        self._level_columns()

    def _level_columns(self) -> None:
        gpus, evidence = (len(self.query_one(pane).rows_shown) for pane in (GpuPane, EvidencePane))
        plot, events = self.query_one(ThroughputPane), self.query_one(EventsPane)
        self.set_class(self.size.height >= VERY_TALL, "-roomy")
        if not plot.display:
            plot_height, events_height = 0, max(gpus - evidence, FEWEST_EVENTS + BORDER)
        else:
            wanted = max(PLOT_HEIGHT if self.size.height < VERY_TALL else TALL_PLOT_HEIGHT, evidence - gpus)
            events_height = max(gpus + BORDER + wanted - evidence - BORDER, FEWEST_EVENTS + BORDER)
            plot_height = evidence + events_height - gpus
        for pane, height in ((plot, plot_height), (events, events_height)):
            if height and pane.styles.height != Scalar.from_number(height):
                pane.styles.height = height

    def on_screen_resume(self) -> None:
        """In sight: its log is followed closely."""
        self.deck.look_at(self.chosen)

    def action_search(self) -> None:
        """Search the log."""
        self.query_one(LogPane).open_search()

    def action_next_match(self) -> None:
        """The next match."""
        self.query_one(LogPane).tail.step_match(1)

    def action_previous_match(self) -> None:
        """The match before."""
        self.query_one(LogPane).tail.step_match(-1)

    def action_follow(self) -> None:
        """Follow the log again."""
        self.query_one(LogPane).tail.action_follow()

    def action_wrap(self) -> None:
        """Wrap long lines, or not."""
        self.query_one(LogPane).tail.action_wrap()

    def action_back(self) -> None:
        """Close the search, else leave this view."""
        is_typing = isinstance(self.focused, Input)
        if not self.query_one(LogPane).close_search() and not is_typing:
            self.dismiss()
