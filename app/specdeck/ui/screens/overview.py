"""The fleet at a glance: servers, the GPUs of the chosen one's host, events, its log where there is room."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from specdeck.state.snapshot import FleetState, Word
from specdeck.ui.commands import bindings_for
from specdeck.ui.messages import LookChanged, ServerChosen
from specdeck.ui.panes.gpu import GpuPane
from specdeck.ui.panes.happenings import EventsPane
from specdeck.ui.panes.overview import ServersPane, TitlePane
from specdeck.ui.panes.size import SizePane
from specdeck.ui.screens.deck_screen import DeckScreen
from specdeck.ui.view import is_bare_host, lets_through, rows_of


class OverviewScreen(DeckScreen):
    """The first screen of a fleet."""

    BINDINGS = bindings_for("overview")
    AUTO_FOCUS = ""
    PANES: ClassVar[tuple[str, ...]] = ("servers", "gpus", "events", "log")
    KEPT: ClassVar[tuple[str, ...]] = ("servers",)
    IS_CALM = True  # of many rows at once nobody reads more figures a second
    LOG_SECONDS = 3.0
    SETTLING_SECONDS = 15.0
    """So long the first row stays the chosen one while hosts answer for the first time, unless a key or a click chooses."""

    is_settled = False
    _is_log_seen = True
    _began_at: float | None = None

    def compose(self) -> ComposeResult:
        """Panes bind to the one view."""
        yield TitlePane(id="title").data_bind(view=OverviewScreen.view)
        yield ServersPane(id="servers").data_bind(view=OverviewScreen.view)
        with Horizontal(id="middle"):
            yield GpuPane(id="gpus").data_bind(view=OverviewScreen.view)
            yield EventsPane(id="events").data_bind(view=OverviewScreen.view)
        yield self.log_pane.data_bind(view=OverviewScreen.view)
        yield SizePane(id="size").data_bind(view=OverviewScreen.view)
        yield self.key_line

    def look(self, fleet: FleetState, now: float, paused_at: float | None) -> None:
        """The first row is chosen until the user chooses, and no longer than until every server was heard of."""
        names = self.arrangement.names(fleet, now, keys=self.pace.keys)
        self.is_settled = self.is_settled or self._has_waited(now)
        if self.chosen not in names or not self.is_settled:
            self.chosen = names[0] if names else None
        if names and all(each.word is not Word.UNKNOWN for each in rows_of(fleet)):
            self.is_settled = True
        super().look(fleet, now, paused_at)
        if self._is_log_seen is not self.log_pane.display:  # a long table took its place, or the user hid it
            self._follow_log()

    def _has_waited(self, now: float) -> bool:
        if self._began_at is None:
            self._began_at = now
        return self.pace.keys > 0 or not 0 <= now - self._began_at < self.SETTLING_SECONDS

    def watch_chosen(self) -> None:
        """Follow the log of the chosen server while it is in sight."""
        super().watch_chosen()
        self._follow_log()

    def on_screen_resume(self) -> None:
        """Back from a server view."""
        self._follow_log()

    def on_resize(self) -> None:
        """The log may have come into sight, or left it."""
        self._follow_log()

    def _follow_log(self) -> None:
        self._is_log_seen = self.is_mounted and self.log_pane.display
        self.deck.look_at(self.chosen if self._is_log_seen and not is_bare_host(self.chosen) else None)

    def action_move(self, step: int) -> None:
        """Choose the next server, or the one above."""
        if self.view is None:
            return
        names = [each.name for each in self.view.rows]
        if names:
            index = names.index(self.chosen) + step if self.chosen in names else 0
            self.chosen = names[min(max(index, 0), len(names) - 1)]

    def action_order(self) -> None:
        """Worst first, or as in the fleet."""
        self.arrangement.is_worst_first = not self.arrangement.is_worst_first
        self.post_message(LookChanged())

    def on_mouse_move(self) -> None:
        """What is aimed at stays there."""
        if self.view is not None:
            self.arrangement.touch(self.view.now)

    @on(ServersPane.Wheeled)
    def _on_wheeled(self, event: ServersPane.Wheeled) -> None:
        event.stop()
        self.is_settled = True
        self.action_move(event.rows)

    def instead(self) -> dict[str, str]:
        """Back to all servers only where not all of them are shown."""
        return {"zoom": "back"} if self.wanted or self.panes.zoomed is not None else {"back": "", **super().instead()}

    def action_open(self) -> None:
        """Open the chosen server."""
        if is_bare_host(self.chosen):
            self.notify("No server is known on this host.", markup=False)
        elif self.chosen is not None:
            self.post_message(ServerChosen(self.chosen))

    @on(ServersPane.Clicked)
    def _on_clicked(self, event: ServersPane.Clicked) -> None:
        event.stop()
        self.is_settled = True
        is_meant = event.is_double or event.server == self.chosen
        self.chosen = event.server
        if is_meant:
            self.action_open()

    def action_search(self) -> None:
        """Type a filter."""
        self.set_focus(self._filter_line().add_class("-open"))

    def _filter_line(self) -> Input:
        """Made when it is first asked for, which the first frame need not wait for."""
        for line in self.query("#filter").results(Input):
            return line
        line = Input(placeholder="filter servers, Enter keeps, Escape shows all", id="filter", select_on_focus=True)
        self.mount(line, after=self.log_pane)
        return line

    @on(Input.Changed, "#filter")
    def _on_filter(self, event: Input.Changed) -> None:
        self.wanted = event.value.strip()
        if self.view is not None and event.value:
            names = [server.name for server in self.view.all_rows if lets_through(self.wanted, server)]
            if names and self.chosen not in names:
                self.chosen = names[0]

    @on(Input.Submitted, "#filter")
    def _on_kept(self) -> None:
        self._filter_line().remove_class("-open")
        self.set_focus(None)

    def action_back(self) -> None:
        """Leave the zoom, then the filter, then the pane."""
        if self.leave_zoom():
            return
        for line in self.query("#filter").results(Input):
            line.value = ""
            line.remove_class("-open")
        self.set_focus(None)
