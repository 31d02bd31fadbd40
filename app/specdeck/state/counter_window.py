"""The samples of one token counter that a rolling rate is made of. Pure; times are unix seconds of one clock."""

from specdeck.quick_dataclass import dataclass

SHORTEST_SPAN_SECONDS = 0.5
"""Two samples closer than this measure the sampling, not the engine."""
LONGEST_GAP_WINDOWS = 3.0
"""A silence of more windows than this starts a new one: its average is no rate of now."""

LATE_FACTOR = 1.5
"""How much later than the gap before it a sample may come."""


@dataclass(frozen=True, slots=True)
class CounterWindow:
    """Samples of one series, oldest first: those of the window and the newest one before it, as its base."""

    series: str = ""
    points: tuple[tuple[float, float], ...] = ()
    """(unix seconds, counter)."""
    flat_since: float | None = None
    """The first sample that repeated the newest value: since then, at least, nothing was counted."""

    def with_sample(self, value: float, series: str, at: float, *, window_seconds: float) -> "CounterWindow":
        """A fall, another series, a long silence or a clock that was set back start anew."""
        flat_since = self._flat_since(value, series, at)
        if not self._goes_on(value, series, at, window_seconds):
            return CounterWindow(series, ((at, value),), flat_since)
        if at == self.points[-1][0]:
            return self
        points = (*self.points, (at, value))
        base = max((number for number, point in enumerate(points) if point[0] <= at - window_seconds), default=0)
        return CounterWindow(series, points[base:], flat_since)

    def _flat_since(self, value: float, series: str, at: float) -> float | None:
        """Over a silence too: a counter that is equal at both ends stood still between them."""
        if not self.points or series != self.series or value != self.points[-1][1]:
            return None
        return at if self.flat_since is None else self.flat_since

    def _goes_on(self, value: float, series: str, at: float, window_seconds: float) -> bool:
        if not self.points or series != self.series:
            return False
        last_at, last = self.points[-1]
        return value >= last and 0 <= at - last_at <= window_seconds * LONGEST_GAP_WINDOWS

    @property
    def span_seconds(self) -> float:
        """From the first sample to the last."""
        return self.points[-1][0] - self.points[0][0] if self.points else 0.0

    @property
    def rate(self) -> float | None:
        """Per second over the span; None until two samples."""
        if self.span_seconds < SHORTEST_SPAN_SECONDS:
            return None
        return (self.points[-1][1] - self.points[0][1]) / self.span_seconds

    def is_fresh(self, at: float, *, window_seconds: float) -> bool:
        """Whether the newest sample is of now; a source that is asked rarely may be as old as its own pace allows."""
        if not self.points:
            return False
        last_at = self.points[-1][0]
        gap = last_at - self.points[-2][0] if len(self.points) > 1 else 0.0
        return at - last_at <= max(window_seconds, LATE_FACTOR * gap)
