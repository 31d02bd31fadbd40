"""What a server's plots are drawn from: a series of each kind, and marks where something happened. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from specdeck.quick_dataclass import dataclass
from specdeck.state.series import Series

SeriesName = Literal["tok_s", "running", "queued", "kv", "accept", "gpu_load", "gpu_power"]
MarkName = Literal["ready", "crashed", "stalled", "pivot", "relaunch", "launch", "stop"]
SAMPLE_SECONDS = 2.0
MOST_MARKS = 60


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that explains why a plot goes another way from there on."""

    at: float
    name: MarkName


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Of one server, over its runs: a pivot is seen with what was before it."""

    series: Mapping[SeriesName, Series] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    """Oldest first."""
    sampled_at: float | None = None

    def is_due(self, at: float) -> bool:
        """Whether the next sample is to be taken; also after the clock was set back."""
        return self.sampled_at is None or not 0 <= at - self.sampled_at < SAMPLE_SECONDS

    def with_values(self, values: Mapping[SeriesName, float], at: float) -> "History":
        """One more sample; what is not known now is not in it."""
        series = {name: self.series.get(name, Series()).with_value(value, at) for name, value in values.items()}
        return History({**self.series, **series}, self.marks, at)

    def with_mark(self, name: MarkName, at: float) -> "History":
        """Something happened."""
        return History(self.series, (*self.marks, Mark(at, name))[-MOST_MARKS:], self.sampled_at)
