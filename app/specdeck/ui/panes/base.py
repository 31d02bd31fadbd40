"""A pane: rows drawn by a pure function from the view that its screen binds to it."""

from collections.abc import Sequence

from textual.reactive import var

from specdeck.ui.drawing.spans import Row
from specdeck.ui.view import View
from specdeck.ui.widgets.rows import Rows

SHORT, NARROW = 30, 100
"""Below these the compact form is drawn."""


class Pane(Rows):
    """Draws again when its view or its size changes."""

    view: var[View | None] = var(None, init=False)

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """The rows for this space."""
        raise NotImplementedError

    def heading(self, view: View) -> str:
        """What the border says; empty: nothing."""
        return ""

    @property
    def is_compact(self) -> bool:
        """The terminal is too small for the rich form."""
        return not self.is_alone and (self.app.size.height < SHORT or self.app.size.width < NARROW)

    @property
    def is_alone(self) -> bool:
        """It is the only pane of its screen now."""
        return self.has_class("-alone")

    def fit_height(self) -> None:
        """A pane that is alone has the whole screen."""
        if not self.is_alone:
            super().fit_height()

    def watch_view(self) -> None:
        """The state changed, or a second went by."""
        self.redraw()

    def on_resize(self) -> None:
        """The space changed, and with it perhaps the border."""
        self.fit_height()
        self.redraw()

    def _redraw(self) -> None:
        """Draw if there is something to draw, and somewhere."""
        if self.view is None or not self.is_mounted or not self.display or not self.size.width:
            return
        self.say(self.heading(self.view))
        self.show(self.draw(self.view, self.size.width, self.size.height))
