"""What a server's log has told so far: phases, progress, first cause, rates. One witness; it does not know if the process lives."""

from typing import Literal

from specdeck.quick_dataclass import dataclass, replace
from specdeck.state.phases import PhaseName
from specdeck.state.timings import StartTimings

LogWord = Literal["starting", "ready", "stopping", "stopped", "crashed"]


@dataclass(frozen=True, slots=True)
class Phase:
    """Where a start is: `index` counts from 1, `total` is that of this run."""

    name: PhaseName
    index: int
    total: int


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """One phase of this start; times are the log's own, in seconds since the run's first stamp, None where not told."""

    name: PhaseName
    began: float | None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The bar that moves now: never falls inside one phase."""

    label: str
    """`target weights`, `draft weights`, `graphs`, `draft graphs`, ..."""
    done: int
    total: int
    percent: float
    rate: float | None = None
    """Steps per second, by the bar's own word."""
    eta_seconds: float | None = None
    """Of this bar, only where it is honest (two steps seen); never of the whole start."""
    detail: str = ""
    """Who is where, when several write: `Worker_DP0_TP0 4/10, Worker_DP1_TP0 2/10`; the slowest is shown."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a start or a server failed: the first cause in the log, not the last line."""

    kind: str
    """`bad-argument`, `missing-module`, `missing-model`, `out-of-memory`, `port-in-use`, `killed`, `nccl`, `exception`, ..."""
    message: str
    line: int | None = None
    """Line number in the log, from 1; lines end at \\n, \\r\\n or \\r."""
    rank: str | None = None
    hint: str | None = None
    """What to do."""
    other_ranks: int = 0
    """How many ranks failed as well: they mostly only saw this one fail."""
    is_fatal: bool = True


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The engine's newest throughput line, summed over its data-parallel ranks; not a rate over a window."""

    tok_s: float
    running: int
    queued: int
    kv_usage: float | None = None
    accept_length: float | None = None
    follows_idle: bool = False
    """The first line after a pause: its rate includes the idle time and is not shown."""


@dataclass(frozen=True, slots=True, eq=False)
class LogStory:
    """All of it; replaced on every change."""

    engine: str | None = None
    word: LogWord = "starting"
    engine_version: str | None = None
    speculation: str | None = None
    """The mode that the engine itself declared: `v1`, `v2`, `ngram`, ...; None: none or not told."""
    phase: Phase | None = None
    phases: tuple[PhaseSpan, ...] = ()
    order: tuple[PhaseName, ...] = ()
    """All phases of this run, in the order in which they come; empty: not known."""
    progress: Progress | None = None
    cause: Cause | None = None
    batch: BatchReport | None = None
    batch_at: float | None = None
    """When the batch line arrived here (unix seconds, the reader's clock)."""
    warnings: tuple[str, ...] = ()
    lines: int = 0
    is_complete: bool = False
    """Nobody writes it any more and all of it was read."""
    zero_at: float | None = None
    """When the log's first stamp was written, by the reader's clock: too late for lines that were not read as they came."""
    spoke_at: float | None = None
    """When the last line arrived that no watcher's own request caused (unix seconds, the reader's clock)."""
    has_ready_line: bool = False
    loading_total: int | None = None
    """How many shards the target's weights have, by its bar."""
    timings: StartTimings | None = None
    """What the engine itself measured of this start."""
    draft_steps: int | None = None
    """How many steps are drafted now, where the engine adapts that while it runs; 0: it does not draft at this load."""


def others_words(cause: Cause) -> str:
    """`7 other ranks failed too`; empty for none."""
    number = cause.other_ranks
    return f"{number} other rank{'' if number == 1 else 's'} failed too" if number else ""


def index_of(name: PhaseName, order: tuple[PhaseName, ...]) -> Phase:
    """A phase with its place among those of this run."""
    return Phase(name, order.index(name) + 1, len(order))


def enter_phase(spans: tuple[PhaseSpan, ...], name: PhaseName, at: float | None) -> tuple[PhaseSpan, ...]:
    """The spans once `name` began: the one that was open ends there."""
    if spans and spans[-1].ended is None:
        spans = (*spans[:-1], replace(spans[-1], ended=at))
    return (*spans, PhaseSpan(name, at))


def close_phases(spans: tuple[PhaseSpan, ...], at: float | None) -> tuple[PhaseSpan, ...]:
    """The spans once the start is over."""
    if not spans or spans[-1].ended is not None:
        return spans
    return (*spans[:-1], replace(spans[-1], ended=at))


def further(old: Progress | None, new: Progress) -> Progress:
    """The progress to show: inside one label it never falls, whoever writes."""
    if old is None or old.label != new.label or new.percent >= old.percent:
        return new
    return replace(old, detail=new.detail or old.detail)


def silent_death(story: LogStory) -> Cause:
    """The cause of a server that is known to be gone while its log tells none: only for a process that ended unasked."""
    if story.cause is not None:
        return story.cause
    where = "while it served" if story.has_ready_line else _place(story)
    return Cause(
        kind="killed",
        message=f"ended without an error message {where}",
        line=story.lines or None,
        hint="Often the kernel's out-of-memory killer or a SIGKILL: `dmesg -T | grep -i -E 'oom|killed process'`.",
    )


def _place(story: LogStory) -> str:
    """Where a start was: at its bar, or in its phase."""
    if story.progress is not None and story.progress.done < story.progress.total:
        return f"at {story.progress.done}/{story.progress.total} ({story.progress.label})"
    return f"in phase {story.phase.name}" if story.phase is not None else "before it wrote anything"
