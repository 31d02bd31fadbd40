"""Whether the GPUs that a command takes will have room once the old server is gone: what strangers hold stays."""

from collections.abc import Sequence

from specdeck.config.objects import Profile, Server
from specdeck.engines.base import GpuUse
from specdeck.engines.command import Command, flags_of
from specdeck.engines.registry import ENGINES
from specdeck.quick_dataclass import dataclass, replace
from specdeck.services.deck import Check
from specdeck.services.preflight.told import Told
from specdeck.services.runs import Look

_NAME = "GPU memory"
_CROWDED = 0.02
"""A part that strangers may hold without a word: a desktop, a monitoring agent."""
_MOST = 0.5
"""Beside more, an engine that takes nearly all of a GPU unless told otherwise dies while it starts, or has next to no cache."""
_UNNAMED_MIB = 2048
"""What driver and contexts use without a process is less."""


@dataclass(frozen=True, slots=True)
class _Gpu:
    index: int
    uuid: str
    total_mib: int
    used_mib: int
    ours_mib: int = 0
    strangers: tuple[tuple[int, int], ...] = ()
    """(pid, MiB)."""

    @property
    def held_mib(self) -> int:
        """By processes that are not this server's."""
        return sum(mib for _, mib in self.strangers)

    @property
    def unnamed_mib(self) -> int:
        """In use by no process that nvidia-smi names: another container, or memory that nobody gives back."""
        return max(0, self.used_mib - self.ours_mib - self.held_mib)


def check_gpu_memory(told: Told, server: Server, profile: Profile, command: Command, seen: Look) -> Check:
    """Failed where the command asks for more than strangers leave, or says nothing of it and they hold the most."""
    use = ENGINES[profile.engine].gpu_use(flags_of(command.argv))
    if use.count == 0:
        return Check(_NAME, "passed", "it runs without a GPU")
    gpus = _gpus(told, {member.pid for member in seen.members})
    if not gpus:
        return Check(_NAME, "unknown", "nvidia-smi does not answer on the host")
    taken = _taken(gpus, use, dict(command.env).get("CUDA_VISIBLE_DEVICES"))
    if taken is None:
        return Check(_NAME, "failed", _too_few(use, len(gpus)))
    return _judged(taken, use)


def _judged(taken: Sequence[_Gpu], use: GpuUse) -> Check:
    worst = max(taken, key=lambda gpu: gpu.held_mib / gpu.total_mib)
    free = min(gpu.total_mib - gpu.held_mib - gpu.unnamed_mib for gpu in taken)
    if use.memory_share is not None and worst.held_mib > (1 - use.memory_share) * worst.total_mib:
        room = int((1 - worst.held_mib / worst.total_mib) * 100) / 100
        return Check(
            _NAME,
            "failed",
            f"{_held(worst)}, and {use.share_flag} {use.memory_share:g} asks for more than is left: "
            f"end them, choose other GPUs (CUDA_VISIBLE_DEVICES), or set {use.share_flag} below {room:g}",
        )
    if use.memory_share is None and use.share_flag and worst.held_mib > _MOST * worst.total_mib:
        return Check(
            _NAME,
            "failed",
            f"{_held(worst)}, most of it: end them, choose other GPUs (CUDA_VISIBLE_DEVICES), "
            f"or say with {use.share_flag} what it may take of the rest",
        )
    if worst.held_mib > _CROWDED * worst.total_mib:
        return Check(_NAME, "unknown", f"{_held(worst)}; whether the rest is enough, only the start can tell")
    unnamed = max(taken, key=lambda gpu: gpu.unnamed_mib)
    if unnamed.unnamed_mib > _UNNAMED_MIB:
        return Check(
            _NAME,
            "unknown",
            f"GPU {unnamed.index}: {unnamed.unnamed_mib} MiB are in use by no process that can be seen (another container?)",
        )
    names = ", ".join(str(gpu.index) for gpu in taken)
    return Check(_NAME, "passed", f"at least {free} MiB will be free on each of GPU {names}")


def _held(gpu: _Gpu) -> str:
    pids = ", ".join(f"pid {pid}" for pid, _ in gpu.strangers)
    return f"GPU {gpu.index}: {gpu.held_mib} of {gpu.total_mib} MiB are held by others ({pids})"


def _too_few(use: GpuUse, count: int) -> str:
    return (
        f"the flags ask for {use.count} GPUs from number {use.first} on, and the server sees fewer of the host's {count}: "
        "change CUDA_VISIBLE_DEVICES or the parallel sizes"
    )


def _taken(gpus: Sequence[_Gpu], use: GpuUse, visible: str | None) -> Sequence[_Gpu] | None:
    """The GPUs that the command takes; None: there are not so many."""
    seen = gpus if visible is None else _visible(gpus, visible)
    if use.count is None:
        return seen or None
    chosen = seen[use.first :: use.step][: use.count]
    return chosen if len(chosen) == use.count else None


def _visible(gpus: Sequence[_Gpu], visible: str) -> Sequence[_Gpu]:
    """As CUDA reads it: numbers or beginnings of UUIDs, up to the first that is neither."""
    found: list[_Gpu] = []
    for word in (part.strip() for part in visible.split(",")):
        match = [gpu for gpu in gpus if word and (word == str(gpu.index) or gpu.uuid.startswith(word))]
        if not match:
            break
        found += match[:1]
    return found


def _gpus(told: Told, family: set[int]) -> tuple[_Gpu, ...]:
    """nvidia-smi's rows; a GPU without memory of its own (unified memory) or without numbers is left out."""
    rows = (_numbers(line, 4) for line in told.all("gpu"))
    gpus = {
        row[1]: _Gpu(int(row[0]), row[1], int(row[2]), int(row[3]))
        for row in rows
        if row and row[0].isdecimal() and row[2].isdecimal() and row[3].isdecimal() and int(row[2])
    }
    for uuid, pid, mib in _apps(told):
        if gpu := gpus.get(uuid):
            gpus[uuid] = (
                replace(gpu, ours_mib=gpu.ours_mib + mib)
                if pid in family
                else replace(gpu, strangers=(*gpu.strangers, (pid, mib)))
            )
    return tuple(gpus.values())


def _apps(told: Told) -> list[tuple[str, int, int]]:
    rows = (_numbers(line, 3) for line in told.all("app"))
    return [(row[0], int(row[1]), int(row[2])) for row in rows if row and row[1].isdecimal() and row[2].isdecimal()]


def _numbers(line: str, count: int) -> Sequence[str]:
    words = [word.strip() for word in line.split(",")]
    return words if len(words) == count else ()
