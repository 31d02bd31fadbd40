"""The events pane."""

from collections.abc import Sequence

from specdeck.ui.drawing.events import event_rows
from specdeck.ui.drawing.spans import Row
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View


class EventsPane(Pane, can_focus=True):
    """What happened, newest first."""

    DEFAULT_CSS = "EventsPane { height: 1fr; }"
    IS_AS_TALL_AS_ITS_ROWS = False

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """As many as fit; alone it breaks long ones instead of cutting them."""
        return event_rows(view, width, height, is_whole=self.is_alone)

    def heading(self, view: View) -> str:
        """A word."""
        return "events"
