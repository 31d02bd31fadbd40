"""What `inspect` prints of an nvidia-smi reply: unreadable fields are null, and their word is kept beside them."""

from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow
from specdeck.parsing.nvidia_smi_answer import Answer, read_answer
from specdeck.parsing.nvidia_smi_complaints import complaints

Json = dict[str, object]


def answer_in(text: str) -> Answer | None:
    """The reply, if this text is one: rows or a header come first, or a sentence that only nvidia-smi says."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    first = read_answer(lines[0])
    is_in_own_order = any(_is_uuid(row.uuid) for row in first.gpus) or any(
        _is_uuid(row.gpu_uuid) for row in first.processes
    )
    return read_answer(text) if first.has_header or is_in_own_order or complaints(lines[0]) else None


def _is_uuid(word: str) -> bool:
    """Whether a column holds what it should: rows without a header may be in somebody else's order."""
    return word.startswith(("GPU-", "MIG-"))


def answer_json(answer: Answer) -> Json:
    """The whole reply."""
    return {
        "kind": "nvidia-smi",
        "gpus": [_gpu(row) for row in answer.gpus],
        "processes": [_process(row) for row in answer.processes],
        "warnings": [complaint.sentence for complaint in answer.complaints],
    }


def answer_words(answer: Answer) -> list[str]:
    """A line each."""
    return [
        *(_gpu_words(row) for row in answer.gpus),
        *(f"pid {row.pid}  {_or_dash(row.memory_mib, 'MiB')}  {row.name}  {row.gpu_uuid}" for row in answer.processes),
        *(f"warning: {complaint.sentence}" for complaint in answer.complaints),
    ] or ["no rows"]


def _gpu(row: GpuRow) -> Json:
    return {
        "index": row.index,
        "uuid": row.uuid or None,
        "name": row.name or None,
        "utilization_percent": row.utilization_percent,
        "memory_used_mib": row.memory_used_mib,
        "memory_total_mib": row.memory_total_mib,
        "temperature_c": row.temperature_c,
        "power_w": row.power_w,
        "power_limit_w": row.power_limit_w,
        "throttle": list(row.throttle),
        "unreadable": dict(row.unreadable),
    }


def _process(row: ProcessRow) -> Json:
    return {"pid": row.pid, "name": row.name, "memory_mib": row.memory_mib, "gpu_uuid": row.gpu_uuid or None}


def _gpu_words(row: GpuRow) -> str:
    memory = f"{_or_dash(row.memory_used_mib)}/{_or_dash(row.memory_total_mib, 'MiB')}"
    words = f"GPU {row.index}  {row.name or '-'}  {_or_dash(row.utilization_percent, '%')}  {memory}"
    words += f"  {_or_dash(row.temperature_c, '°C')}  {_or_dash(row.power_w, 'W')}"
    said = ", ".join(f"{name}: {word}" for name, word in row.unreadable.items())
    return words + (f"  (not readable: {said})" if said else "")


def _or_dash(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:g} {unit}".rstrip()
