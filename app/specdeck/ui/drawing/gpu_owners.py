"""Whose a GPU is: servers by name and rank, everybody else by process, pid, memory and user."""

from collections.abc import Iterable, Sequence

from specdeck.late_pattern import late_pattern
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.gpu_warnings import is_stranger, ranges
from specdeck.ui.drawing.spans import Row
from specdeck.ui.drawing.words import UNKNOWN

RANK = late_pattern(r"\b(?:TP|PP|DP|EP)\d+|(?<=_)(?:TP|PP|DP|EP)\d+")
MOST_STRANGERS = 2


def owners(gpu: Gpu) -> Row:
    """`kimi TP3`, then strangers, the largest first; a stranger beside a server is a warning, one alone is not."""
    servers = dict.fromkeys(_owner(process) for process in gpu.processes if process.server)
    spans: list[tuple[str, str]] = [(", ".join(servers), "")] if servers else []
    strangers = sorted(others(gpu), key=lambda process: -(process.memory_mib or 0))
    for process in strangers[:MOST_STRANGERS]:
        is_worth_a_word = process.is_orphan or (bool(servers) and is_stranger(process))
        words = f"  +{_beside(process)}" if spans else process_words(process)
        spans.append((words, "warning" if is_worth_a_word else "dim"))
    if rest := strangers[MOST_STRANGERS:]:
        spans.append((f"  +{len(rest)} more {memory_of(_sum(rest))}", "dim"))
    return tuple(spans)


def others(gpu: Gpu) -> list[GpuProcess]:
    """The processes that belong to no server."""
    return [process for process in gpu.processes if process.server is None]


def process_words(process: GpuProcess) -> str:
    """`python3 900 20G ana`; a pid of another namespace has no name here."""
    name = "pid" if process.name.startswith("[") or not process.name else process.name
    words = f"{name} {process.pid} {memory_of(process.memory_mib)}"
    is_known = process.is_seen or process.server is not None
    whose = f" {process.user}" if process.user else "" if is_known else " (not in this /proc)"
    return f"{'orphan ' if process.is_orphan else ''}{words}{whose}"


def _beside(process: GpuProcess) -> str:
    """`ana 20G python3 900`: beside a server the telling words come first."""
    who = "orphan" if process.is_orphan else process.user or "somebody"
    name = "" if process.name.startswith("[") else f" {process.name}"
    return f"{who} {memory_of(process.memory_mib)}{name} {process.pid}"


def shared_owners(gpus: Sequence[Gpu]) -> list[str]:
    """`kimi on 0-7`, for cells that have no room for it."""
    held: dict[str, list[int]] = {}
    for gpu in gpus:
        for name in dict.fromkeys(process.server or process.name for process in gpu.processes):
            held.setdefault(name, []).append(gpu.index)
    return [f"{name} on {ranges(numbers)}" for name, numbers in held.items()]


def memory_of(mib: int | None) -> str:
    """`61G` or `640M`."""
    if mib is None:
        return UNKNOWN
    return f"{mib / 1024:.0f}G" if mib >= 1024 else f"{mib}M"


def _owner(process: GpuProcess) -> str:
    """`kimi TP3` where the process says its rank."""
    rank = RANK.search(process.name)
    return f"{process.server} {rank.group()}" if rank else str(process.server)


def _sum(processes: Iterable[GpuProcess]) -> int | None:
    known = [process.memory_mib for process in processes if process.memory_mib is not None]
    return sum(known) if known else None
