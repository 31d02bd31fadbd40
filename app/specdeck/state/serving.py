"""What the newest minute of a server's counters says: latencies, cache hits, accepted drafts. Never since its start. Pure."""

import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from specdeck.quick_dataclass import dataclass

WINDOW_SECONDS = 60.0
"""Long enough to hold some requests, short enough to be of now."""
STALE_SECONDS = 15.0
"""A page that is older tells nothing of now; /metrics is asked each 2 to 5 s."""
LONGEST_GAP_SECONDS = 30.0
"""After a silence the window begins anew: what happened in it is of then."""
STEP_SECONDS = 5.0
"""How far the kept pages lie apart."""

CounterName = Literal["ttft", "tpot", "itl", "prefix_queries", "prefix_hits", "drafts", "accepted", "accepted_at"]


class CounterKey(NamedTuple):
    """One counter of one label set."""

    name: CounterName
    series: str
    """The label set, whatever the order of its labels."""
    part: str = ""
    """The bucket's upper bound (`0.5`, `+Inf`), or the position of a draft token."""


Page = Mapping[CounterKey, float]
"""One look at a server's counters: only ever growing, until it is started again."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of one latency, in seconds; above the last bound of the buckets it is that bound."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Serving:
    """What the requests of the window saw; None: there were none, or this engine does not tell."""

    window_seconds: float
    ttft: Quantiles | None = None
    """Time to first token."""
    tpot: Quantiles | None = None
    """Time per output token of a request, without its first."""
    itl: Quantiles | None = None
    """Between two chunks of a stream: with speculation a chunk has several tokens."""
    prefix_hit_rate: float | None = None
    """0 to 1: prompt tokens that the prefix cache had."""
    accept_length: float | None = None
    """Tokens a step: the accepted drafts and one of the target's own."""
    accept_by_position: tuple[float, ...] = ()
    """How often the draft token at each position was accepted, 0 to 1."""


@dataclass(frozen=True, slots=True)
class ServingWindow:
    """Pages, oldest first: those of the window and the one before it as its base; the newest is always kept."""

    pages: tuple[tuple[float, Page], ...] = ()
    newest: Serving | None = None
    """What its pages say; None until two."""
    counts_drafts: bool = False
    """Whether this server's counters tell how many drafts are accepted."""

    def with_page(self, page: Page, at: float) -> "ServingWindow":
        """A counter that fell (the server was started again), a gap or a clock that was set back start anew."""
        if not page:
            return self
        if not self._goes_on(page, at):
            return _window(((at, page),))
        kept = self.pages
        if len(kept) > 1 and kept[-1][0] - kept[-2][0] < STEP_SECONDS:
            kept = kept[:-1]
        base = max((index for index, each in enumerate(kept) if each[0] <= at - WINDOW_SECONDS), default=0)
        return _window((*kept[base:], (at, page)))

    def _goes_on(self, page: Page, at: float) -> bool:
        if not self.pages:
            return False
        last_at, last = self.pages[-1]
        shared = last.keys() & page.keys()
        return (
            0 < at - last_at <= LONGEST_GAP_SECONDS and bool(shared) and all(page[key] >= last[key] for key in shared)
        )

    def serving(self, at: float) -> Serving | None:
        """None until two pages, and once the newest is old."""
        return self.newest if self.pages and at - self.pages[-1][0] <= STALE_SECONDS else None


def _window(pages: tuple[tuple[float, Page], ...]) -> ServingWindow:
    """Worked out once a page: it is asked after at every event of its server."""
    counts_drafts = any(key.name == "drafts" for key in pages[-1][1])
    return ServingWindow(pages, _serving(*pages[0], *pages[-1]) if len(pages) > 1 else None, counts_drafts)


def _serving(began: float, old: Page, ended: float, new: Page) -> Serving:
    grown = _grown(old, new)
    return Serving(
        window_seconds=ended - began,
        ttft=_quantiles(grown, "ttft"),
        tpot=_quantiles(grown, "tpot"),
        itl=_quantiles(grown, "itl"),
        prefix_hit_rate=_share(grown.get(("prefix_hits", "")), grown.get(("prefix_queries", ""))),
        accept_length=_accept_length(grown),
        accept_by_position=_by_position(grown),
    )


_Grown = Mapping[tuple[CounterName, str], float]


def _grown(old: Page, new: Page) -> _Grown:
    """Differences label set by label set, then summed; a label set that was not there has begun at 0 since."""
    grown: dict[tuple[CounterName, str], float] = {}
    for key, value in new.items():
        place = (key.name, key.part)
        grown[place] = grown.get(place, 0.0) + value - old.get(key, 0.0)
    return grown


def _quantiles(grown: _Grown, name: CounterName) -> Quantiles | None:
    buckets = sorted((bound, count) for bound, count in _bounds(grown, name))
    if not buckets or buckets[-1][1] <= 0:
        return None
    return Quantiles(quantile(buckets, 0.5), quantile(buckets, 0.95))


def _bounds(grown: _Grown, name: CounterName) -> Iterable[tuple[float, float]]:
    for (counter, part), count in grown.items():
        if counter == name and (bound := _number(part)) is not None:
            yield bound, count


def quantile(buckets: list[tuple[float, float]], share: float) -> float:
    """Of cumulative counts by upper bound, in their order: linear inside a bucket, as Prometheus does it."""
    rank = share * max(count for _, count in buckets)
    lower, below = 0.0, 0.0
    for bound, count in buckets:
        if count >= rank and count > below:
            return lower if math.isinf(bound) else lower + (bound - lower) * (rank - below) / (count - below)
        lower, below = (lower if math.isinf(bound) else bound), max(below, count)
    return lower


def _share(part: float | None, whole: float | None) -> float | None:
    return min(1.0, part / whole) if part is not None and whole else None


def _accept_length(grown: _Grown) -> float | None:
    share, drafts = grown.get(("accepted", "")), grown.get(("drafts", ""))
    return 1.0 + share / drafts if share is not None and drafts else None


def _by_position(grown: _Grown) -> tuple[float, ...]:
    drafts = grown.get(("drafts", ""))
    found = sorted((int(part), count) for (name, part), count in grown.items() if name == "accepted_at")
    return tuple(min(1.0, count / drafts) for _, count in found) if drafts else ()


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return None if math.isnan(value) else value
