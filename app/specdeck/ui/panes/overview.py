"""Panes of the overview: title line and server table."""

from collections.abc import Sequence

from textual import events
from textual.message import Message

from specdeck.ui.drawing.overview_title import overview_title
from specdeck.ui.drawing.server_table import MARK, header, server_row, window
from specdeck.ui.drawing.spans import Row
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View


class TitlePane(Pane):
    """The top line."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """One line."""
        return [overview_title(view, width)]


class ServersPane(Pane):
    """One row a server; a click chooses, a second one opens."""

    class Clicked(Message):
        """A row was clicked."""

        def __init__(self, server: str, *, is_double: bool) -> None:
            super().__init__()
            self.server = server
            self.is_double = is_double

    _names: tuple[str, ...] = ()

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """Column titles and as many servers as fit into half of the terminal, the chosen one in sight."""
        servers = view.servers
        shown = window([s.name for s in servers], view.server_name, max(self.app.size.height // 2 - 2, 4))
        self._names = tuple(server.name for server in servers[shown])
        rows = [header(width), *(server_row(server, view, width) for server in servers[shown])]
        if not servers:
            rows.append(((" " * MARK + self._nothing(view), "dim"),))
        elif len(self._names) < len(servers):
            rows.append(((f"{' ' * MARK}{len(self._names)} of {len(servers)} servers", "dim"),))
        return rows

    def _nothing(self, view: View) -> str:
        if view.wanted:
            return f"no server contains {view.wanted!r}; Escape shows all"
        connecting = any(host.link == "connecting" for host in view.fleet.hosts)
        return "looking for servers" if connecting else "no servers found"

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        if 1 <= event.y <= len(self._names):
            self.post_message(self.Clicked(self._names[event.y - 1], is_double=event.chain > 1))
