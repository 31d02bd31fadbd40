"""One line instead of everything else, where the terminal is too small for anything else to be read."""

from collections.abc import Sequence

from specdeck.ui.drawing.spans import Row, fit_row, wrapped
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View

LEAST_WIDTH, LEAST_HEIGHT = 60, 15


class SizePane(Pane):
    """In sight only below the least size."""

    DEFAULT_CSS = "SizePane { display: none; }"

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """What is needed first: what is cut off at the right is what there is."""
        size = self.app.size
        words = f"{LEAST_WIDTH}x{LEAST_HEIGHT} needed, {size.width}x{size.height} here"
        long = f"specdeck needs {LEAST_WIDTH} columns and {LEAST_HEIGHT} rows; here are {size.width} and {size.height}"
        lines = wrapped(long if len(long) < width else words, max(width - 1, 1))
        return [fit_row(((f" {line}", "warning"),), width) for line in lines]
