"""Values of one kind over time, for plots: as measured for the newest minutes, before as means of slices. Bounded. Pure.

Packed into arrays: as tuples the series of 64 servers would take 50 MB.
"""

from array import array
from collections.abc import Iterator
from dataclasses import field

from specdeck.quick_dataclass import dataclass

Point = tuple[float, float]
"""(unix seconds, value)."""
FINE_POINTS = 160
"""Five minutes of a sample every two seconds."""
SLICE_SECONDS = 10.0
HOUR_SLICES = 370
RUN_SLICES = 480
"""Of a long run: when there are more, each two become one that is twice as long."""


def _empty() -> "array[float]":
    return array("d")


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """What was not measured has no point: a gap, never a zero. The arrays are never changed, only replaced."""

    fine: "array[float]" = field(default_factory=_empty)
    """(moment, value) of the newest values, one after the other."""
    hour: "array[float]" = field(default_factory=_empty)
    """(number, sum, count) of each slice in which something was measured; its number counts slices since 1970."""
    run: "array[float]" = field(default_factory=_empty)
    run_seconds: float = SLICE_SECONDS
    """How long each slice of `run` is."""

    def with_value(self, value: float, at: float) -> "Series":
        """One more; a clock that was set back adds nothing."""
        if self.fine and at <= self.fine[-2]:
            return self
        run, seconds = _with_slice(self.run, value, at, self.run_seconds), self.run_seconds
        if len(run) > 3 * RUN_SLICES:
            run, seconds = _halved(run), seconds * 2
        hour = _with_slice(self.hour, value, at, SLICE_SECONDS)[-3 * HOUR_SLICES :]
        return Series((self.fine + array("d", (at, value)))[-2 * FINE_POINTS :], hour, run, seconds)

    def since(self, at: float) -> tuple[tuple[Point, ...], float]:
        """(points, seconds that each stands for) from a moment on, as fine as they are kept; 0: they are the values themselves."""
        if not self.fine or self.fine[0] <= at or len(self.fine) < 2 * FINE_POINTS:
            points, seconds = _pairs(self.fine), 0.0
        elif self.hour[0] * SLICE_SECONDS <= at or len(self.hour) < 3 * HOUR_SLICES:
            points, seconds = _means(self.hour, SLICE_SECONDS), SLICE_SECONDS
        else:
            points, seconds = _means(self.run, self.run_seconds), self.run_seconds
        return tuple(point for point in points if point[0] >= at), seconds


def _pairs(fine: "array[float]") -> Iterator[Point]:
    return zip(fine[::2], fine[1::2], strict=True)


def _means(slices: "array[float]", seconds: float) -> Iterator[Point]:
    """Each in the middle of its slice."""
    for number, total, count in zip(slices[::3], slices[1::3], slices[2::3], strict=True):
        yield (number + 0.5) * seconds, total / count


def _with_slice(slices: "array[float]", value: float, at: float, seconds: float) -> "array[float]":
    number = at // seconds
    if slices and slices[-3] >= number:
        last, total, count = slices[-3:]
        return slices[:-3] + array("d", (last, total + value, count + 1))
    return slices + array("d", (number, value, 1))


def _halved(slices: "array[float]") -> "array[float]":
    """Each two neighbours as one; what has no neighbour stands alone."""
    merged = _empty()
    for number, total, count in zip(slices[::3], slices[1::3], slices[2::3], strict=True):
        if merged and merged[-3] == number // 2:
            merged[-2] += total
            merged[-1] += count
        else:
            merged.extend((number // 2, total, count))
    return merged
