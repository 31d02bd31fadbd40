"""What an engine itself measured of its start: finer than a log's stamps of whole seconds, and there without any log."""

from collections.abc import Sequence

from specdeck.quick_dataclass import dataclass
from specdeck.state.phases import PhaseName

STAMP_SECONDS = 1.0
"""A length between two stamps of whole seconds is right within this."""


@dataclass(frozen=True, slots=True)
class StartTimings:
    """Seconds."""

    phases: tuple[tuple[PhaseName, float], ...]
    """Those that were measured, in their order."""
    scheduler_seconds: float
    """From the begin of the scheduler's process until it could serve."""
    whole_seconds: float
    """From the begin of the main process until all others were ready; the HTTP server and the warm-up come after it."""


def refined(lengths: Sequence[tuple[str, float]], timings: StartTimings | None) -> tuple[tuple[str, float], ...]:
    """The log's lengths, with the engine's where the stamps say no more; what differs more is more than what it measured."""
    own = dict(timings.phases) if timings is not None else {}
    return tuple((name, _finer(seconds, own.get(name))) for name, seconds in lengths)  # type: ignore[call-overload]


def _finer(seconds: float, own: float | None) -> float:
    return own if own is not None and abs(own - seconds) < STAMP_SECONDS else seconds


def lengths_without_log(timings: StartTimings | None) -> tuple[tuple[str, float], ...]:
    """Of a start whose log tells no times: what lies before and around the measured phases is shared by what the engine says."""
    if timings is None:
        return ()
    inside = sum(seconds for _, seconds in timings.phases)
    before = max(0.0, timings.whole_seconds - timings.scheduler_seconds)
    around = max(0.0, timings.scheduler_seconds - inside)
    return (("processes", before), ("distributed", around), *timings.phases)
