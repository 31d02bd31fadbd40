"""One server, all of it: word, phases or throughput, GPUs, evidence, plot, log."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Footer, Input

from specdeck.services.deck import Deck
from specdeck.ui.commands import bindings_for
from specdeck.ui.key_pace import KeyPace
from specdeck.ui.panes.gpu import GpuPane
from specdeck.ui.panes.happenings import EventsPane
from specdeck.ui.panes.log import LogPane
from specdeck.ui.panes.server import EvidencePane, HeroPane, IdentityPane
from specdeck.ui.panes.throughput import ThroughputPane
from specdeck.ui.screens.deck_screen import DeckScreen


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
            yield GpuPane(id="gpus").data_bind(view=ServerScreen.view)
            yield EvidencePane(id="evidence").data_bind(view=ServerScreen.view)
            yield EventsPane(id="events").data_bind(view=ServerScreen.view)
        yield ThroughputPane(id="throughput").data_bind(view=ServerScreen.view)
        yield LogPane(self.deck, id="log").data_bind(view=ServerScreen.view)
        yield Footer(show_command_palette=False, compact=True)

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
