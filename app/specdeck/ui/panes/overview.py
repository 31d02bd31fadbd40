"""Panes of the overview: title line and server table."""

from collections.abc import Sequence

from textual import events
from textual.message import Message

from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.host_row import host_row
from specdeck.ui.drawing.overview_title import overview_title
from specdeck.ui.drawing.server_table import MARK, header, server_row, window
from specdeck.ui.drawing.spans import Row
from specdeck.ui.panes.base import SHORT, Pane
from specdeck.ui.view import HOST_MARK, View, is_bare_host

NUMBERED = 9
RICH_BELOW, TALL_BELOW, SHORT_BELOW, ALONE_BELOW = 15, 15, 10, 5
"""Rows of all the rest where a long table takes the place of the log: wide, narrow but tall, short, and alone."""


class TitlePane(Pane):
    """The top line."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """One line."""
        return [overview_title(view, width)]


class ServersPane(Pane, can_focus=True):
    """One row a server; a click chooses, a second one opens."""

    class Clicked(Message):
        """A row was clicked."""

        def __init__(self, server: str, *, is_double: bool) -> None:
            super().__init__()
            self.server = server
            self.is_double = is_double

    class Wheeled(Message):
        """The mouse wheel was turned over the table."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    _names: tuple[str, ...] = ()
    _top = 0

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """Column titles and as many servers as there is room for, the chosen one in sight."""
        servers = view.rows
        room = self._room(len(servers))
        chosen = view.server_name if view.host_name is None else f"{HOST_MARK}{view.host_name}"
        shown = window([server.name for server in servers], chosen, room, self._top)
        self._top = shown.start
        self._names = tuple(server.name for server in servers[shown])
        numbers = {server.name: number for number, server in enumerate(view.all_servers[:NUMBERED], 1)}
        rows = [header(width), *(self._row(each, view, width, numbers.get(each.name)) for each in servers[shown])]
        if not servers:
            rows.append(((" " * MARK + self._nothing(view), "dim"),))
        elif len(self._names) < len(servers):
            rows.append(((f"{' ' * MARK}{self._which(shown, len(servers))}", "dim"),))
        return rows

    @staticmethod
    def _row(each: ServerState, view: View, width: int, number: int | None) -> Row:
        host = view.fleet.host(each.host) if is_bare_host(each.name) else None
        return server_row(each, view, width, number) if host is None else host_row(host, view, width)

    def _room(self, wanted: int) -> int:
        """Half of the terminal; where that is not enough, the place of the log as well."""
        size = self.app.size
        if self.is_alone:
            return size.height - ALONE_BELOW
        half = max(size.height // 2 - 2, 4)
        is_many = wanted > half
        self.screen.set_class(is_many, "-many")
        below = RICH_BELOW if not self.is_compact else SHORT_BELOW if size.height < SHORT else TALL_BELOW
        return max(size.height - below, 4) if is_many else half

    @staticmethod
    def _which(shown: slice, total: int) -> str:
        return f"{shown.start + 1} to {shown.stop} of {total}"

    def _nothing(self, view: View) -> str:
        if view.wanted:
            return f"nothing contains {view.wanted!r}; Escape shows all"
        connecting = any(host.link == "connecting" for host in view.fleet.hosts)
        what = "looking for servers" if connecting else "no servers found" if view.fleet.hosts else "no hosts yet"
        return what if connecting or view.is_read_only else f"{what}: + adds a host or a server"

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        if 1 <= event.y <= len(self._names):
            self.post_message(self.Clicked(self._names[event.y - 1], is_double=event.chain > 1))

    def on_mouse_scroll_down(self) -> None:
        """Further down the fleet."""
        self.post_message(self.Wheeled(1))

    def on_mouse_scroll_up(self) -> None:
        """Further up."""
        self.post_message(self.Wheeled(-1))
