"""Sparklines and progress bars as text of a fixed width."""

from bisect import bisect_right
from collections.abc import Sequence
from math import ceil, inf

from specdeck.ui.drawing.spans import Row

BLOCKS = "▁▂▃▄▅▆▇█"
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
REST = "░"
HOLD_SECONDS = 6.0
"""A measurement counts this long where slices are finer than measurements."""


def sparkline(values: Sequence[float], width: int, *, top: float | None = None) -> str:
    """The newest `width` values, right-aligned; zero is the lowest block, `top` (or the highest value) the full one."""
    if width <= 0:
        return ""
    newest = values[-width:]
    highest = top if top is not None else max(newest, default=0.0)
    return "".join(_block(value, highest) for value in newest).rjust(width)


def _block(value: float, top: float) -> str:
    if top <= 0:
        return BLOCKS[0]
    share = min(max(value / top, 0.0), 1.0)
    return BLOCKS[round(share * (len(BLOCKS) - 1))]


def over_time(
    points: Sequence[tuple[float, float]], now: float, *, width: int, seconds: float, headroom: float = 1.0
) -> str:
    """A sparkline of the last `seconds`: one character a slice of time, a space where nothing was measured.

    A full block is the highest value times `headroom`: above 1, a steady rate is a calm line and no solid block.
    """
    if width <= 0:
        return ""
    step = seconds / width
    start = (
        ceil(now / step) * step - seconds
    )  # slices stand still, so that the row changes once a slice, not once a second
    recent = points[bisect_right(points, (start - HOLD_SECONDS, inf)) : bisect_right(points, (now, inf))]
    top = max((value for _, value in recent), default=0.0) * headroom
    ends = [start + seconds * (index + 1) / width for index in range(width)]
    drawn: list[str] = []
    newest = 0
    for end in ends:
        first = newest
        while newest < len(recent) and recent[newest][0] <= end:
            newest += 1
        values = [value for _, value in recent[first:newest]] or _held(recent, newest, end)
        drawn.append(_block(sum(values) / len(values), top) if values else " ")
    return "".join(drawn)


def _held(points: Sequence[tuple[float, float]], newest: int, end: float) -> list[float]:
    """The point before a slice without one of its own, as long as it is not old."""
    if newest == 0 or end - points[newest - 1][0] > HOLD_SECONDS:
        return []
    return [points[newest - 1][1]]


def bar(share: float, width: int, role: str = "bar") -> Row:
    """A progress bar of exactly `width` cells with eighth steps."""
    if width <= 0:
        return ()
    eighths = int(min(max(share, 0.0), 1.0) * width * 8)
    full = "█" * (eighths // 8) + EIGHTHS[eighths % 8]
    return ((full, role), (REST * (width - len(full)), "bar-rest"))
