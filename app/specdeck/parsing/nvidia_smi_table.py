"""The table that plain `nvidia-smi` prints for people: two lines a GPU, one a process. For files on disk only."""

import re

from specdeck.parsing.gpu_check import GpuCheck
from specdeck.parsing.mig import MigInstance
from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow, gpu_row, whole
from specdeck.parsing.plain import plain

_TITLE = re.compile(r"^\| NVIDIA-SMI \S+ ", re.MULTILINE)
_GPU = re.compile(
    r"^\|[ ]+(?P<index>\d{1,3})[ ]+(?P<name>\S.*?)[ ]+(?:On|Off|N/A|ERR!)[ ]+\|[ ]+"
    r"(?P<bus>[0-9A-Fa-f]{8}:\S+)[ ][^|\n]*\|[ ]*(?P<ecc>\S*)[ ]*\|\n"
    r"\|[ ]*\S+[ ]+(?P<temperature>\S+?)C?[ ]+\S+[ ]+(?P<power>\S+?)W?[ ]*/[ ]*(?P<limit>\S+?)W?[ ]*\|"
    r"[ ]*(?:(?P<used>\S+?)(?:MiB)?[ ]*/[ ]*(?P<total>\S+?)(?:MiB)?|(?P<word>[^|/\n]*?))[ ]*\|"
    r"[ ]*(?P<utilization>\S+?)%?[ ]",
    re.MULTILINE,
)
_PROCESS = re.compile(
    r"^\|[ ]+\d{1,3}[ ]+(?:\S+[ ]+\S+[ ]+)?(?P<pid>\d{1,10})[ ]+[CGM+]{1,4}[ ]+(?P<name>\S.*?)[ ]+(?P<memory>\S+)[ ]+\|$",
    re.MULTILINE,
)
_FIELDS = (
    "index",
    "utilization.gpu",
    "memory.used",
    "memory.total",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "pci.bus_id",
    "name",
)
_MIG = re.compile(
    r"^\|[ ]+(?P<gpu>\d{1,3})[ ]+(?P<instance>\d{1,3})[ ]+(?P<compute>\d{1,3})[ ]+(?P<device>\d{1,3})[ ]+\|"
    r"[ ]*(?P<used>\d{1,9})MiB[ ]*/[ ]*(?P<total>\d{1,9})MiB[ ]*\|",
    re.MULTILINE,
)
_LARGEST_TABLE = 1 << 18
"""Characters; a table of many GPUs and processes has a few thousand."""
_LONGEST_LINE = 200
"""Characters; the table's lines have 79 to 91."""


def is_table(text: str) -> bool:
    """Whether this is such a table, perhaps after other lines."""
    return _TITLE.search(text[:_LARGEST_TABLE]) is not None


def table_gpus(text: str) -> tuple[GpuRow, ...]:
    """The GPUs; names that the table cut end in `...`, UUIDs are not in it."""
    rows = (gpu_row(", ".join(_cells(match)), _FIELDS) for match in _GPU.finditer(_lines_of(text)))
    return tuple(row for row in rows if row)


def table_checks(text: str) -> tuple[GpuCheck, ...]:
    """The count of uncorrectable errors is all that it tells."""
    matches = _GPU.finditer(_lines_of(text))
    return tuple(GpuCheck(int(match["index"]), ecc_uncorrected=whole(match["ecc"])) for match in matches)


def table_processes(text: str) -> tuple[ProcessRow, ...]:
    """The processes; memory that the table cut (`13496...`) is unknown, not small."""
    matches = _PROCESS.finditer(_lines_of(text))
    return tuple(
        ProcessRow("", int(match["pid"]), plain(match["name"]), _whole_mib(match["memory"])) for match in matches
    )


def table_instances(text: str) -> tuple[MigInstance, ...]:
    """The MIG devices with their memory; which GPU they are on is told by its number only, names are not in it."""
    return tuple(
        MigInstance(
            f"GPU {match['gpu']}",
            int(match["device"]),
            instance_id=int(match["instance"]),
            compute_id=int(match["compute"]),
            memory_used_mib=int(match["used"]),
            memory_total_mib=int(match["total"]),
        )
        for match in _MIG.finditer(_lines_of(text))
    )


def _lines_of(text: str) -> str:
    return "\n".join(line for line in text[:_LARGEST_TABLE].split("\n") if len(line) <= _LONGEST_LINE)


def _cells(match: re.Match[str]) -> tuple[str, ...]:
    memory = (match["used"] or match["word"], match["total"] or match["word"])
    words = "temperature", "power", "limit", "bus", "name"
    return match["index"], match["utilization"], *memory, *(match[word] for word in words)


def _whole_mib(cell: str) -> int | None:
    number = cell.removesuffix("MiB")
    return int(number) if number != cell and number.isdecimal() and len(number) < 10 else None
