"""What of a server's numbers is of now, for its history. Pure."""

from specdeck.quick_dataclass import replace
from specdeck.state.gpu_snapshot import Gpu
from specdeck.state.history import History, MarkName, SeriesName
from specdeck.state.snapshot import Act, HostState, ServerState, Word

FRESH_SECONDS = 12.0
"""What was told longer ago is not of now: the plot has a gap there."""
_MARKED: dict[Word, MarkName] = {Word.READY: "ready", Word.CRASHED: "crashed", Word.STALLED: "stalled"}
_ACTS: tuple[MarkName, ...] = ("pivot", "relaunch", "launch", "stop")


def sampled(server: ServerState, host: HostState | None, at: float) -> ServerState:
    """With a sample in its history, where one is due."""
    if not server.history.is_due(at):
        return server
    return replace(server, history=server.history.with_values(_values(server, host, at), at))


def marked_word(server: ServerState, at: float) -> History:
    """Its history with a mark, where its new word is worth one."""
    name = _MARKED.get(server.word)
    return server.history if name is None else server.history.with_mark(name, at)


def marked_act(server: ServerState, act: Act | None) -> History:
    """Its history with a mark where an act begins; one that was over when it was first seen is of before."""
    old = server.act
    is_new = act is not None and not act.is_over and (old is None or (old.began, old.kind) != (act.began, act.kind))
    name = next((name for name in _ACTS if act is not None and name == act.kind), None)
    if act is None or not is_new or name is None:
        return server.history
    return server.history.with_mark(name, act.began)


def gpus_of(server: ServerState, host: HostState | None) -> tuple[Gpu, ...]:
    """The GPUs on which its processes are."""
    if host is None:
        return ()
    return tuple(gpu for gpu in host.gpus if any(process.server == server.name for process in gpu.processes))


def _values(server: ServerState, host: HostState | None, at: float) -> dict[SeriesName, float]:
    if server.word is Word.UNREACHABLE:
        return {}
    told: dict[SeriesName, float | None] = {**_load(server, at), **_gpu_values(server, host, at)}
    return {name: value for name, value in told.items() if value is not None}


def _load(server: ServerState, at: float) -> dict[SeriesName, float | None]:
    rate = server.throughput
    batch_at = server.story.batch_at if server.story is not None else None
    told_at = max((moment for moment in (server.load_at, batch_at) if moment is not None), default=None)
    is_fresh = told_at is not None and at - told_at <= FRESH_SECONDS
    percent = None if server.kv_usage is None else 100 * server.kv_usage
    return {
        "tok_s": rate.tok_s if rate is not None and at - rate.at <= FRESH_SECONDS else None,
        "running": server.requests_running if is_fresh else None,
        "queued": server.requests_queued if is_fresh else None,
        "kv": percent if is_fresh else None,
        "accept": server.accept_length if is_fresh else None,
    }


def _gpu_values(server: ServerState, host: HostState | None, at: float) -> dict[SeriesName, float | None]:
    if host is None or host.gpus_at is None or at - host.gpus_at > FRESH_SECONDS:
        return {}
    gpus = gpus_of(server, host)
    loads = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    watts = [gpu.power_w for gpu in gpus if gpu.power_w is not None]
    return {
        "gpu_load": sum(loads) / len(loads) if loads and len(loads) == len(gpus) else None,
        "gpu_power": sum(watts) if watts and len(watts) == len(gpus) else None,
    }
