"""The sentences that nvidia-smi prints instead of rows (mostly on stdout), as one clear line each."""

import re
from collections.abc import Callable

from specdeck.parsing.nvidia_smi import short_bus_id
from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why there are no rows, or one row less."""

    kind: str
    """`unknown-field`, `no-devices`, `mismatch`, `no-driver`, `no-library`, `no-nvml`, `not-found`, `gpu-lost`, `other`."""
    sentence: str
    """What it means and what to do."""
    field: str | None = None
    """The field that this driver does not know: ask again without it."""
    gpu: str | None = None
    """Bus id of the lost GPU, `1A:00.0`, with its domain where that is not 0."""


_BUS = r"GPU\s*(?:\d+:\s*)?(?P<bus>(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])"


def _unknown_field(match: re.Match[str]) -> Complaint:
    return Complaint("unknown-field", f"this driver has no field {match[1]}", field=match[1])


def _mismatch(match: re.Match[str]) -> Complaint:
    library = f" (NVML library {match['library']})" if match["library"] else ""
    return Complaint(
        "mismatch", f"the driver was upgraded under the running one{library}: reboot, or reload the nvidia modules"
    )


def _lost(match: re.Match[str]) -> Complaint:
    why, bus = match["why"].strip(" ."), short_bus_id(match["bus"])
    if "lost" in why.lower():
        return Complaint("gpu-lost", f"GPU {bus} lost, reboot needed", gpu=bus)
    return Complaint("gpu-lost", f"GPU {bus} does not answer: {why}", gpu=bus)


def _no_nvml(match: re.Match[str]) -> Complaint:
    why = match[1].strip(" .")
    advice = ": the container lost its GPUs, restart it" if why == "Unknown Error" else ""
    return Complaint("no-nvml", f"NVML does not start ({why}){advice}")


def _always(kind: str, sentence: str) -> Callable[[re.Match[str]], Complaint]:
    return lambda match: Complaint(kind, sentence)


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Complaint]], ...] = (
    (re.compile(r'Field "([^"\n]{1,80})" is not a valid field to query'), _unknown_field),
    (re.compile(r"No devices were found"), _always("no-devices", "no GPU here: the driver finds no device")),
    (
        re.compile(r"Driver/library version mismatch(?:\s+NVML library version: (?P<library>[\d.]+))?"),
        _mismatch,
    ),
    (
        re.compile(r"couldn't communicate with the NVIDIA driver"),
        _always("no-driver", "the NVIDIA driver does not answer: it is not loaded, or not installed"),
    ),
    (
        re.compile(r"couldn't find libnvidia-ml\.so"),
        _always("no-library", "the driver's library libnvidia-ml.so is missing: the driver is not installed properly"),
    ),
    (re.compile(_BUS + r": (?P<why>[^\n]{1,200})"), _lost),
    (re.compile(r"Failed to initialize NVML: (?!Driver/library)([^\n]{1,200})"), _no_nvml),
    (
        re.compile(r"nvidia-smi: (?:command )?not found|nvidia-smi: No such file", re.IGNORECASE),
        _always("not-found", "nvidia-smi is not in the PATH of a non-interactive shell: set PATH in the host's env"),
    ),
    (re.compile(r"nvidia-smi: Permission denied"), _always("not-found", "nvidia-smi may not be run by this user")),
)


def complaints(text: str) -> tuple[Complaint, ...]:
    """Every known sentence in an answer, in its order; the same one once."""
    found: dict[Complaint, int] = {}
    for pattern, understood in _SENTENCES:
        for match in pattern.finditer(text):
            found.setdefault(_cleaned(understood(match)), match.start())
    return tuple(sorted(found, key=lambda complaint: found[complaint]))


def why_no_rows(text: str, exit_code: int | None = None) -> Complaint:
    """The one complaint about an answer (stdout and stderr together) that has no rows."""
    known = complaints(text)
    if known:
        return known[0]
    if exit_code == 127:
        return complaints("nvidia-smi: not found")[0]
    said = next((plain(line) for line in text.splitlines() if plain(line)), "")
    if not said and not exit_code:
        return Complaint("other", "nvidia-smi gave no GPU rows")
    failed = "nvidia-smi failed" if exit_code is None else f"nvidia-smi failed (exit {exit_code})"
    return Complaint("other", f"{failed}: {said[:200]}" if said else failed)


def _cleaned(complaint: Complaint) -> Complaint:
    return Complaint(complaint.kind, plain(complaint.sentence), complaint.field, complaint.gpu)
