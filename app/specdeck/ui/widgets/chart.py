"""A plot of a value over time. The only file that imports plotext, whose figure is one for the whole process."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from specdeck.ui.drawing.spans import Row
from specdeck.ui.widgets.rows import Rows

if TYPE_CHECKING:
    from types import ModuleType

REDRAW_SECONDS = 2.0
GAP_SECONDS = 15.0
"""Points further apart than this are not joined: nothing was measured between them."""
WINDOWS = (60.0, 300.0)
SMALLEST = (20, 5)
Point = tuple[float, float]


@cache
def warm_up() -> "ModuleType":
    """Import plotext: it takes as long as all of textual, and the first frame has no plot."""
    import plotext

    plotext.terminal.limit(False, False)
    return cast("ModuleType", plotext)


def chart_rows(points: Sequence[Point], now: float, width: int, height: int, *, seconds: float) -> list[Row]:
    """The last `seconds` as a line from zero upwards; empty where there is no room."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return []
    recent = [(at - now, value) for at, value in points if now - seconds <= at <= now]
    plotext = warm_up()
    figure = plotext.figure
    figure.clear()
    figure.plot_size(width, height)
    figure.axes(False)
    top = _round_up(max((value for _, value in recent), default=0.0))
    figure.ruler("y").lim(0, top)
    figure.ruler("x").lim(-seconds, 0)
    figure.ruler("y").ticks([0, top / 2, top], [_label(value) for value in (0, top / 2, top)])
    marks = [-seconds, -seconds / 2, 0]
    figure.ruler("x").ticks(marks, [f"{seconds / 60:g}m ago", f"{seconds / 120:g}m", "now"])
    for part in unbroken(thinned(recent, 2 * width)):
        signal = figure.signal([x for x, _ in part], [y for _, y in part], marker="braille")
        if len(part) > 1:
            signal.lines()
        figure.draw(signal)
    drawn = str(plotext.uncolorize(str(figure.build())))
    return [_coloured(line, len(_label(top))) for line in drawn.splitlines()[:height]]


def window_of(points: Sequence[Point], now: float) -> float:
    """One minute at first, then five: a young line is not squeezed into a corner."""
    return next((seconds for seconds in WINDOWS if points and points[0][0] >= now - seconds), WINDOWS[-1])


def _coloured(line: str, label: int) -> Row:
    if line.strip() and not any("⠀" < char <= "⣿" for char in line):
        return ((line, "dim"),)
    return ((line[:label], "dim"), (line[label:], "spark"))


def _label(value: float) -> str:
    return f"{value:>6,.0f} " if value >= 10 or value == 0 else f"{value:>6.1f} "


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 5, 8, 10 times a power of ten, so that the axis seldom changes."""
    step = 1.0
    while value > step * 10:
        step *= 10
    return next(step * factor for factor in (1, 2, 4, 5, 8, 10) if value <= step * factor)


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most `most` points: means of neighbours."""
    size = -(-len(points) // most) if points else 1
    groups = (points[index : index + size] for index in range(0, len(points), size))
    return [(sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups]


def unbroken(points: Sequence[Point]) -> Iterator[list[Point]]:
    """The stretches without a gap."""
    part: list[Point] = []
    for point in points:
        if part and point[0] - part[-1][0] > GAP_SECONDS:
            yield part
            part = []
        part.append(point)
    if part:
        yield part


class Chart(Rows):
    """Draws at most every two seconds, only in sight, only what changed."""

    DEFAULT_CSS = "Chart { height: 1fr; }"
    IS_AS_TALL_AS_ITS_ROWS = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn: tuple[float, tuple[int, int], object] | None = None
        self.builds = 0

    def plot(self, points: Sequence[Point], now: float) -> None:
        """Show these points, unless it is too early or nothing changed."""
        size = (self.size.width, self.size.height)
        if not self.is_on_screen or not size[0]:
            return
        newest = points[-1] if points else None
        if self._drawn is not None and self._drawn[1] == size:
            age_seconds = now - self._drawn[0]
            if 0 <= age_seconds < REDRAW_SECONDS or (newest is None and self._drawn[2] is None):
                return
        self._drawn = (now, size, newest)
        self.builds += 1
        self.show(chart_rows(points, now, *size, seconds=window_of(points, now)))
