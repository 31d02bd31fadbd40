"""What is asked of each GPU every few minutes: its faults that stay, its PCIe link, its highest clock, MIG. Nothing ever raises."""

from collections.abc import Mapping, Sequence

from specdeck.parsing.nvidia_smi import number, short_bus_id, split_row, whole
from specdeck.quick_dataclass import dataclass

CHECK_FIELDS = (
    "index",
    "uuid",
    "pci.bus_id",
    "utilization.gpu",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "clocks.max.sm",
    "ecc.errors.uncorrected.volatile.total",
    "retired_pages.pending",
    "mig.mode.current",
    "remapped_rows.pending",
    "remapped_rows.failure",
    "gpu_recovery_action",
)
"""The last four came with drivers 450, 470 and 560."""
BUSY_PERCENT = 50.0
"""From there on a GPU's link is at its full speed, if it can be; an idle one saves power with a slower one."""


@dataclass(frozen=True, slots=True)
class PcieLink:
    """The link as it was, and as it could be."""

    generation: int
    width: int
    most_generation: int
    most_width: int

    @property
    def is_reduced(self) -> bool:
        """Slower than this GPU in this slot could be."""
        return self.generation < self.most_generation or self.width < self.most_width

    @property
    def words(self) -> str:
        """`gen 1 x16 of gen 5 x16`."""
        return f"gen {self.generation} x{self.width} of gen {self.most_generation} x{self.most_width}"


@dataclass(frozen=True, slots=True)
class GpuCheck:
    """One GPU; what cannot be read is None, and claims nothing."""

    index: int
    uuid: str = ""
    bus_id: str = ""
    utilization_percent: float | None = None
    """At the moment of the check: the link counts only where the GPU was busy."""
    link: PcieLink | None = None
    clock_max_mhz: int | None = None
    ecc_uncorrected: int | None = None
    """Errors since the driver was loaded."""
    is_repair_pending: bool | None = None
    """A row is to be remapped, or a page retired, at the next reset."""
    is_worn_out: bool | None = None
    """There was no spare row left."""
    is_mig: bool | None = None
    recovery: str | None = None
    """What the driver asks for: `Reset`, `Reboot`, `Drain and Reset`; None: nothing, or it does not tell."""

    @property
    def is_busy(self) -> bool:
        """Its link must be at full speed."""
        return self.utilization_percent is not None and self.utilization_percent >= BUSY_PERCENT


def check_row(line: str, fields: Sequence[str] = CHECK_FIELDS) -> GpuCheck | None:
    """A row of the answer to `fields`; None: it is no such row."""
    return check_of(split_row(line, fields))


def check_of(cells: Mapping[str, str]) -> GpuCheck | None:
    """From the words of a query, by the names of its fields."""
    index = whole(cells.get("index", ""))
    if index is None or index < 0:
        return None
    pending = [_flag(cells.get(name, "")) for name in ("remapped_rows.pending", "retired_pages.pending")]
    mig = cells.get("mig.mode.current", "")
    return GpuCheck(
        index,
        uuid=cells.get("uuid", ""),
        bus_id=short_bus_id(cells.get("pci.bus_id", "")),
        utilization_percent=number(cells.get("utilization.gpu", "")),
        link=_link(cells),
        clock_max_mhz=whole(cells.get("clocks.max.sm", "")),
        ecc_uncorrected=whole(cells.get("ecc.errors.uncorrected.volatile.total", "")),
        is_repair_pending=True if True in pending else False if False in pending else None,
        is_worn_out=_flag(cells.get("remapped_rows.failure", "")),
        is_mig={"Enabled": True, "Disabled": False}.get(mig),
        recovery=_recovery(cells.get("gpu_recovery_action", "")),
    )


def _link(cells: Mapping[str, str]) -> PcieLink | None:
    names = ("gen.current", "width.current", "gen.max", "width.max")
    found = [whole(cells.get(f"pcie.link.{name}", "").removesuffix("x")) for name in names]
    generation, width, most_generation, most_width = found
    if not generation or not width or not most_generation or not most_width:
        return None
    return PcieLink(generation, width, most_generation, most_width)


def _flag(cell: str) -> bool | None:
    """Newer drivers say Yes and No, older ones 1 and 0."""
    return {"Yes": True, "1": True, "No": False, "0": False}.get(cell)


def _recovery(cell: str) -> str | None:
    is_word = cell and cell != "None" and not cell.startswith("[") and cell != "N/A" and len(cell) < 40
    return cell if is_word else None
