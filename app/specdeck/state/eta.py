"""When a start will be ready: the median lengths of the phases that remain, by earlier starts of its kind.

The first start of a model since its host booted reads its files from the disk and may compile its kernels, for all profiles
at once: on an H200 it took 49 s to capture graphs, and those after it 13 to 19 s, whatever their profile. Where a warm start
knows only cold ones of its profile, what later starts of other profiles took counts for the phases that they share.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from specdeck.quick_dataclass import dataclass
from specdeck.state.durations import span
from specdeck.state.log_story import LogStory, PhaseSpan
from specdeck.state.snapshot import ServerState, Word
from specdeck.state.starts import PastStart, is_first_since_boot

MOST_STARTS = 5
"""The newest of them: what was long ago was another disk, another model cache."""
_BY_BAR = ("weights", "draft_weights")
"""Phases of one bar; graphs have several, so there a bar tells of a part only."""


@dataclass(frozen=True, slots=True)
class Eta:
    """An estimate, and what it rests on."""

    seconds: float
    ready_at: float
    """Unix seconds, by specdeck's clock."""
    starts: tuple[float, ...]
    """How long the starts took from which it was made, newest first."""
    is_by_cold: bool = False
    """This start is warm, and of its profile only cold ones are known."""


def eta_of(server: ServerState, at: float) -> Eta | None:
    """When it will be ready; None: it does not start, or nothing is known of its kind."""
    starts = starts_of_its_kind(server)
    story = server.story
    if server.word is not Word.STARTING or not starts or (story is not None and story.has_ready_line):
        return None
    is_by_cold = bool(starts[0].is_cold) and not _is_cold(server)
    usual = _warmed(medians_of(starts), _warm_starts(server, starts[0])) if is_by_cold else medians_of(starts)
    seconds = _remaining(server, story, usual, at)
    if seconds is None:
        return None
    return Eta(seconds, at + seconds, tuple(start.seconds for start in starts), is_by_cold)


def starts_of_its_kind(server: ServerState) -> tuple[PastStart, ...]:
    """Same profile and engine version, newest first; a cold start is compared with cold ones where there are any."""
    run = server.run
    if run is None:
        return ()
    known = sorted(
        (start for start in server.past_starts if start.profile == server.profile and start.run != run.run),
        key=lambda start: -start.started_at,
    )
    if not known:
        return ()
    version = server.engine_version or known[0].engine_version
    same = [start for start in known if start.engine_version == version]
    is_cold = _is_cold(server)
    alike = [start for start in same if start.is_cold is is_cold] or same
    return tuple(alike[:MOST_STARTS])


def _is_cold(server: ServerState) -> bool:
    run = server.run
    return run is not None and is_first_since_boot(run.boot_id, run.started_at or float("inf"), server.past_starts)


def _warm_starts(server: ServerState, cold: PastStart) -> Sequence[PastStart]:
    """Of other profiles, newest first."""
    alike = (
        start
        for start in server.past_starts
        if start.is_cold is False and (start.model, start.engine_version) == (cold.model, cold.engine_version)
    )
    return sorted(alike, key=lambda start: -start.started_at)[:MOST_STARTS]


def _warmed(medians: Mapping[str, float], warm: Sequence[PastStart]) -> Mapping[str, float]:
    """A phase of a cold start, or what it took in warm ones, if that is less."""
    shared = medians_of(warm) if warm else {}
    return {name: min(seconds, shared.get(name, seconds)) for name, seconds in medians.items()}


def _remaining(server: ServerState, story: LogStory | None, medians: Mapping[str, float], at: float) -> float | None:
    order = tuple(medians)
    began_at = server.run.started_at if server.run is not None else None
    spans = story.phases if story is not None else ()
    name = spans[-1].name if spans else "import"
    if name == "import" and "import" not in medians:
        return sum(medians.values())
    if name not in medians:
        return None
    later = sum(medians[each] for each in order[order.index(name) + 1 :])
    if story is not None and spans and spans[-1].began is not None:
        began_at = phase_began_at(server, story, spans[-1], medians)
    return later + _rest_of_phase(name, medians[name], story, began_at, at)


def medians_of(starts: Sequence[PastStart]) -> Mapping[str, float]:
    """By phase, in the order of the newest start; a phase that only older ones have does not come."""
    from statistics import median  # with half of its library: the first frame knows no earlier start

    found: dict[str, list[float]] = {name: [] for start in starts for name in ("import",) if _has(start, name)}
    found |= {name: [] for name, _ in starts[0].phases}
    for start in starts:
        for name, seconds in start.phases:
            if name in found:
                found[name].append(seconds)
    return {name: median(seconds) for name, seconds in found.items() if seconds}


def _has(start: PastStart, name: str) -> bool:
    return any(name == each for each, _ in start.phases)


def phase_began_at(
    server: ServerState, story: LogStory, phase: PhaseSpan, medians: Mapping[str, float]
) -> float | None:
    """When the phase began, by our clock: the log's stamps plus the moment of its first, which late readers must guess."""
    zero_at, run = story.zero_at, server.run
    if zero_at is None or phase.began is None:
        return None
    if not server.is_seen_from_start and run is not None and run.started_at is not None and "import" in medians:
        zero_at = min(zero_at, run.started_at + medians["import"])
    return zero_at + phase.began


def _rest_of_phase(name: str, usual: float, story: LogStory | None, began_at: float | None, at: float) -> float:
    bar = story.progress if story is not None else None
    if name in _BY_BAR and bar is not None and bar.done >= 2:
        by_share = usual * (1 - bar.done / bar.total)
        return by_share if bar.eta_seconds is None else bar.eta_seconds
    elapsed = max(0.0, at - began_at) if began_at is not None else 0.0
    return max(0.0, usual - elapsed)


def share_of(server: ServerState, eta: Eta | None, at: float) -> float | None:
    """How much of the start is over, 0 to 1; None: its begin or its length is not known."""
    began = server.run.started_at if server.run is not None else None
    if eta is None or began is None:
        return None
    elapsed = max(0.0, at - began)
    return elapsed / max(elapsed + eta.seconds, 1.0)


def eta_words(eta: Eta) -> str:
    """`ready in about 7m50s (at 14:10:01; last three starts 8m30s 8m18s 8m25s)`."""
    at = f"{datetime.fromtimestamp(eta.ready_at).astimezone():%H:%M:%S}"
    return f"ready in about {span(eta.seconds)} (at {at}; {earlier_starts(eta)})"


def earlier_starts(eta: Eta) -> str:
    """`last three starts 8m30s 8m18s 8m25s`."""
    shown = eta.starts[:3]
    count = {1: "last start", 2: "last two starts", 3: "last three starts"}[len(shown)]
    return f"{count} {' '.join(span(each) for each in shown)}{', cold' if eta.is_by_cold else ''}"
