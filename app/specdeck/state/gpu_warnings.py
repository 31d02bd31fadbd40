"""What the GPUs of a server explain of it: their troubles, and strangers that hold memory on them."""

from collections.abc import Iterable, Iterator, Sequence

from specdeck.quick_dataclass import replace
from specdeck.state.gpu_snapshot import Gpu, GpuProcess, Trouble
from specdeck.state.gpu_troubles import troubles_of
from specdeck.state.snapshot import FleetState, HostState, ServerState, Word

STRANGER_MIB = 300
"""Less is a context that only looks: a monitor, a desktop."""
_AT_WORK = (Word.STARTING, Word.READY, Word.UNHEALTHY, Word.STALLED, Word.STOPPING)


def with_gpu_warnings(state: FleetState, host_name: str, at: float) -> FleetState:
    """The servers of a host, each with what its GPUs explain; the very same state where nothing is new."""
    host = state.host(host_name)
    if host is None:
        return state
    changed = {
        server.name: told
        for server in state.everyone
        if server.host == host_name and (told := _told(server, host, at)) is not server
    }
    if not changed:
        return state
    servers = tuple(changed.get(server.name, server) for server in state.servers)
    ranks = tuple(changed.get(server.name, server) for server in state.ranks)
    return replace(state, servers=tuple(_with_ranks(server, ranks) for server in servers), ranks=ranks)


def _with_ranks(head: ServerState, ranks: Sequence[ServerState]) -> ServerState:
    """The head of a group answers for all of it: what slows a rank slows the whole."""
    if head.group is None:
        return head
    own = tuple(trouble for trouble in head.gpu_troubles if not trouble.host)
    mine = (rank for rank in ranks if rank.group is not None and rank.group.name == head.group.name)
    theirs = tuple(
        replace(trouble, words=f"{rank.host}: {trouble.words}", host=rank.host)
        for rank in mine
        for trouble in rank.gpu_troubles
    )
    return replace(head, gpu_troubles=(*own, *theirs))


def server_troubles(server: ServerState, host: HostState, at: float) -> tuple[Trouble, ...]:
    """Of one that ended only what breaks a server, of one that works also what makes it slow; the worst first."""
    its = [gpu for gpu in host.gpus if gpu.uuid and gpu.uuid in server.gpu_uuids]
    is_at_work = server.word in _AT_WORK
    if not its or not (is_at_work or server.word is Word.CRASHED):
        return ()
    named = [trouble for trouble in named_troubles(its, at) if is_at_work or trouble.is_error]
    strangers = _strangers(its) if is_at_work else ()
    return tuple(sorted((*named, *strangers), key=lambda trouble: not trouble.is_error))


def named_troubles(gpus: Iterable[Gpu], at: float) -> tuple[Trouble, ...]:
    """What is wrong with these GPUs, each trouble once and with the numbers of all that have it; the worst first."""
    found: dict[Trouble, list[int]] = {}
    for gpu in gpus:
        for trouble in troubles_of(gpu, at):
            found.setdefault(trouble, []).append(gpu.index)
    named = (_on(trouble, numbers) for trouble, numbers in found.items())
    return tuple(sorted(named, key=lambda trouble: not trouble.is_error))


def _on(trouble: Trouble, numbers: Sequence[int]) -> Trouble:
    """`GPU 3: ...`; a lost GPU's own sentence names it already."""
    if trouble.kind == "lost":
        return trouble
    noun = "GPU" if len(numbers) == 1 else "GPUs"
    return replace(trouble, words=f"{noun} {ranges(numbers)}: {trouble.words}")


def ranges(numbers: Iterable[int]) -> str:
    """`0-3,5`."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def is_stranger(process: GpuProcess) -> bool:
    """Whether it takes a GPU from somebody: of no server, seen on this very host, and with more than a mere context."""
    return process.server is None and process.is_seen and (process.memory_mib or 0) >= STRANGER_MIB


def _strangers(gpus: Sequence[Gpu]) -> Iterator[Trouble]:
    for process, words in _holders(gpus):
        yield Trouble("orphan" if process.is_orphan else "stranger", f"{words} beside it")


def stranger_words(gpus: Sequence[Gpu]) -> list[str]:
    """`GPU 2: pid 4711 train.py of user bob holds 40.0 GiB for no server`, without an engine's own orphans."""
    return [f"{words} for no server" for process, words in _holders(gpus) if not process.is_orphan]


def _holders(gpus: Sequence[Gpu]) -> Iterator[tuple[GpuProcess, str]]:
    """One line a process, whatever number of GPUs it is on; the largest first."""
    held: dict[int, tuple[GpuProcess, int, list[int]]] = {}
    for gpu in gpus:
        for process in filter(is_stranger, gpu.processes):
            _, mib, numbers = held.get(process.pid, (process, 0, []))
            held[process.pid] = (process, mib + (process.memory_mib or 0), [*numbers, gpu.index])
    for process, mib, numbers in sorted(held.values(), key=lambda each: -each[1]):
        whose = f" of user {process.user}" if process.user else ""
        noun = "GPU" if len(numbers) == 1 else "GPUs"
        yield process, f"{noun} {ranges(numbers)}: pid {process.pid} {process.name}{whose} holds {mib / 1024:.1f} GiB"


def _told(server: ServerState, host: HostState, at: float) -> ServerState:
    held = tuple(gpu.uuid for gpu in host.gpus if any(each.server == server.name for each in gpu.processes))
    uuids = held or server.gpu_uuids
    if uuids != server.gpu_uuids:
        server = replace(server, gpu_uuids=uuids)
    troubles = (*server_troubles(server, host, at), *(each for each in server.gpu_troubles if each.host))
    return server if troubles == server.gpu_troubles else replace(server, gpu_troubles=troubles)
