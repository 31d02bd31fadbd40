"""A whole answer of nvidia-smi (`--format=csv`, with or without header and units, `-q -x`, its table) into rows and complaints."""

from collections.abc import Sequence

from specdeck.parsing.gpu_check import GpuCheck, check_row
from specdeck.parsing.mig import MigInstance, listed_instances
from specdeck.parsing.nvidia_smi import (
    ATTRIBUTES,
    GPU_FIELDS,
    PROCESS_FIELDS,
    GpuRow,
    ProcessRow,
    gpu_row,
    is_number_or_word,
    process_row,
    split_row,
)
from specdeck.parsing.nvidia_smi_complaints import Complaint, complaints, why_no_rows
from specdeck.parsing.nvidia_smi_table import is_table, table_checks, table_gpus, table_instances, table_processes
from specdeck.parsing.nvidia_smi_xml import is_xml, read_xml
from specdeck.quick_dataclass import dataclass

OWN_ORDERS = (GPU_FIELDS, *(GPU_FIELDS[:size] for size in range(len(GPU_FIELDS) - 1, 8, -1)))
"""What specdeck asks now, what a driver that knows less is asked, and what earlier versions asked."""
_PROCESS_ONLY = frozenset({"pid", "process_name", "used_gpu_memory", "used_memory"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of nvidia-smi said."""

    gpus: tuple[GpuRow, ...] = ()
    processes: tuple[ProcessRow, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    has_header: bool = False
    checks: tuple[GpuCheck, ...] = ()
    """What else of each GPU is worth a word; only where it was asked."""
    instances: tuple[MigInstance, ...] = ()


def read_answer(
    text: str, fields: Sequence[str] | None = None, *, stderr: str = "", exit_code: int | None = None
) -> Answer:
    """Without a header, the columns are `fields`, else specdeck's own request orders, told apart by what fits."""
    if is_xml(text):
        xml = read_xml(text)
        return Answer(xml.gpus, xml.processes, complaints(text), True, xml.checks, xml.instances)
    if is_table(text):
        instances = table_instances(text)
        return Answer(table_gpus(text), table_processes(text), complaints(text), True, table_checks(text), instances)
    if listed := listed_instances(text):
        return Answer(complaints=complaints(text), has_header=True, instances=listed)
    lines = [line for line in text.lstrip("\ufeff").split("\n") if line.strip()]
    header = next((number for number, line in enumerate(lines) if header_fields(line)), None)
    if header is not None:
        fields = header_fields(lines[header])
        lines = lines[header + 1 :]
    gpus, processes = _rows(lines, fields)
    said = complaints(f"{text}\n{stderr}")
    is_silence_fine = header is not None or _is_about_processes(fields)
    if not (gpus or processes or said) and not (is_silence_fine and not exit_code):
        said = (why_no_rows(f"{text}\n{stderr}", exit_code),)
    checks = _check_rows(lines, fields) if header is not None and fields else ()
    return Answer(gpus, processes, said, header is not None, checks)


def header_fields(line: str) -> tuple[str, ...]:
    """The field names of a header line, without `[MiB]`; empty: it is no header."""
    names = tuple(cell.split("[")[0].strip() for cell in line.split(","))
    known = sum(name in ATTRIBUTES or name in _PROCESS_ONLY for name in names)
    return names if known >= min(2, len(names)) else ()


def _is_about_processes(fields: Sequence[str] | None) -> bool:
    return fields is not None and not _PROCESS_ONLY.isdisjoint(fields)


def _rows(lines: Sequence[str], fields: Sequence[str] | None) -> tuple[tuple[GpuRow, ...], tuple[ProcessRow, ...]]:
    if fields is None:
        own = (_gpu_rows([line for line in lines if _fits(line, order)], order) for order in OWN_ORDERS)
        gpus = next((found for found in own if found), ())
        return (gpus, ()) if gpus else ((), _process_rows(lines, PROCESS_FIELDS))
    if _is_about_processes(fields):
        return (), _process_rows(lines, fields)
    return _gpu_rows(lines, fields), ()


def _gpu_rows(lines: Sequence[str], fields: Sequence[str]) -> tuple[GpuRow, ...]:
    return tuple(row for line in lines if (row := gpu_row(line, fields)))


def _process_rows(lines: Sequence[str], fields: Sequence[str]) -> tuple[ProcessRow, ...]:
    return tuple(row for line in lines if (row := process_row(line, fields)))


def _check_rows(lines: Sequence[str], fields: Sequence[str]) -> tuple[GpuCheck, ...]:
    return tuple(check for line in lines if (check := check_row(line, fields)))


def _fits(line: str, fields: Sequence[str]) -> bool:
    """Whether each column holds what its field says: a row without a header may be in somebody else's order."""
    cells = split_row(line, fields)
    return bool(cells) and all(is_number_or_word(name, cell) for name, cell in cells.items())
