"""A host on which no server is known, as a row between the servers: its GPUs are free, or somebody else's."""

from specdeck.state.snapshot import HostState
from specdeck.ui.drawing.columns import shared_out
from specdeck.ui.drawing.server_table import COLUMNS, MARK, age_cell, link_words
from specdeck.ui.drawing.spans import Row, dimmed, fit, right
from specdeck.ui.drawing.words import age, memory
from specdeck.ui.view import View, heard_ago, is_old_news


def host_row(host: HostState, view: View, width: int) -> Row:
    """`· gpu-b  no server  8 x NVIDIA H200, 3 processes of others  12/1123G  live`."""
    widths = shared_out(COLUMNS, width - MARK - 1)
    is_chosen = view.host_name == host.name
    is_down = is_old_news(host)
    start: Row = (
        ("▸" if is_chosen else " ", "accent"),
        ("◌ " if host.link not in ("up", "connecting") else "· ", "warning" if is_down else "dim"),
    )
    has_host = "host" in widths
    between = [
        key for key in ("profile", "tok_s", "spark", "requests", "kv", "accept", "ttft", "load") if key in widths
    ]
    room = sum(widths[key] for key in between) + len(between) - 1
    cells: list[Row] = [
        ((fit("-" if has_host else host.name, widths["server"]), "dim"),),
        *([((fit(host.name, widths["host"]), "strong" if is_chosen else ""),)] if has_host else []),
        ((fit(_state(host, view.now), widths["state"]), "warning" if is_down else "dim"),),
        ((fit(_words(host, view.now), room), "warning" if is_down else "dim"),),
        *([((right(_memory(host), widths["gpu"]), "dim"),)] if "gpu" in widths else []),
        (age_cell(host, view.now, widths["age"]),),
    ]
    row = tuple(span for cell in cells for span in (*cell, (" ", "")))[:-1]
    return (*start, *(dimmed(row) if is_down else row))


def _state(host: HostState, now: float) -> str:
    if host.link == "connecting":
        return "connecting"
    return f"unreachable {age(heard_ago(host, now))}" if is_old_news(host) else "no server"


def _words(host: HostState, now: float) -> str:
    if host.link != "up":
        return link_words(host, now)
    if not host.gpus:
        return host.gpu_error or "no GPU"
    names = dict.fromkeys(gpu.name for gpu in host.gpus)
    what = f"{len(host.gpus)} x {next(iter(names))}" if len(names) == 1 else f"{len(host.gpus)} GPUs"
    others = len({process.pid for process in host.processes})
    if not others:
        return f"{what}, free"
    return f"{what}, {others} {'process' if others == 1 else 'processes'} of others"


def _memory(host: HostState) -> str:
    used = [gpu.memory_used_mib for gpu in host.gpus if gpu.memory_used_mib is not None]
    total = [gpu.memory_total_mib for gpu in host.gpus if gpu.memory_total_mib is not None]
    return memory(sum(used) if used else None, sum(total) if total else None)
