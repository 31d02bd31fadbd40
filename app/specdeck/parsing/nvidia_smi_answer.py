"""A whole answer of nvidia-smi (`--format=csv`, with or without header and units, or its table) into rows and complaints."""

from collections.abc import Sequence
from dataclasses import dataclass

from specdeck.parsing.nvidia_smi import (
    ATTRIBUTES,
    GPU_FIELDS,
    PROCESS_FIELDS,
    GpuRow,
    ProcessRow,
    gpu_row,
    process_row,
)
from specdeck.parsing.nvidia_smi_complaints import Complaint, complaints, why_no_rows
from specdeck.parsing.nvidia_smi_table import is_table, table_gpus, table_processes

_PROCESS_ONLY = frozenset({"pid", "process_name", "used_gpu_memory", "used_memory"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of nvidia-smi said."""

    gpus: tuple[GpuRow, ...] = ()
    processes: tuple[ProcessRow, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    has_header: bool = False


def read_answer(
    text: str, fields: Sequence[str] | None = None, *, stderr: str = "", exit_code: int | None = None
) -> Answer:
    """Without a header, the columns are `fields`, else specdeck's own request orders, told apart by what fits."""
    if is_table(text):
        return Answer(table_gpus(text), table_processes(text), complaints(text), has_header=True)
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
    return Answer(gpus, processes, said, header is not None)


def header_fields(line: str) -> tuple[str, ...]:
    """The field names of a header line, without `[MiB]`; empty: it is no header."""
    names = tuple(cell.split("[")[0].strip() for cell in line.split(","))
    known = sum(name in ATTRIBUTES or name in _PROCESS_ONLY for name in names)
    return names if known >= min(2, len(names)) else ()


def _is_about_processes(fields: Sequence[str] | None) -> bool:
    return fields is not None and not _PROCESS_ONLY.isdisjoint(fields)


def _rows(lines: Sequence[str], fields: Sequence[str] | None) -> tuple[tuple[GpuRow, ...], tuple[ProcessRow, ...]]:
    if fields is None:
        gpus = _gpu_rows(lines, GPU_FIELDS) or _gpu_rows(lines, GPU_FIELDS[:-1])
        return (gpus, ()) if gpus else ((), _process_rows(lines, PROCESS_FIELDS))
    if _is_about_processes(fields):
        return (), _process_rows(lines, fields)
    return _gpu_rows(lines, fields), ()


def _gpu_rows(lines: Sequence[str], fields: Sequence[str]) -> tuple[GpuRow, ...]:
    return tuple(row for line in lines if (row := gpu_row(line, fields)))


def _process_rows(lines: Sequence[str], fields: Sequence[str]) -> tuple[ProcessRow, ...]:
    return tuple(row for line in lines if (row := process_row(line, fields)))
