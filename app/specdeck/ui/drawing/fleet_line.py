"""All servers in one line over the view of one: the key that opens it, shape, name, and how far or how fast it is."""

from collections.abc import Sequence

from specdeck.quick_dataclass import dataclass
from specdeck.state.snapshot import SHAPES, ServerState, Word
from specdeck.ui.drawing.silence import silence_row
from specdeck.ui.drawing.spans import Row, clean, ends, width_of
from specdeck.ui.drawing.words import rate
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View

KEYS = 9
MORE = 5
"""Cells for how many there are besides."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One server of the line."""

    server: str
    start: int
    row: Row

    @property
    def stop(self) -> int:
        """The cell after its last one."""
        return self.start + width_of(self.row)


def fleet_tabs(view: View, width: int) -> list[Tab]:
    """As many as fit beside the rest of the line, the one that is looked at always among them; with units where all fit."""
    width -= MORE + width_of(silence_row(view))
    servers = list(view.all_servers)
    keys = {server.name: index for index, server in enumerate(servers[:KEYS], 1)}

    def rows_with(unit: str) -> dict[str, Row]:
        return {each.name: _tab(each, keys.get(each.name), each.name == view.server_name, unit) for each in servers}

    rows = rows_with(" tok/s")
    if sum(width_of(row) for row in rows.values()) > width:
        rows = rows_with("")
    names = [server.name for server in servers]
    shown = _fitting(names, rows, width)
    if view.server_name in rows and view.server_name not in shown:
        room = width - width_of(rows[view.server_name])
        shown = [*_fitting(names, rows, room), view.server_name]
    tabs, at = [], 0
    for name in shown:
        tabs.append(Tab(name, at, rows[name]))
        at = tabs[-1].stop
    return tabs


def fleet_line(view: View, width: int) -> Row:
    """` 1 ✖ glm  2 ◌ llama  3 ◐ kimi 5/11  4 ● qwen 773 tok/s`, then how many besides, and whether alerts are silenced."""
    tabs = fleet_tabs(view, width)
    besides = len(view.all_servers) - len(tabs)
    spans: Row = tuple(span for tab in tabs for span in tab.row)
    start = (*spans, (f" +{besides}", "dim")) if besides else spans
    silence = silence_row(view)
    return ends(start, silence, width) if silence else start


def _fitting(names: Sequence[str], rows: dict[str, Row], width: int) -> list[str]:
    shown: list[str] = []
    for name in names:
        width -= width_of(rows[name])
        if width < 0:
            break
        shown.append(name)
    return shown


def _tab(server: ServerState, key: int | None, is_seen: bool, unit: str) -> Row:
    number = f" {key} " if key is not None else " "
    name, role = clean(server.name), WORD_ROLES[server.word]
    return (
        (number, "heading"),
        (f"{SHAPES[server.word]} ", role),
        (name, "title" if is_seen else ""),
        (f"{_extra(server, unit)} ", "dim"),
    )


def _extra(server: ServerState, unit: str) -> str:
    phase = server.story.phase if server.story is not None else None
    if server.word is Word.STARTING and phase is not None:
        return f" {phase.index}/{phase.total}"
    if server.word is Word.READY and server.throughput is not None:
        return f" {rate(server.throughput.tok_s)}{unit}"
    return ""
