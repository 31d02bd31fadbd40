"""The GPUs of the chosen server's host."""

from collections.abc import Sequence

from specdeck.ui.drawing.gpus import compact_rows, detailed_rows, gpu_rows, heading
from specdeck.ui.drawing.spans import Row
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View

MOST_ROWS = 10
COMPACT_ROWS = 2


class GpuPane(Pane, can_focus=True):
    """A line a GPU, or one line for all of them in a small terminal; alone it tells all of each."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """As many lines as the GPUs take."""
        host = view.host
        if host is None:
            return [((" no host", "dim"),)]
        if self.is_alone:
            return detailed_rows(host, width, height, view.now)
        if self.is_compact and len(host.gpus) > COMPACT_ROWS:
            return [(("  ", ""), *row) for row in compact_rows(host, width - 2, COMPACT_ROWS, view.now)]
        return gpu_rows(host, width, COMPACT_ROWS if self.is_compact else MOST_ROWS, view.now)

    def heading(self, view: View) -> str:
        """The host and what it has."""
        return heading(view.host, view.now) if view.host is not None else "GPUs"
