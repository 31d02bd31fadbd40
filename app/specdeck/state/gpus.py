"""GPUs of a host: from rows of nvidia-smi, with their histories, processes and, where they have none, the host's memory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from specdeck.late_pattern import late_pattern
from specdeck.quick_dataclass import replace
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess, LostGpu
from specdeck.state.snapshot import HostState, ServerState

if TYPE_CHECKING:
    from specdeck.parsing.gpu_check import GpuCheck
    from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow

HISTORY_LENGTH = 120
SLOWED_SECONDS = 60.0
"""A throttle reason counts so long after it was seen last."""
_VIRTUAL = late_pattern(r"-\d{1,3}(?:-\d{1,3})?[ABCQ]\Z")
_NO_MEMORY_WORDS = ("[N/A]", "N/A", "[Not Supported]")


def is_virtual(name: str) -> bool:
    """A share that a hypervisor gave to this machine (`GRID A100D-40C`): heat, power and clocks belong to the other side."""
    return _VIRTUAL.search(name) is not None


def gpu_from_row(row: "GpuRow") -> Gpu:
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
        clock_mhz=row.clock_mhz,
        bus_id=row.bus_id,
        unreadable=row.unreadable,
    )


def process_from_row(row: "ProcessRow") -> GpuProcess:
    """A process on a GPU, not yet matched to a server."""
    return GpuProcess(row.pid, row.name, row.gpu_uuid, row.memory_mib)


def with_new_rows(host: HostState, rows: Iterable[Gpu], at: float = 0.0, lost: Iterable[LostGpu] = ()) -> HostState:
    """The newest rows; each GPU keeps its history, by its index and UUID. A lost one keeps its place and its processes."""
    before = {(gpu.index, gpu.uuid): gpu for gpu in host.gpus}
    gpus = [_continued(row, before.get((row.index, row.uuid)), at) for row in rows]
    gpus += _lost_gpus(host.gpus, gpus, tuple(lost))
    return _with_details(replace(host, gpus=tuple(sorted(gpus, key=lambda gpu: (gpu.index < 0, gpu.index)))))


def with_checkup(host: HostState, checkup: CheckUp) -> HostState:
    """A link counts only as it was under load: of an idle GPU the earlier one stays."""
    before = {check.uuid: check for check in host.checkup.checks} if host.checkup is not None else {}
    checks = tuple(_under_load(check, before.get(check.uuid)) for check in checkup.checks)
    xids = checkup.xids if checkup.xids is not None or host.checkup is None else host.checkup.xids
    return _with_details(replace(host, checkup=replace(checkup, checks=checks, xids=xids)))


def _under_load(check: "GpuCheck", before: "GpuCheck | None") -> "GpuCheck":
    if check.is_busy or before is None or not before.is_busy:
        return check
    return replace(check, link=before.link, utilization_percent=before.utilization_percent)


def _continued(row: Gpu, before: Gpu | None, at: float) -> Gpu:
    seen = {reason: when for reason, when in before.slowed_at.items() if at - when <= SLOWED_SECONDS} if before else {}
    seen |= dict.fromkeys(row.throttle, at)
    history = _longer(before.utilization_history if before else (), row.utilization_percent)
    return replace(row, utilization_history=history, slowed_at=seen, slowed=tuple(sorted(seen)))


def _lost_gpus(before: Sequence[Gpu], found: Sequence[Gpu], lost: Sequence[LostGpu]) -> list[Gpu]:
    """Each by its bus id as it was known; never known, by the one gap in the numbers, else without a number (below 0)."""
    known = {gpu.bus_id: gpu for gpu in before if gpu.bus_id}
    taken = {gpu.index for gpu in found} | {known[each.bus_id].index for each in lost if each.bus_id in known}
    gaps = sorted(set(range(max(taken, default=-1))) - taken)
    strange = [each for each in lost if each.bus_id not in known]
    numbers = gaps if len(gaps) == len(strange) else [-1 - place for place in range(len(strange))]
    numbered = {each.bus_id: number for each, number in zip(strange, numbers, strict=True)}
    return [_lost_gpu(each, known.get(each.bus_id), numbered.get(each.bus_id, -1)) for each in lost]


def _lost_gpu(lost: LostGpu, before: Gpu | None, number: int) -> Gpu:
    if before is None:
        return Gpu(number, "", "", bus_id=lost.bus_id, lost=lost.words)
    history = before.utilization_history
    return Gpu(before.index, before.uuid, before.name, bus_id=lost.bus_id, lost=lost.words, utilization_history=history)


def with_processes(host: HostState, processes: Iterable[GpuProcess], servers: Iterable[ServerState]) -> HostState:
    """Every process on its GPU and with its server, by the families of the servers of this host."""
    owners = {pid: server.name for server in servers if server.host == host.name for pid in family_of(server)}
    lost = {gpu.uuid for gpu in host.gpus if gpu.lost and gpu.uuid}
    told = tuple(processes)
    kept = tuple(each for each in host.processes if each.gpu_uuid in lost and each.pid in owners and each not in told)
    known = tuple(replace(process, server=owners.get(process.pid)) for process in (*told, *kept))
    return _with_details(replace(host, processes=known))


def with_host_memory(host: HostState, total_mib: int | None, available_mib: int | None) -> HostState:
    """The host's own memory, which is also that of its unified GPUs."""
    return _with_details(replace(host, memory_total_mib=total_mib, memory_available_mib=available_mib))


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


def _with_details(host: HostState) -> HostState:
    """Each GPU with its processes, its check, its links, its MIG instances, its Xids, and the host's memory where it has none."""
    if not host.gpus:
        return host
    by_gpu = _by_gpu(host)
    gpus = (_dressed(gpu, by_gpu.get(gpu.uuid, ()), host) for gpu in host.gpus)
    return replace(host, gpus=tuple(gpus) if host.checkup is None else _checked(tuple(gpus), host.checkup))


def _by_gpu(host: HostState) -> Mapping[str, tuple[GpuProcess, ...]]:
    """Processes of an instance are those of its GPU; a lone GPU without a UUID (Jetson) has them all."""
    homes = {each.uuid: each.gpu_uuid for each in host.checkup.instances} if host.checkup is not None else {}
    only = host.gpus[0].uuid if len(host.gpus) == 1 and not host.gpus[0].uuid else None
    found: dict[str, list[GpuProcess]] = {}
    for process in host.processes:
        home = only if only is not None else homes.get(process.gpu_uuid, process.gpu_uuid)
        if home.startswith("MIG-GPU-"):  # up to driver 460: MIG-GPU-.../1/0
            home = home.removeprefix("MIG-").partition("/")[0]
        found.setdefault(home, []).append(process)
    return {home: tuple(processes) for home, processes in found.items()}


def _checked(gpus: tuple[Gpu, ...], checkup: CheckUp) -> tuple[Gpu, ...]:
    checks = {(check.index, check.uuid): check for check in checkup.checks}
    best: dict[str, int] = {}
    for gpu in gpus:
        links = checkup.links.get(gpu.index)
        best[gpu.name] = max(best.get(gpu.name, 0), links.up if links is not None else 0)
    return tuple(
        replace(
            gpu,
            check=checks.get((gpu.index, gpu.uuid)),
            links=checkup.links.get(gpu.index),
            links_expected=best[gpu.name],
            instances=tuple(each for each in checkup.instances if each.gpu_uuid == gpu.uuid),
            xids=tuple(xid for xid in checkup.xids or () if xid.is_on(gpu.bus_id)),
        )
        for gpu in gpus
    )


def _dressed(gpu: Gpu, processes: tuple[GpuProcess, ...], host: HostState) -> Gpu:
    """With its processes; without memory of its own, with the host's size and what its processes use."""
    has_none = all(gpu.unreadable.get(name) in _NO_MEMORY_WORDS for name in ("memory_used_mib", "memory_total_mib"))
    if not has_none or host.memory_total_mib is None:
        return gpu if gpu.processes == processes else replace(gpu, processes=processes)
    shares = [process.memory_mib for process in processes]
    known = [share for share in shares if share is not None]
    used = sum(known) if known and len(known) == len(shares) else None
    return replace(
        gpu, processes=processes, is_memory_unified=True, memory_used_mib=used, memory_total_mib=host.memory_total_mib
    )
