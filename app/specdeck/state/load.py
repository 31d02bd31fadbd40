"""What an engine's endpoints say of its load: read by the engine, carried by an event, taken up by `reduce`."""

from dataclasses import field

from specdeck.quick_dataclass import dataclass
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
