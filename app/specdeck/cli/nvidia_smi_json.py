"""What `inspect` prints of an nvidia-smi reply: unreadable fields are null, and their word is kept beside them."""

from collections.abc import Iterator

from specdeck.parsing.mig import MigInstance
from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow
from specdeck.parsing.nvidia_smi_answer import Answer, header_fields, read_answer
from specdeck.parsing.nvidia_smi_complaints import Complaint, complaints
from specdeck.parsing.nvidia_smi_table import is_table
from specdeck.parsing.nvidia_smi_xml import is_xml
from specdeck.state.gpu_snapshot import Trouble
from specdeck.state.gpu_troubles import row_troubles

Json = dict[str, object]
_PROMPT_LINES = 4
"""So many lines of a shell may stand before a pasted answer."""
_OTHER_LINES = 12
"""A log that begins with the table of its start script has more lines that are none of the table."""


def answer_in(text: str) -> Answer | None:
    """The reply, if this text is one: a table, XML, a header or rows come first, or a sentence that only nvidia-smi says."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    others = sum(not line.lstrip().startswith(("|", "+")) for line in lines)
    if is_xml(text) or (is_table(text) and others <= _OTHER_LINES):
        return read_answer(text)
    beginning = lines[:_PROMPT_LINES]
    if any("NVSMI LOG" in line for line in beginning):
        return Answer(complaints=(_FOR_PEOPLE,))
    is_listed = beginning[0].startswith("GPU ") and "(UUID: " in beginning[0]
    if is_listed or any(header_fields(line) or complaints(line) for line in beginning):
        return read_answer(text)
    rows = read_answer(lines[0])
    if any(_is_uuid(row.uuid) for row in rows.gpus) or any(_is_uuid(row.gpu_uuid) for row in rows.processes):
        return read_answer(text)
    return Answer(complaints=(_NO_ORDER,)) if _is_headless(lines[0]) else None


_NO_ORDER = Complaint("other", "rows without a header, in an order that specdeck does not know: keep the header line")

_FOR_PEOPLE = Complaint(
    "other", "the long form of `nvidia-smi -q` is not read: `nvidia-smi -q -x` says the same and is"
)


def _is_headless(line: str) -> bool:
    cells = [cell.strip() for cell in line.split(",")]
    return len(cells) > 2 and any(_is_uuid(cell) and len(cell) >= 40 for cell in cells)


def _is_uuid(word: str) -> bool:
    """Whether a column holds what it should: rows without a header may be in somebody else's order."""
    return word.startswith(("GPU-", "MIG-"))


def answer_json(answer: Answer) -> Json:
    """The whole reply."""
    return {
        "kind": "nvidia-smi",
        "gpus": [_gpu(row, _troubles(answer, row)) for row in answer.gpus],
        "instances": [_instance(each) for each in answer.instances],
        "processes": [_process(row) for row in answer.processes],
        "warnings": list(_warnings(answer)),
    }


def answer_words(answer: Answer) -> list[str]:
    """A line each."""
    return [
        *(_gpu_words(row) for row in answer.gpus),
        *(_instance_words(each) for each in answer.instances),
        *(
            f"pid {row.pid}  {_or_dash(row.memory_mib, 'MiB')}  {row.name}  {row.gpu_uuid}".rstrip()
            for row in answer.processes
        ),
        *(f"warning: {words}" for words in _warnings(answer)),
    ] or ["no rows"]


def _warnings(answer: Answer) -> Iterator[str]:
    """What nvidia-smi complains about, then what is wrong with each GPU."""
    yield from (complaint.sentence for complaint in answer.complaints)
    for row in answer.gpus:
        yield from (f"GPU {row.index}: {trouble.words}" for trouble in _troubles(answer, row))


def _troubles(answer: Answer, row: GpuRow) -> tuple[Trouble, ...]:
    check = next((check for check in answer.checks if check.index == row.index), None)
    return row_troubles(row.throttle, row.unreadable, check)


def _gpu(row: GpuRow, troubles: tuple[Trouble, ...]) -> Json:
    return {
        "index": row.index,
        "uuid": row.uuid or None,
        "name": row.name or None,
        "bus_id": row.bus_id or None,
        "utilization_percent": row.utilization_percent,
        "memory_used_mib": row.memory_used_mib,
        "memory_total_mib": row.memory_total_mib,
        "temperature_c": row.temperature_c,
        "power_w": row.power_w,
        "power_limit_w": row.power_limit_w,
        "clock_mhz": row.clock_mhz,
        "throttle": list(row.throttle),
        "warnings": [trouble.words for trouble in troubles],
        "unreadable": dict(row.unreadable),
    }


def _instance(each: MigInstance) -> Json:
    return {
        "gpu": each.gpu_uuid,
        "index": each.index,
        "name": each.name or None,
        "uuid": each.uuid or None,
        "memory_used_mib": each.memory_used_mib,
        "memory_total_mib": each.memory_total_mib,
        "pids": list(each.pids),
    }


def _process(row: ProcessRow) -> Json:
    return {"pid": row.pid, "name": row.name, "memory_mib": row.memory_mib, "gpu_uuid": row.gpu_uuid or None}


def _gpu_words(row: GpuRow) -> str:
    memory = f"{_or_dash(row.memory_used_mib)}/{_or_dash(row.memory_total_mib, 'MiB')}"
    words = f"GPU {row.index}  {row.name or '-'}  {_or_dash(row.utilization_percent, '%')}  {memory}"
    words += f"  {_or_dash(row.temperature_c, '°C')}  {_or_dash(row.power_w, 'W')}"
    words += f"  {row.clock_mhz} MHz" if row.clock_mhz is not None else ""
    words += f"  ({', '.join(row.throttle)})" if row.throttle else ""
    said = ", ".join(f"{name}: {word}" for name, word in row.unreadable.items())
    return words + (f"  (not readable: {said})" if said else "")


def _instance_words(each: MigInstance) -> str:
    memory = f"{_or_dash(each.memory_used_mib)}/{_or_dash(each.memory_total_mib, 'MiB')}"
    return f"MIG {each.index}  {each.name or '-'}  {memory}  on {each.gpu_uuid}"


def _or_dash(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:g} {unit}".rstrip()
