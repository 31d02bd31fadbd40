"""What can be plotted of a server, over which time, and the words for it. Pure."""

from collections.abc import Callable, Sequence

from specdeck.quick_dataclass import dataclass
from specdeck.state.history import Mark, SeriesName
from specdeck.state.series import Point
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.words import age, rate

LEAST_POINTS = 2
YOUNG_SECONDS = 60.0
"""A line that just began is not squeezed into a corner."""
GAP_SECONDS = 15.0
"""Points further apart than this are not joined: nothing was measured between them."""
GAP_SLICES = 2.5


@dataclass(frozen=True, slots=True)
class Kind:
    """One thing that is plotted."""

    name: SeriesName
    title: str
    words: Callable[[float], str]
    """A value, for the heading."""
    top: float | None = None
    """Where the axis ends; None: by the values."""


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{value:.0f}%"


KINDS = (
    Kind("tok_s", "tok/s", rate),
    Kind("running", "requests running", _whole),
    Kind("queued", "requests queued", _whole),
    Kind("kv", "KV cache in use, %", _percent, 100.0),
    Kind("accept", "accept length", lambda value: f"{value:.2f}"),
    Kind("gpu_load", "utilisation of its GPUs, mean %", _percent, 100.0),
    Kind("gpu_power", "power of its GPUs, W", _whole),
)
WINDOWS = (300.0, 3600.0, None)
"""None: the whole run, or as far back as anything is known."""


@dataclass(frozen=True, slots=True)
class Plot:
    """All that a chart draws."""

    kind: Kind
    points: Sequence[Point]
    seconds: float
    gap_seconds: float
    marks: tuple[Mark, ...]
    is_run: bool

    @property
    def heading(self) -> str:
        """`tok/s over 5m, highest 913`."""
        over = f"the run, {age(self.seconds)}" if self.is_run else age(self.seconds)
        top = f", highest {self.kind.words(max(value for _, value in self.points))}" if self.points else ""
        return f"{self.kind.title} over {over}{top}"


def kinds_of(server: ServerState) -> list[Kind]:
    """What there is to plot of it."""
    return [kind for kind in KINDS if _has_line(server, kind)]


def _has_line(server: ServerState, kind: Kind) -> bool:
    if kind.name == "tok_s" and len(server.throughput_history) >= LEAST_POINTS:
        return True
    series = server.history.series.get(kind.name)
    return series is not None and len(series.fine) >= 2 * LEAST_POINTS


def plot_of(server: ServerState, kind: Kind, window: float | None, now: float) -> Plot:
    """A kind over a window."""
    seconds = _run_seconds(server, kind, now) if window is None else window
    points, step = _points(server, kind, now - seconds)
    if window == WINDOWS[0] and points and points[0][0] >= now - YOUNG_SECONDS:
        seconds = YOUNG_SECONDS
    marks = tuple(mark for mark in server.history.marks if now - seconds <= mark.at <= now)
    return Plot(kind, points, seconds, max(GAP_SECONDS, GAP_SLICES * step), marks, window is None)


def _run_seconds(server: ServerState, kind: Kind, now: float) -> float:
    """Since the run began; not less than what the shortest window shows."""
    series = server.history.series.get(kind.name)
    first = next(iter(series.since(float("-inf"))[0]), None) if series is not None else None
    began = server.run.started_at if server.run is not None and server.run.started_at is not None else None
    known = [moment for moment in (began, first[0] if first else None) if moment is not None and moment < now]
    return max(WINDOWS[0] or 0.0, now - max(known, default=now))


def _points(server: ServerState, kind: Kind, since: float) -> tuple[Sequence[Point], float]:
    """The rates as they were measured where they reach back far enough, else the series."""
    rates = server.throughput_history
    series = server.history.series.get(kind.name)
    if kind.name == "tok_s" and rates and (series is None or rates[0][0] <= since):
        return tuple(point for point in rates if point[0] >= since), 0.0
    return series.since(since) if series is not None else ((), 0.0)
