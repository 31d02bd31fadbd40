"""Why a GPU's clocks are below their maximum: the mask of clocks_event_reasons.active in words, and which of them cost speed."""

from collections.abc import Iterable, Mapping

THROTTLE_BITS: Mapping[int, str] = {
    0x002: "applications clocks",
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x010: "sync boost",
    0x020: "thermal slowdown (software)",
    0x040: "thermal slowdown (hardware)",
    0x080: "power brake",
    0x100: "display clocks",
}
"""nvmlClocksEventReason... of nvml.h (formerly nvmlClocksThrottleReason...)."""
_GPU_IDLE = 0x001
"""nvmlClocksEventReasonGpuIdle: nothing runs, so nothing is held back."""
_SLOWING: Mapping[str, str] = {
    "thermal slowdown (hardware)": "too hot (hardware thermal slowdown)",
    "thermal slowdown (software)": "too hot (software thermal slowdown)",
    "power brake": "power brake of the chassis",
    "hardware slowdown": "hardware slowdown",
}
"""A GPU at full load is at its power cap as it should be, and clocks that somebody set are no fault."""
_UMBRELLA = "hardware slowdown"
"""The bit that comes with either of the two that say why."""


def throttle_words(mask: int) -> tuple[str, ...]:
    """What holds the clocks, in words; an idle GPU is not held."""
    known = tuple(word for bit, word in THROTTLE_BITS.items() if mask & bit)
    rest = mask & ~_GPU_IDLE & ~sum(THROTTLE_BITS)
    return (*known, f"reason {rest:#x}") if rest > 0 else known


def slowing(words: Iterable[str]) -> tuple[str, ...]:
    """Those that make a GPU slower than it should be, the telling ones only: `too hot (hardware thermal slowdown)`."""
    given = set(words)
    found = [word for word in _SLOWING if word in given]
    if _UMBRELLA in found and {"thermal slowdown (hardware)", "power brake"} & given:
        found.remove(_UMBRELLA)
    return tuple(_SLOWING[word] for word in found)
