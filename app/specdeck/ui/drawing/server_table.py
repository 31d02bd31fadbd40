"""The servers of the fleet, one row each: shape, word, numbers; the cause instead of numbers where something is wrong."""

from collections.abc import Mapping, Sequence

from specdeck.state.eta import eta_of, share_of
from specdeck.state.snapshot import SHAPES, HostState, ServerState, Word
from specdeck.state.warnings import effective_mode, mode_warning, row_warning
from specdeck.state.witnesses import needs_key
from specdeck.ui.drawing.columns import Column, shared_out
from specdeck.ui.drawing.meters import bar, over_time
from specdeck.ui.drawing.serving import latency
from specdeck.ui.drawing.spans import Row, Span, dimmed, fit, right
from specdeck.ui.drawing.state_words import (
    TROUBLED,
    act_in_short,
    act_line,
    broken_act,
    explanation,
    running_act,
    word_for,
)
from specdeck.ui.drawing.words import UNKNOWN, age, count, lasted, memory, percent, rate
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View, heard_ago, is_old_news

MARK = 3
"""Cells of the cursor and the shape."""
MOST_BEFORE_READY = 0.99
SHORT_STATE = 15
"""Cells of `crashed, 2m ago`: where there is little room, a sentence begins behind them."""
HEADROOM = 1.6
LEAST_WITH_ETA = 19
"""Cells of a bar that has room for the time behind it."""
ETA = 10
COLUMNS = (
    Column("server", "SERVER", 10, most=22),
    Column("host", "HOST", 9, most=18, rank=6),
    Column("state", "STATE", 23, most=28),
    Column("profile", "PROFILE", 9, most=22, rank=4),
    Column("tok_s", "tok/s", 8, is_number=True),
    Column("spark", "60 s", 10, most=44, rank=9),
    Column("requests", "RUN/QUE", 7, rank=5, is_number=True),
    Column("kv", "KV", 4, rank=7, is_number=True),
    Column("accept", "ACCEPT", 6, rank=8, is_number=True),
    Column("ttft", "TTFT p95", 8, rank=10, is_number=True),
    Column("load", "GPU", 4, rank=11, is_number=True),
    Column("gpu", "GPU mem", 9, rank=2, is_number=True),
    Column("age", "AGE", 4, is_number=True),
)
_OF_GPUS = {"lost": "GPU lost", "reset": "GPU reset", "fault": "GPU fault"}
LEAST_TROUBLE = 6
"""Cells that are enough to tell what is wrong with a GPU."""
AFTER_PROFILE = ("tok_s", "spark", "requests", "kv", "accept", "ttft", "load", "gpu")


def header(width: int) -> Row:
    """The column titles."""
    widths = shared_out(COLUMNS, width - MARK - 1)
    titles = [
        (right if column.is_number else fit)(column.title, widths[column.key])
        for column in COLUMNS
        if column.key in widths
    ]
    return ((" " * MARK + " ".join(titles), "heading"),)


def server_row(server: ServerState, view: View, width: int, number: int | None = None) -> Row:
    """One server in one line; `number` is the key that opens it."""
    widths = shared_out(COLUMNS, width - MARK - 1)
    host = view.fleet.host(server.host)
    is_chosen = server.name == view.server_name
    role = WORD_ROLES[server.word]
    mark = ("▸", "accent") if is_chosen else (str(number or " "), "heading")
    start: Row = (mark, (f"{SHAPES[server.word]} ", role))
    cells = _cells(server, host, view, widths)
    row = tuple(span for cell in cells for span in (*cell, (" ", "")))[:-1]
    if is_old_news(host):
        return (*start, *dimmed(row))
    return (*start, *row)


def _cells(server: ServerState, host: HostState | None, view: View, widths: Mapping[str, int]) -> list[Row]:
    is_chosen = server.name == view.server_name
    cells: list[Row] = [
        ((fit(server.name, widths["server"]), "strong" if is_chosen else ""),),
        *([((fit(server.host, widths["host"]), "dim"),)] if "host" in widths else []),
    ]
    rest = [key for key in AFTER_PROFILE if key in widths]
    sentence = _sentence(server, host, view.now)
    is_cramped = "spark" not in widths
    spare = widths["state"] - SHORT_STATE if sentence is not None and is_cramped else 0
    cells.append(_word(server, view.now, widths["state"] - spare))
    if sentence is not None and is_cramped and "profile" in widths:
        rest.insert(0, "profile")
    elif "profile" in widths:
        cells.append(_profile(server, widths["profile"]))
    keeps_memory = holds_memory(server) and "gpu" in rest
    if sentence is not None:
        text, its_role = sentence
        if keeps_memory:
            rest.remove("gpu")
        room = sum(widths[key] for key in rest) + max(len(rest) - 1, 0) + spare
        cells.append(((fit(text, room), its_role),))
        if keeps_memory:
            cells.append(_number(gpu_memory(server, host), widths, "gpu"))
    else:
        cells += _numbers(server, host, view.now, {key: widths[key] for key in rest})
    cells.append((age_cell(host, view.now, widths["age"]),))
    return cells


def holds_memory(server: ServerState) -> bool:
    """Beside the sentence stands what it holds: it serves, or a start waits until that is free."""
    is_there = server.word in (Word.UNHEALTHY, Word.STALLED, Word.BLOCKED, Word.STOPPING)
    return is_there and server.gpu_memory_mib is not None


def _word(server: ServerState, now: float, width: int) -> Row:
    """`ready 3h12 ▲ too hot`: what its GPUs explain stands beside the word."""
    word, role = word_for(server, now), WORD_ROLES[server.word]
    room = width - len(word) - 1
    if not server.gpu_troubles or room < LEAST_TROUBLE:
        return ((fit(word, width), role),)
    worst = server.gpu_troubles[0]
    mark, its_role = ("✖", "error") if worst.is_error else ("▲", "warning")
    return (f"{word} ", role), (fit(f"{mark} {_OF_GPUS.get(worst.kind, worst.kind)}", room), its_role)


def _sentence(server: ServerState, host: HostState | None, now: float) -> Span | None:
    act = running_act(server)
    if act is not None:
        return act_in_short(act, now), "starting"
    if server.word is Word.UNKNOWN and host is not None and host.waits_for:
        return host.waits_for, "warning"
    if server.word is Word.UNREACHABLE:
        was = f"; was {server.last_word.value}" if server.last_word not in (None, Word.UNKNOWN) else ""
        return f"{link_words(host, now) or explanation(server)}{was}", "warning"
    broken = broken_act(server)
    if broken is not None and server.word is Word.STOPPED:
        return act_line(broken, now), "error"
    if server.word is Word.UNHEALTHY and server.throughput is not None:
        return f"{_speed(server)} tok/s; {explanation(server)}", WORD_ROLES[server.word]
    if server.word in TROUBLED:
        return explanation(server), WORD_ROLES[server.word]
    if needs_key(server):
        return explanation(server), "warning"
    return None


def _profile(server: ServerState, width: int) -> Row:
    """Marked where the engine runs something else than it asks for, or warns."""
    name = server.profile_words or UNKNOWN
    mode = effective_mode(server) if mode_warning(server) else None
    if mode is not None:
        return ((fit(f"▲ {name} ≠ {mode}", width), "warning"),)
    warns = row_warning(server) is not None and not server.gpu_troubles
    return ((fit(f"▲ {name}" if warns else name, width), "warning" if warns else ""),)


def link_words(host: HostState | None, now: float) -> str:
    """`timed out (keepalive); retry in 12 s`; what its login waits for."""
    if host is not None and host.waits_for:
        return host.waits_for
    if host is None or not host.error:
        return ""
    if host.retry_at is None:
        return host.error
    wait = host.retry_at - now
    return f"{host.error}; retry in {wait:.0f} s" if wait >= 0.5 else f"{host.error}; trying now"


def _numbers(server: ServerState, host: HostState | None, now: float, widths: Mapping[str, int]) -> list[Row]:
    is_starting = server.word is Word.STARTING
    speed = _ready_in(server, now, widths) or _speed(server)
    figures: dict[str, Row] = {
        "tok_s": ((right(speed, widths["tok_s"]), "strong" if server.word is Word.READY else ""),),
        "requests": _number(_requests(server), widths, "requests"),
        "kv": _number(percent(None if server.kv_usage is None else server.kv_usage * 100), widths, "kv"),
        "accept": _number(UNKNOWN if server.accept_length is None else f"{server.accept_length:.2f}", widths, "accept"),
        "ttft": _number(_ttft(server), widths, "ttft"),
        "load": _number(percent(_load(server, host)), widths, "load"),
        "gpu": _number(gpu_memory(server, host), widths, "gpu"),
    }
    if "spark" in widths:
        figures["spark"] = (
            _loading(server, now, widths["spark"]) if is_starting else _spark(server, now, widths["spark"])
        )
    return [figures[key] for key in widths]


def _number(text: str, widths: Mapping[str, int], key: str) -> Row:
    return ((right(text, widths.get(key, 0)), "dim" if text == UNKNOWN else ""),)


def _ready_in(server: ServerState, now: float, widths: Mapping[str, int]) -> str:
    """`in 7m43s`: when it is ready, where the bar has no room to say so; it is worth more than which shard is read."""
    whole = eta_of(server, now) if widths.get("spark", 0) < LEAST_WITH_ETA else None
    return f"in {lasted(whole.seconds)}" if whole is not None and whole.seconds > 0 else ""


def _speed(server: ServerState) -> str:
    progress = server.story.progress if server.story is not None else None
    if server.word is Word.STARTING:
        return f"{progress.done}/{progress.total}" if progress is not None else UNKNOWN
    return rate(server.throughput.tok_s if server.throughput is not None else None)


def _loading(server: ServerState, now: float, width: int) -> Row:
    """Of the whole start where its length is known, else of the bar that moves; never full before it is ready."""
    progress = server.story.progress if server.story is not None else None
    whole = eta_of(server, now)
    share = share_of(server, whole, now)
    if share is None and progress is None:
        return ((" " * width, ""),)
    seconds = whole.seconds if whole is not None else progress.eta_seconds if progress is not None else None
    eta = f" in {lasted(seconds)}" if seconds is not None and width >= LEAST_WITH_ETA else ""
    done = share if share is not None else progress.percent / 100 if progress is not None else 0.0
    return (
        *bar(min(done, MOST_BEFORE_READY), width - ETA if eta else width),
        *(((right(eta, ETA), "dim"),) if eta else ()),
    )


def _spark(server: ServerState, now: float, width: int) -> Row:
    return ((over_time(server.throughput_history, now, width=width, seconds=60.0, headroom=HEADROOM), "spark-calm"),)


def _requests(server: ServerState) -> str:
    if server.requests_running is None and server.requests_queued is None:
        return UNKNOWN
    return f"{count(server.requests_running)}/{count(server.requests_queued)}"


def _ttft(server: ServerState) -> str:
    told = server.serving.ttft if server.serving is not None else None
    return latency(told.p95) if told is not None else UNKNOWN


def _load(server: ServerState, host: HostState | None) -> float | None:
    """Mean utilisation of the GPUs on which it runs; unknown where that is not told."""
    mine = [gpu for gpu in host.gpus if any(each.server == server.name for each in gpu.processes)] if host else []
    told = [gpu.utilization_percent for gpu in mine if gpu.utilization_percent is not None]
    return sum(told) / len(told) if told else None


def gpu_memory(server: ServerState, host: HostState | None) -> str:
    """`272/765G`; unknown where it is not known that the server holds any."""
    return UNKNOWN if server.gpu_memory_mib is None else memory(server.gpu_memory_mib, total_mib(server, host))


def total_mib(server: ServerState, host: HostState | None) -> int | None:
    """The memory of the GPUs that this server uses, of all GPUs of the host where that is not known."""
    if host is None or not host.gpus:
        return None
    used = [gpu for gpu in host.gpus if any(process.server == server.name for process in gpu.processes)]
    totals = [gpu.memory_total_mib for gpu in used or host.gpus if gpu.memory_total_mib is not None]
    return sum(totals) if totals else None


def age_cell(host: HostState | None, now: float, width: int) -> Span:
    """`live`, or how old what is shown is."""
    seconds = heard_ago(host, now)
    if host is not None and host.link == "up" and seconds is not None and seconds < 5:
        return right("live", width), "dim"
    return right(age(seconds), width), "warning" if is_old_news(host) else "dim"


def window(names: Sequence[str], chosen: str | None, room: int, top: int = 0) -> slice:
    """Which rows to show so that the chosen one is in sight; they move no further from `top` than that takes."""
    if len(names) <= room:
        return slice(0, len(names))
    index = names.index(chosen) if chosen in names else 0
    start = min(max(index - room + 1, min(top, index), 0), len(names) - room)
    return slice(start, start + room)
