"""The other servers of the fleet, over the view of one."""

from collections.abc import Sequence

from textual import events

from specdeck.state.alert_book import Silence
from specdeck.ui.drawing.fleet_line import fleet_line, fleet_tabs
from specdeck.ui.drawing.spans import Row
from specdeck.ui.messages import ServerChosen
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View


class FleetLine(Pane):
    """A click opens; not there where there is one server only, unless alerts are silenced."""

    DEFAULT_CSS = """
    FleetLine { background: $panel; }
    FleetLine.-only-one { display: none; }
    """

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """One line."""
        return [fleet_line(view, width)]

    def watch_view(self) -> None:
        """There may be others now."""
        self.set_class(self.view is None or not _is_needed(self.view), "-only-one")
        super().watch_view()

    def on_click(self, event: events.Click) -> None:
        """Open the server under the mouse."""
        tabs = fleet_tabs(self.view, self.size.width) if self.view is not None else ()
        for tab in tabs:
            if tab.start <= event.x < tab.stop:
                self.post_message(ServerChosen(tab.server))


def _is_needed(view: View) -> bool:
    return len(view.fleet.servers) > 1 or view.fleet.alerts.silence != Silence()
