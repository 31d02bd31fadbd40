"""The eight simulated GPUs: what the engine's living processes hold. Imports little: it starts with every nvidia-smi."""

import os

from specdeck.demo.identity import TREE, is_alive

COUNT = 8
TOTAL_MIB = 143771
RESERVED_MIB = 615
CONTEXT_MIB = 10
"""What the driver holds besides the processes as soon as one is there."""
HOLDINGS = "gpu"
"""The folder of the tree where engines write `PID STARTTIME GPU MIB UTILIZATION` lines."""


class Holder:
    """A process with memory on a GPU."""

    __slots__ = ("gpu", "mib", "pid", "utilization")

    def __init__(self, pid: int, gpu: int, mib: int, utilization: int) -> None:
        self.pid, self.gpu, self.mib, self.utilization = pid, gpu, mib, utilization

    @property
    def name(self) -> str:
        """What the process calls itself now."""
        try:
            with open(f"/proc/{self.pid}/cmdline", "rb") as file:
                return file.read().split(b"\0", 1)[0].decode("utf-8", "replace") or "[Not Found]"
        except OSError:
            return "[Not Found]"


class Gpu:
    """One GPU at one moment."""

    __slots__ = ("holders", "index", "temperature", "used_mib", "utilization", "watts")

    def __init__(self, index: int, holders: list[Holder], wobble: int) -> None:
        self.index, self.holders = index, holders
        self.used_mib = min(TOTAL_MIB, sum(holder.mib for holder in holders) + (CONTEXT_MIB if holders else 0))
        busy = sum(holder.utilization for holder in holders)
        self.utilization = max(0, min(100, busy + wobble)) if busy else 0
        self.watts = 121.6 + 1.7 * index % 5 + 5.65 * self.utilization + (wobble / 10 if busy else 0)
        self.temperature = 33 + index % 4 + round(self.utilization * 0.19)

    @property
    def uuid(self) -> str:
        """Its name for ever."""
        return f"GPU-0000000{self.index}-1111-2222-3333-44445555666{self.index}"

    @property
    def bus_id(self) -> str:
        """Where it sits."""
        return f"00000000:{6 + self.index:02X}:00.0"


def look(at: float) -> list[Gpu]:
    """All GPUs; `at` lets the utilisation wobble as a sampled one does."""
    held: list[list[Holder]] = [[] for _ in range(COUNT)]
    for holder in _holders():
        held[holder.gpu % COUNT].append(holder)
    return [Gpu(index, held[index], _wobble(at, index)) for index in range(COUNT)]


def _holders() -> list[Holder]:
    folder = os.path.join(os.environ.get(TREE, "/nonexistent"), HOLDINGS)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [holder for name in names if name.isdigit() for holder in _read(os.path.join(folder, name))]


def _read(path: str) -> list[Holder]:
    try:
        with open(path, encoding="ascii") as file:
            rows = [[int(word) for word in line.split()] for line in file]
    except OSError:
        return []
    return [Holder(pid, gpu, mib, busy) for pid, started, gpu, mib, busy in rows if mib and is_alive(pid, started)]


def _wobble(at: float, index: int) -> int:
    """-3 to 3, another each half second and GPU: as samples differ."""
    return int((at * 2 + index * 7919) * 2654435761 % 4294967296 / 4294967296 * 7) - 3
