"""What requests of the newest minute saw, as one row: latencies (median and 95 %), cache hits, accepted drafts."""

from specdeck.state.serving import Quantiles, Serving
from specdeck.ui.drawing.spans import Row, width_of


def serving_row(serving: Serving | None, width: int = 200) -> Row | None:
    """`TTFT p50 310 ms p95 1.2 s   TPOT p50 24 ms p95 31 ms   prefix hits 25 %   (60 s)`; None: nothing to tell.

    What does not fit whole is left out.
    """
    if serving is None:
        return None
    told = (
        _pair("TTFT", serving.ttft),
        _pair("TPOT", serving.tpot),
        _pair("ITL", serving.itl) if serving.tpot is None else (),
        _share("prefix hits", serving.prefix_hit_rate),
        _positions(serving.accept_by_position),
    )
    window = (f"({serving.window_seconds:.0f} s)", "dim")
    row: Row = ((" ", ""),)
    for part in told:
        if part and width_of((*row, *part, window)) <= width:
            row = (*row, *part)
    return (*row, window) if len(row) > 1 else None


def latency(seconds: float) -> str:
    """`24 ms`, `1.2 s`."""
    if seconds < 0.00995:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


def _pair(name: str, found: Quantiles | None) -> Row:
    if found is None:
        return ()
    words = f"p50 {latency(found.p50)} p95 {latency(found.p95)}"
    return ((f"{name} ", "dim"), (f"{words}   ", ""))


def _share(name: str, share: float | None) -> Row:
    return () if share is None else ((f"{name} ", "dim"), (f"{share * 100:.0f} %   ", ""))


def _positions(shares: tuple[float, ...]) -> Row:
    """How often the first, the second, ... draft token was accepted."""
    if not shares:
        return ()
    return (("accepted by position ", "dim"), (f"{' '.join(f'{share * 100:.0f}' for share in shares[:8])} %   ", ""))
