"""The other servers of the fleet, over the view of one."""

from collections.abc import Sequence

from textual import events

from specdeck.ui.drawing.fleet_line import MORE, fleet_line, fleet_tabs
from specdeck.ui.drawing.spans import Row
from specdeck.ui.messages import ServerChosen
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View


class FleetLine(Pane):
    """A click opens; not there where there is one server only."""

    DEFAULT_CSS = """
    FleetLine { background: $panel; }
    FleetLine.-only-one { display: none; }
    """

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """One line."""
        return [fleet_line(view, width)]

    def watch_view(self) -> None:
        """There may be others now."""
        self.set_class(self.view is None or len(self.view.fleet.servers) < 2, "-only-one")
        super().watch_view()

    def on_click(self, event: events.Click) -> None:
        """Open the server under the mouse."""
        tabs = fleet_tabs(self.view, self.size.width - MORE) if self.view is not None else ()
        for tab in tabs:
            if tab.start <= event.x < tab.stop:
                self.post_message(ServerChosen(tab.server))
