"""The GPUs of a host at one moment, with the processes on them and what is wrong: frozen, replaced, compared by identity."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from specdeck.quick_dataclass import dataclass

if TYPE_CHECKING:  # the first frame shows a state without GPUs and does not wait for their parsers
    from specdeck.parsing.gpu_check import GpuCheck
    from specdeck.parsing.mig import MigInstance
    from specdeck.parsing.nvlink import NvLinks
    from specdeck.parsing.xid import Xid


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds GPU memory, by nvidia-smi's word."""

    pid: int
    name: str
    gpu_uuid: str
    memory_mib: int | None = None
    server: str | None = None
    """The server of whose family it is; None: a stranger."""
    user: str | None = None
    since: float | None = None
    """When it began, unix seconds by specdeck's clock."""
    start_time: int | None = None
    """With the pid its identity."""
    is_left_behind: bool = False
    """An engine's worker whose parent is gone."""

    @property
    def is_seen(self) -> bool:
        """It is in the host's /proc; else nvidia-smi counts in another namespace, as it does in a container."""
        return self.start_time is not None

    @property
    def is_orphan(self) -> bool:
        """It belongs to no server that lives: whoever may can end it."""
        return self.is_left_behind and self.server is None


@dataclass(frozen=True, slots=True)
class LostGpu:
    """One that nvidia-smi names in a sentence instead of a row."""

    bus_id: str
    words: str
    """`GPU 1A:00.0 lost, reboot needed`."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong with a GPU."""

    kind: str
    """In at most twelve letters, for a table row: `lost`, `Xid 79`, `ECC`, `too hot`, `power brake`, `PCIe`, `stranger`."""
    words: str
    """`a memory repair is pending: it needs a reset of the GPU`."""
    is_error: bool = False
    """The GPU is broken, not only slow."""
    host: str = ""
    """Of the rank whose GPU it is, where that is on another host than the server's head."""


@dataclass(frozen=True, slots=True, eq=False)
class CheckUp:
    """What is asked every few minutes, of all GPUs of a host."""

    at: float
    checks: "tuple[GpuCheck, ...]" = ()
    links: "Mapping[int, NvLinks]" = field(default_factory=dict)
    """By the GPU's index."""
    instances: "tuple[MigInstance, ...]" = ()
    xids: "tuple[Xid, ...] | None" = None
    """None: the kernel's log may not be read, so nothing is claimed."""


@dataclass(frozen=True, slots=True, eq=False)
class Gpu:
    """One GPU by nvidia-smi's word; a field that cannot be read is None and its word is in `unreadable`."""

    index: int
    uuid: str
    name: str
    utilization_percent: float | None = None
    memory_used_mib: int | None = None
    memory_total_mib: int | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    throttle: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    utilization_history: tuple[float, ...] = ()
    """Newest last, bounded; for the sparkline."""
    processes: tuple[GpuProcess, ...] = ()
    is_memory_unified: bool = False
    """It uses the host's memory: size from /proc/meminfo, use from its processes."""
    clock_mhz: int | None = None
    bus_id: str = ""
    lost: str = ""
    """Why nvidia-smi has no row of it any more; then all numbers are unknown."""
    slowed_at: Mapping[str, float] = field(default_factory=dict)
    """When each throttle reason was last seen, unix seconds: they flicker from sample to sample."""
    slowed: tuple[str, ...] = ()
    """The throttle reasons of the last minute."""
    check: "GpuCheck | None" = None
    """Its PCIe link is as it was when the GPU was last seen busy."""
    links: "NvLinks | None" = None
    links_expected: int = 0
    """How many NVLinks the best connected GPU of its kind on this host has up."""
    instances: "tuple[MigInstance, ...]" = ()
    xids: "tuple[Xid, ...]" = ()
