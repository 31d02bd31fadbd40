"""The GPUs of the chosen server's host."""

from collections.abc import Sequence

from specdeck.ui.drawing.gpus import gpu_rows, heading, summary
from specdeck.ui.drawing.spans import Row, dimmed
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View, is_old_news

MOST_ROWS = 10
COMPACT_ROWS = 2


class GpuPane(Pane, can_focus=True):
    """A line a GPU, or one line for all of them in a small terminal."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """As many lines as the GPUs take."""
        host = view.host
        if host is None:
            return [((" no host", "dim"),)]
        if self.is_compact and len(host.gpus) > COMPACT_ROWS:
            row = (("  ", ""), *summary(host.gpus, width - 2))
            return [dimmed(row) if is_old_news(host) else row]
        return gpu_rows(host, width, COMPACT_ROWS if self.is_compact else MOST_ROWS)

    def heading(self, view: View) -> str:
        """The host and what it has."""
        return heading(view.host, view.now) if view.host is not None else "GPUs"
