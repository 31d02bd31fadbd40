"""A row of nvidia-smi's process list with what /proc knows of it: whose it is, how old, and whether its server left it behind."""

from specdeck.engines.registry import ENGINES
from specdeck.parsing.nvidia_smi import ProcessRow
from specdeck.services.survey import Survey
from specdeck.state.gpu_snapshot import GpuProcess

WORKER_TITLES = tuple(title for engine in ENGINES.values() for title in engine.worker_titles)


def gpu_process(row: ProcessRow, survey: Survey, server: str | None, now: float) -> GpuProcess:
    """With `server`, where it is of a family that lives."""
    age, stat = survey.age_seconds(row.pid), survey.processes.get(row.pid)
    return GpuProcess(
        row.pid,
        row.name,
        row.gpu_uuid,
        row.memory_mib,
        server,
        user=survey.users.get(row.pid),
        since=None if age is None else now - age,
        start_time=stat.start_time if stat else None,
        is_left_behind=is_left_behind(row, survey),
    )


def is_left_behind(row: ProcessRow, survey: Survey) -> bool:
    """A worker by its title, whose parent is gone: the first process took it over, and is no engine itself (as in a container)."""
    stat, first = survey.processes.get(row.pid), survey.processes.get(1)
    if stat is None or stat.parent != 1:
        return False
    is_in_container_of_its_own = first is not None and first.name.lower().startswith(("python", "sglang", "vllm"))
    return not is_in_container_of_its_own and any(name.startswith(WORKER_TITLES) for name in (stat.name, row.name))
