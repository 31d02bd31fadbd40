"""Sparklines and progress bars as text of a fixed width."""

from collections.abc import Sequence

from specdeck.ui.drawing.spans import Row

BLOCKS = "▁▂▃▄▅▆▇█"
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
REST = "░"


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


def over_time(points: Sequence[tuple[float, float]], now: float, *, width: int, seconds: float) -> str:
    """A sparkline of the last `seconds`: one character a slice of time, a space where nothing was measured."""
    if width <= 0:
        return ""
    slices: list[list[float]] = [[] for _ in range(width)]
    start = now - seconds
    for at, value in reversed(points):
        if at <= start:
            break
        slices[min(width - 1, max(0, int((at - start) / seconds * width)))].append(value)
    top = max((max(part) for part in slices if part), default=0.0)
    return "".join(_block(sum(part) / len(part), top) if part else " " for part in slices)


def bar(share: float, width: int, role: str = "bar") -> Row:
    """A progress bar of exactly `width` cells with eighth steps."""
    if width <= 0:
        return ()
    eighths = int(min(max(share, 0.0), 1.0) * width * 8)
    full = "█" * (eighths // 8) + EIGHTHS[eighths % 8]
    return ((full, role), (REST * (width - len(full)), "bar-rest"))
