"""What is wrong with a GPU, in words that explain a slow or a dead server; nothing is claimed of what cannot be read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from specdeck.parsing.throttle import slowing
from specdeck.state.gpu_snapshot import Gpu, Trouble

if TYPE_CHECKING:
    from specdeck.parsing.gpu_check import GpuCheck
    from specdeck.parsing.xid import Xid

FAULT_WORDS = ("GPU requires reset", "ERR!", "GPU is lost")
"""`[N/A]` and `[Not Supported]` are only gaps."""
XID_SECONDS = 86_400.0
"""An older one explains nothing any more."""


def fault_of(unreadable: Mapping[str, str]) -> str | None:
    """The word that makes a GPU faulty."""
    words = unreadable.values()
    return next((word.strip("[]") for word in words if any(fault in word for fault in FAULT_WORDS)), None)


def troubles_of(gpu: Gpu, at: float) -> tuple[Trouble, ...]:
    """Everything that is known to be wrong with it, the worst first."""
    if gpu.lost:
        return (Trouble("lost", gpu.lost, is_error=True),)
    found = [*_faults(gpu.unreadable), *_xid_troubles(gpu.xids, at)]
    if gpu.check is not None:
        found += check_troubles(gpu.check)
    found += throttle_troubles(gpu.slowed)
    if gpu.check is not None and gpu.check.link is not None and gpu.check.link.is_reduced and gpu.check.is_busy:
        found.append(Trouble("PCIe", f"PCIe {gpu.check.link.words} under load"))
    if gpu.links is not None and gpu.links_expected > gpu.links.up:
        found.append(Trouble("NVLink", f"{gpu.links.up} of {gpu.links_expected} NVLinks up"))
    return tuple(found)


def row_troubles(
    throttle: Sequence[str], unreadable: Mapping[str, str], check: "GpuCheck | None"
) -> tuple[Trouble, ...]:
    """What one answer on disk tells."""
    found = [*_faults(unreadable), *(check_troubles(check) if check is not None else ()), *throttle_troubles(throttle)]
    if check is not None and check.link is not None and check.link.is_reduced and check.is_busy:
        found.append(Trouble("PCIe", f"PCIe {check.link.words} under load"))
    return tuple(found)


def check_troubles(check: "GpuCheck") -> Iterator[Trouble]:
    """What stays until somebody acts."""
    if check.is_worn_out:
        yield Trouble("row remap", "no spare memory row is left: the GPU must be replaced", is_error=True)
    if check.ecc_uncorrected:
        noun = "error" if check.ecc_uncorrected == 1 else "errors"
        yield Trouble(
            "ECC", f"{check.ecc_uncorrected} uncorrectable ECC {noun} since the driver was loaded", is_error=True
        )
    if check.is_repair_pending:
        yield Trouble("row remap", "a memory repair is pending: it needs a reset of the GPU")
    if check.recovery:
        yield Trouble("reset", f"the driver asks for: {check.recovery}", is_error=True)


def throttle_troubles(reasons: Iterable[str]) -> Iterator[Trouble]:
    """Those that make it slower than it should be, each kind once: heat is told by the hardware and by the driver."""
    found: dict[str, list[str]] = {}
    for words in slowing(reasons):
        what, _, how = words.partition(" (")
        found.setdefault(what, []).extend([how.removesuffix(")")] if how else [])
    for what, hows in found.items():
        kind = what.removesuffix(" of the chassis").replace("hardware slowdown", "slowdown")
        told = f" ({', '.join(hows)})" if hows else ""
        yield Trouble(kind, f"slowed down: {what}{told}")


def _faults(unreadable: Mapping[str, str]) -> Iterator[Trouble]:
    if (word := fault_of(unreadable)) is not None:
        is_told = not word.startswith("ERR")
        yield Trouble(
            "reset" if "reset" in word else "fault", word if is_told else f"nvidia-smi says {word}", is_error=True
        )


def _xid_troubles(xids: "Iterable[Xid]", at: float) -> Iterator[Trouble]:
    """Each number once, the newest first."""
    recent = [xid for xid in xids if xid.is_of_hardware and (xid.at is None or at - xid.at < XID_SECONDS)]
    for words in dict.fromkeys(xid.words for xid in reversed(recent)):
        yield Trouble(words.partition(":")[0], words, is_error=True)
