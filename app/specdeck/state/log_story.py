"""What a server's log has told so far: phases, progress, first cause, rates. One witness; it does not know if the process lives."""

from dataclasses import dataclass
from typing import Literal

from specdeck.state.phases import PhaseName

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
    progress: Progress | None = None
    cause: Cause | None = None
    batch: BatchReport | None = None
    batch_at: float | None = None
    """When the batch line arrived here (unix seconds, the reader's clock)."""
    warnings: tuple[str, ...] = ()
    lines: int = 0
    has_ready_line: bool = False
