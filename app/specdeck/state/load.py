"""What an engine's endpoints say of its load: read by the engine, carried by an event, taken up by `reduce`."""

from collections.abc import Set
from dataclasses import field

from specdeck.quick_dataclass import dataclass, replace
from specdeck.state.serving import Page
from specdeck.state.timings import StartTimings


@dataclass(frozen=True, slots=True)
class LoadReading:
    """What one answer of the engine says of its load; None: not told there."""

    decode_tokens: float | None = None
    """A counter of output tokens that moves while requests run, summed over its label sets."""
    counter_series: str = ""
    """Which label sets were summed: another set starts another window."""
    running: int | None = None
    queued: int | None = None
    kv_usage: float | None = None
    """0 to 1."""
    accept_length: float | None = None
    engine_version: str | None = None
    speculation: str | None = None
    """The effective mode by the engine's own word."""
    draft_steps: int | None = None
    """How many steps are drafted now, where the engine may change that."""
    timings: StartTimings | None = None
    """What the engine itself measured of its start."""
    page: Page = field(default_factory=dict)
    """Counters that are read as differences: latencies, cache hits, accepted drafts."""


_GAUGES = ("running", "queued", "kv_usage", "accept_length")


def gauges_of(reading: LoadReading) -> Set[str]:
    """The names of what it tells of this moment."""
    return {name for name in _GAUGES if getattr(reading, name) is not None}


def without_gauges(reading: LoadReading, names: Set[str]) -> LoadReading:
    """A page of metrics beside an endpoint that tells these: SGLang's gauges stay as they were when the last batch ended."""
    return replace(
        reading,
        running=None if "running" in names else reading.running,
        queued=None if "queued" in names else reading.queued,
        kv_usage=None if "kv_usage" in names else reading.kv_usage,
        accept_length=None if "accept_length" in names else reading.accept_length,
    )
