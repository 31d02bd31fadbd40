"""A plot of a value over time. The only file that imports plotext, whose figure is one for the whole process."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from specdeck.state.history import Mark
from specdeck.state.series import Point
from specdeck.ui.drawing.plots import GAP_SECONDS, Plot
from specdeck.ui.drawing.spans import Row, fit_row
from specdeck.ui.drawing.words import age
from specdeck.ui.widgets.rows import Rows

if TYPE_CHECKING:
    from types import ModuleType

REDRAW_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 20.0
"""A plot of hours moves by a quarter of a column in this time."""
SMALLEST = (20, 5)
MARK = "┊"
MARK_ROLES = {"ready": "ready", "crashed": "error", "stalled": "warning"}


@cache
def warm_up() -> "ModuleType":
    """Import plotext: it takes a while, and the first frame has no plot."""
    import plotext

    return cast("ModuleType", plotext)


def chart_rows(
    points: Sequence[Point],
    now: float,
    width: int,
    height: int,
    *,
    seconds: float,
    gap_seconds: float = GAP_SECONDS,
    top: float | None = None,
    marks: Sequence[Mark] = (),
) -> list[Row]:
    """The last `seconds` as a line from zero upwards; empty where there is no room."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return []
    recent = [(at - now, value) for at, value in points if now - seconds <= at <= now]
    if not recent:
        return [(("   nothing was measured in this time", "dim"),)]
    highest = top if top is not None else _round_up(max(value for _, value in recent))
    labels = [_label(value) for value in (0, highest / 2, highest)]
    lines = _drawn(list(unbroken(thinned(recent, 2 * width), gap_seconds)), (width, height), seconds, highest, labels)
    rows = [_coloured(line, len(labels[-1])) for line in lines[:height]]
    return _with_marks(rows, marks, now, seconds=seconds, left=len(labels[-1]), width=width)


def _drawn(
    parts: Sequence[Sequence[Point]], size: tuple[int, int], seconds: float, highest: float, labels: Sequence[str]
) -> list[str]:
    plotext = warm_up()
    plotext.clear_figure()
    plotext.limit_size(False, False)  # else no wider than the terminal was at first
    plotext.plotsize(*size)
    plotext.xaxes(False, False)
    plotext.yaxes(False, False)
    plotext.ylim(0, highest)
    plotext.xlim(-seconds, 0)
    plotext.yticks([0, highest / 2, highest], labels)
    plotext.xticks([-seconds, -seconds / 2, 0], [f"{_span(seconds)} ago", _span(seconds / 2), "now"])
    for part in parts:
        draw = plotext.plot if len(part) > 1 else plotext.scatter
        draw([x for x, _ in part], [y for _, y in part], marker="braille")
    return str(plotext.uncolorize(plotext.build())).splitlines()


def _coloured(line: str, label: int) -> Row:
    if line.strip() and not any("⠀" < char <= "⣿" for char in line):
        return ((line, "dim"),)
    return ((line[:label], "dim"), (line[label:], "spark"))


def _with_marks(
    rows: list[Row], marks: Sequence[Mark], now: float, *, seconds: float, left: int, width: int
) -> list[Row]:
    """A line down through the plot where something happened, with its name where there is room."""
    cells = [[(char, role) for text, role in fit_row(row, width) for char in text] for row in rows[:-1]]
    for mark in marks:
        column = left + round((mark.at - now + seconds) / seconds * (width - left - 1))
        role = MARK_ROLES.get(mark.name, "accent")
        for row in cells:
            if left <= column < len(row) and row[column][0] in " ⠀":
                row[column] = (MARK, role)
        _name_mark(cells, mark.name, column, role)
    return [*(_joined(row) for row in cells), *rows[-1:]] if marks else rows


def _name_mark(cells: list[list[tuple[str, str]]], name: str, column: int, role: str) -> None:
    """Right of its line, else left of it, in the first row in which nothing is there."""
    for row in cells:
        for start in (column + 1, column - len(name)):
            stop = start + len(name)
            place = row[start:stop] if start > 0 else []
            beside = [*row[max(start - 1, 0) : start], *row[stop : stop + 1]]
            is_free = all(char in " ⠀" for char, _ in place) and not any(char.isalpha() for char, _ in beside)
            if len(place) == len(name) and is_free:
                row[start : start + len(name)] = [(char, role) for char in name]
                return


def _joined(cells: Sequence[tuple[str, str]]) -> Row:
    spans: list[tuple[str, str]] = []
    for char, role in cells:
        if spans and spans[-1][1] == role:
            spans[-1] = (spans[-1][0] + char, role)
        else:
            spans.append((char, role))
    return tuple(spans)


def _span(seconds: float) -> str:
    """`2.5m`, `30m`, `3h12`."""
    return f"{seconds / 60:g}m" if seconds < 3600 and seconds % 30 == 0 else age(seconds)


def _label(value: float) -> str:
    if value >= 100_000:
        return f"{value / 1000:>5,.0f}k "
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


def unbroken(points: Sequence[Point], gap_seconds: float = GAP_SECONDS) -> Iterator[list[Point]]:
    """The stretches without a gap."""
    part: list[Point] = []
    for point in points:
        if part and point[0] - part[-1][0] > gap_seconds:
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
        self._drawn: tuple[float, object] | None = None
        """When it was drawn, and what decides that it must be drawn at once if it is another one."""
        self.builds = 0

    def is_due(self, now: float, what: object, seconds: float) -> bool:
        """Whether to draw: it is in sight, and shows something else than before, or has stood for long enough."""
        width, height = self.size
        if not self.is_on_screen or not width:
            return False
        asked = (what, width, height)
        pause = min(max(REDRAW_SECONDS, seconds / (4 * width)), LONGEST_PAUSE_SECONDS)
        if self._drawn is not None and self._drawn[1] == asked and 0 <= now - self._drawn[0] < pause:
            return False
        self._drawn = (now, asked)
        return True

    def plot(self, plot: Plot, now: float) -> None:
        """Show this plot."""
        self.builds += 1
        self.show(
            chart_rows(
                plot.points, now, *self.size, seconds=plot.seconds, gap_seconds=plot.gap_seconds,
                top=plot.kind.top, marks=plot.marks,
            )
        )  # fmt: skip
