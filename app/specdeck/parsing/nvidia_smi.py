"""Rows of nvidia-smi, read by position of the request: each field is readable or not by itself, and nothing ever raises.

What it says instead of rows is in `nvidia_smi_complaints`, whole answers are in `nvidia_smi_answer`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from specdeck.parsing.plain import plain
from specdeck.parsing.throttle import throttle_words
from specdeck.quick_dataclass import dataclass, replace

GPU_FIELDS = (
    "index",
    "uuid",
    "name",
    "utilization.gpu",
    "memory.used",
    "memory.total",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "clocks_event_reasons.active",
    "clocks.current.sm",
    "pci.bus_id",
)
"""What specdeck asks; all but the throttle reasons are known to every driver since 2014. New ones are put at the end."""
EARLIER_FIELDS = GPU_FIELDS[:10]
"""What specdeck asked before it asked for clocks and bus ids: recordings of that time hold such rows."""
PROCESS_FIELDS = ("gpu_uuid", "pid", "process_name", "used_gpu_memory")
"""The name is the only column with commas in it, so it has numbers and the UUID around it."""
OLDER_NAMES = {
    "clocks_event_reasons.active": "clocks_throttle_reasons.active",  # up to driver 535
    "power.draw.instant": "power.draw",
    "power.draw.average": "power.draw",
    "used_gpu_memory": "used_memory",
}

ATTRIBUTES: Mapping[str, str] = {
    "index": "index",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "name": "name",
    "gpu_name": "name",
    "utilization.gpu": "utilization_percent",
    "memory.used": "memory_used_mib",
    "memory.total": "memory_total_mib",
    "temperature.gpu": "temperature_c",
    "power.draw": "power_w",
    "power.draw.average": "power_w",
    "power.draw.instant": "power_w",
    "power.limit": "power_limit_w",
    "clocks_event_reasons.active": "throttle",
    "clocks_throttle_reasons.active": "throttle",
    "clocks.current.sm": "clock_mhz",
    "clocks.sm": "clock_mhz",
    "pci.bus_id": "bus_id",
    "gpu_bus_id": "bus_id",
}
"""From the names of the query (and of headers, where newer drivers say power.draw.average) to those of `GpuRow`."""
_FREE_TEXT = ("process_name", "name", "gpu_name")
_UNITS = re.compile(r"\s*(?:MiB|MHz|%|W|C)\Z")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?\Z")
_BUS_ID = re.compile(r"(?:(?P<domain>[0-9A-Fa-f]{4,8}):)?(?P<bus>[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\Z")
_EARLIER_END = re.compile(r", (?:0x[0-9A-F]{16}|\[[A-Za-z/ ]{1,40}\])\s*\Z")
_MASK = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")
EMPTY = "(empty)"
"""The word kept where nvidia-smi printed nothing at all."""


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU; what cannot be read is None and its word is in `unreadable`, by the attribute's name."""

    index: int
    uuid: str = ""
    name: str = ""
    utilization_percent: float | None = None
    memory_used_mib: int | None = None
    memory_total_mib: int | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    throttle: tuple[str, ...] = ()
    clock_mhz: int | None = None
    """Of the streaming multiprocessors, now."""
    bus_id: str = ""
    """`1A:00.0`."""
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process that holds GPU memory; `memory_mib` None: not readable."""

    gpu_uuid: str
    pid: int
    name: str
    memory_mib: int | None = None


def query_args(fields: Sequence[str] = GPU_FIELDS) -> tuple[str, ...]:
    """The arguments that ask for one row per GPU."""
    return (f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")


def process_query_args(fields: Sequence[str] = PROCESS_FIELDS) -> tuple[str, ...]:
    """The arguments that ask for one row per process on a GPU."""
    return (f"--query-compute-apps={','.join(fields)}", "--format=csv,noheader,nounits")


def without_field(fields: Sequence[str], unknown: str) -> tuple[str, ...]:
    """What to ask next of a driver that does not know a field: its older name in the same place, or nothing."""
    older = OLDER_NAMES.get(unknown)
    replacement = (older,) if older and older not in fields else ()
    return tuple(name for asked in fields for name in (replacement if asked == unknown else (asked,)))


def gpu_row(line: str, fields: Sequence[str] = GPU_FIELDS) -> GpuRow | None:
    """A row of the answer to `fields`; None: it is no such row (blank, cut off, a sentence, a header)."""
    return row_of(split_row(line, fields))


def earlier_row(line: str) -> GpuRow | None:
    """A row of an earlier recording, whole up to the last digit of its mask; None: it is none, or cut off."""
    return gpu_row(line, EARLIER_FIELDS) if _EARLIER_END.search(line) else None


def row_of(cells: Mapping[str, str]) -> GpuRow | None:
    """From the words of a query, by the names of its fields; None: they have no index."""
    index = whole(cells.get("index", ""))
    if index is None or index < 0:
        return None
    by_attribute: dict[str, str] = {}
    for name in (name for name in ATTRIBUTES if name in cells):
        by_attribute.setdefault(ATTRIBUTES[name], cells[name])
    return _row(index, by_attribute)


def process_row(line: str, fields: Sequence[str] = PROCESS_FIELDS) -> ProcessRow | None:
    """A row of the answer to `fields`, from both ends; None: it is no such row."""
    cells = split_row(line, fields)
    pid = whole(cells.get("pid", "")) if cells else None
    if pid is None or pid <= 0:
        return None
    memory = cells.get("used_gpu_memory", cells.get("used_memory", ""))
    name = cells.get("process_name", cells.get("name", ""))
    return ProcessRow(cells.get("gpu_uuid", ""), pid, name, whole(memory))


def split_row(line: str, fields: Sequence[str]) -> Mapping[str, str]:
    """Field by field, by position; the surplus commas belong to the free text; empty where the row is too short."""
    written = plain(line).split(",")
    parts = [part.strip() for part in written]
    surplus = len(parts) - len(fields)
    free = next((fields.index(name) for name in _FREE_TEXT if name in fields), None)
    if surplus < 0 or (surplus and free is None):
        return {}
    if surplus and free is not None:
        parts[free : free + surplus + 1] = [",".join(written[free : free + surplus + 1]).strip()]
    return dict(zip(fields, parts, strict=True))


def _row(index: int, cells: Mapping[str, str]) -> GpuRow:
    mask = _mask(cells.get("throttle", ""))
    row = GpuRow(
        index=index,
        uuid=_text(cells.get("uuid", "")) or "",
        name=_text(cells.get("name", "")) or "",
        utilization_percent=number(cells.get("utilization_percent", "")),
        memory_used_mib=whole(cells.get("memory_used_mib", "")),
        memory_total_mib=whole(cells.get("memory_total_mib", "")),
        temperature_c=number(cells.get("temperature_c", "")),
        power_w=number(cells.get("power_w", "")),
        power_limit_w=number(cells.get("power_limit_w", "")),
        throttle=throttle_words(mask or 0),
        clock_mhz=whole(cells.get("clock_mhz", "")),
        bus_id=short_bus_id(cells.get("bus_id", "")),
    )
    words = {name: word or EMPTY for name, word in cells.items() if _is_unread(row, name, mask)}
    return replace(row, unreadable=words) if words else row


def _is_unread(row: GpuRow, attribute: str, mask: int | None) -> bool:
    if attribute == "throttle":
        return mask is None
    return getattr(row, attribute) in (None, "")


def _text(cell: str) -> str | None:
    """A name or UUID; what stands in brackets is a word for something else."""
    return None if not cell or cell == "N/A" or (cell.startswith("[") and cell.endswith("]")) else cell


def is_number_or_word(field_name: str, cell: str) -> bool:
    """Whether a cell can be this field's: a number, a mask or a bus id as it should be, or a word for why there is none."""
    if field_name in (*_FREE_TEXT, "uuid", "gpu_uuid") or not cell or cell in ("N/A", "ERR!") or cell[0] == "[":
        return True
    if ATTRIBUTES.get(field_name) == "throttle":
        return _mask(cell) is not None
    if ATTRIBUTES.get(field_name) == "bus_id":
        return short_bus_id(cell) != ""
    return number(cell) is not None


def number(cell: str) -> float | None:
    """With or without its unit; None: it is a word, or nothing."""
    bare = _UNITS.sub("", cell)
    return float(bare) if _NUMBER.match(bare) else None


def whole(cell: str) -> int | None:
    """As `number`, without decimals."""
    found = number(cell)
    return None if found is None else int(found)


def short_bus_id(cell: str) -> str:
    """`1A:00.0` of `00000000:1A:00.0`, as the sentences of lost GPUs name it; empty: it is none. A further domain stays."""
    match = _BUS_ID.match(cell)
    if match is None:
        return ""
    domain = match["domain"].lstrip("0") if match["domain"] else ""
    return f"{domain}:{match['bus']}".lstrip(":").upper()


def _mask(cell: str) -> int | None:
    return int(cell, 16) if _MASK.match(cell) else None
