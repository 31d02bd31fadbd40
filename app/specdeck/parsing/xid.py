"""Xid lines of the NVIDIA driver in the kernel's log (`dmesg` or `journalctl -k -o short-monotonic`). Never raises on content.

The meanings follow NVIDIA's document "Xid Errors"; what only says that a program did something wrong is told apart.
"""

import re
from collections.abc import Mapping

from specdeck.parsing.nvidia_smi import short_bus_id
from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass

_XID = re.compile(
    r"NVRM: Xid \(PCI:(?P<bus>[0-9A-Fa-f:.]{5,20})\): (?P<number>\d{1,4})"
    r"(?:, pid='?(?P<pid>\d{1,10}))?(?:, name=(?P<name>[^,\n]{1,60}))?"
)
_STAMP = re.compile(r"^\[ *(?P<seconds>\d{1,12}(?:\.\d+)?)\]")
HARDWARE: Mapping[int, str] = {
    48: "uncorrectable ECC error",
    61: "internal micro-controller halted",
    62: "internal micro-controller halted",
    63: "row remapping recorded",
    64: "row remapping failed",
    74: "NVLink error",
    79: "GPU has fallen off the bus",
    92: "many correctable ECC errors",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "GSP firmware does not answer",
    120: "GSP firmware error",
    140: "unrecovered ECC error",
    149: "NVLink error",
}
"""Of the GPU, its memory, its links or its firmware."""
_SOFTWARE: Mapping[int, str] = {
    13: "graphics engine exception, mostly of the program",
    31: "memory page fault, mostly of the program",
    32: "invalid push buffer",
    43: "a program was stopped",
    45: "a program was ended with work in flight",
    68: "video processor exception",
    69: "graphics engine class error",
}


@dataclass(frozen=True, slots=True)
class Xid:
    """One error that the driver wrote into the kernel's log."""

    number: int
    bus_id: str
    """Bus and device, `1A:00`: the function is not always told."""
    seconds: float | None = None
    """Since boot; None: the log has other stamps."""
    pid: int | None = None
    name: str = ""
    at: float | None = None
    """Unix seconds by specdeck's clock, where that is known."""

    @property
    def is_of_hardware(self) -> bool:
        """It speaks of the GPU, not of a program."""
        return self.number in HARDWARE

    @property
    def words(self) -> str:
        """`Xid 79: GPU has fallen off the bus`."""
        meaning = HARDWARE.get(self.number) or _SOFTWARE.get(self.number)
        return f"Xid {self.number}: {meaning}" if meaning else f"Xid {self.number}"

    def is_on(self, bus_id: str) -> bool:
        """Whether this GPU (`1A:00.0`) is meant."""
        return bool(bus_id) and bus_id.partition(".")[0] == self.bus_id


def xids(text: str) -> tuple[Xid, ...]:
    """All of them, oldest first."""
    return tuple(_xid(line, match) for line in text.splitlines() if (match := _XID.search(line)))


def _xid(line: str, match: re.Match[str]) -> Xid:
    stamp = _STAMP.match(line)
    bus = match["bus"]
    full = bus if "." in bus else f"{bus}.0"
    return Xid(
        int(match["number"]),
        short_bus_id(full).partition(".")[0],
        float(stamp["seconds"]) if stamp else None,
        int(match["pid"]) if match["pid"] else None,
        plain(match["name"] or ""),
    )
