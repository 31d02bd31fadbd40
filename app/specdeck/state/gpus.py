"""GPUs of a host: from rows of nvidia-smi, with their histories, processes and, where they have none, the host's memory."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow
from specdeck.state.snapshot import Gpu, GpuProcess, HostState, ServerState

HISTORY_LENGTH = 120
_FAULT_WORDS = ("GPU requires reset", "ERR!", "GPU is lost")
_NO_MEMORY_WORDS = ("[N/A]", "N/A", "[Not Supported]")


def gpu_from_row(row: GpuRow) -> Gpu:
    """A GPU without history and processes: `reduce` fills them in."""
    return Gpu(
        index=row.index,
        uuid=row.uuid,
        name=row.name,
        utilization_percent=row.utilization_percent,
        memory_used_mib=row.memory_used_mib,
        memory_total_mib=row.memory_total_mib,
        temperature_c=row.temperature_c,
        power_w=row.power_w,
        power_limit_w=row.power_limit_w,
        throttle=row.throttle,
        unreadable=row.unreadable,
    )


def process_from_row(row: ProcessRow) -> GpuProcess:
    """A process on a GPU, not yet matched to a server."""
    return GpuProcess(row.pid, row.name, row.gpu_uuid, row.memory_mib)


def fault_of(gpu: Gpu) -> str | None:
    """The word that makes a GPU faulty; `[N/A]` and `[Not Supported]` are only gaps."""
    words = gpu.unreadable.values()
    return next((word.strip("[]") for word in words if any(fault in word for fault in _FAULT_WORDS)), None)


def with_new_rows(host: HostState, rows: Iterable[Gpu]) -> HostState:
    """The newest rows; each GPU keeps its history, by its index and UUID."""
    before = {(gpu.index, gpu.uuid): gpu.utilization_history for gpu in host.gpus}
    gpus = (
        replace(row, utilization_history=_longer(before.get((row.index, row.uuid), ()), row.utilization_percent))
        for row in rows
    )
    return _with_memory(replace(host, gpus=tuple(sorted(gpus, key=lambda gpu: gpu.index))))


def with_processes(host: HostState, processes: Iterable[GpuProcess], servers: Iterable[ServerState]) -> HostState:
    """Every process on its GPU and with its server, by the families of the servers of this host."""
    owners = {pid: server.name for server in servers if server.host == host.name for pid in family_of(server)}
    known = tuple(replace(process, server=owners.get(process.pid)) for process in processes)
    return _with_memory(replace(host, processes=known))


def with_host_memory(host: HostState, total_mib: int | None, available_mib: int | None) -> HostState:
    """The host's own memory, which is also that of its unified GPUs."""
    return _with_memory(replace(host, memory_total_mib=total_mib, memory_available_mib=available_mib))


def family_of(server: ServerState) -> frozenset[int]:
    """The pids that live for a server."""
    process = server.evidence.process
    own = {process.pid} if process.pid is not None and process.state == "alive" else set()
    return frozenset({*process.family, *own})


def memory_of(server: ServerState, host: HostState) -> int | None:
    """What its family holds on all GPUs; None: nobody lives, or one of them cannot be read."""
    if not family_of(server):
        return None
    shares = [process.memory_mib for process in host.processes if process.server == server.name]
    known = [share for share in shares if share is not None]
    return sum(known) if shares and len(known) == len(shares) else None


def _longer(history: tuple[float, ...], percent: float | None) -> tuple[float, ...]:
    return history if percent is None else (*history, percent)[-HISTORY_LENGTH:]


def _with_memory(host: HostState) -> HostState:
    by_gpu: dict[str, tuple[GpuProcess, ...]] = {}
    for process in host.processes:
        by_gpu[process.gpu_uuid] = (*by_gpu.get(process.gpu_uuid, ()), process)
    return replace(host, gpus=tuple(_dressed(gpu, by_gpu, host) for gpu in host.gpus))


def _dressed(gpu: Gpu, by_gpu: Mapping[str, tuple[GpuProcess, ...]], host: HostState) -> Gpu:
    """With its processes; without memory of its own, with the host's size and what its processes use."""
    processes = by_gpu.get(gpu.uuid, ())
    has_none = all(gpu.unreadable.get(name) in _NO_MEMORY_WORDS for name in ("memory_used_mib", "memory_total_mib"))
    if not has_none or host.memory_total_mib is None:
        return replace(gpu, processes=processes)
    shares = [process.memory_mib for process in processes]
    known = [share for share in shares if share is not None]
    used = sum(known) if known and len(known) == len(shares) else None
    return replace(
        gpu, processes=processes, is_memory_unified=True, memory_used_mib=used, memory_total_mib=host.memory_total_mib
    )
