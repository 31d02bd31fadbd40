"""What a grammar writes down while it reads a log; the story is made of it when somebody asks."""

from dataclasses import field

from specdeck.engines.failures import Failure
from specdeck.parsing.bars import Bar
from specdeck.quick_dataclass import dataclass, replace
from specdeck.state.log_story import (
    BatchReport,
    Cause,
    LogStory,
    LogWord,
    PhaseSpan,
    Progress,
    close_phases,
    enter_phase,
    further,
    index_of,
)
from specdeck.state.phases import PhaseName
from specdeck.state.timings import StartTimings

MOST_WARNINGS = 20
SEVERAL = "the furthest of several unnamed writers"
_HONEST_STEPS = 2
"""Before it a bar's estimate comes from its first step, which may compile for minutes."""


@dataclass(slots=True)
class Notebook:
    """The mutable draft of a LogStory; every rule that all engines share is here."""

    order: tuple[PhaseName, ...]
    engine: str | None = None
    word: LogWord = "starting"
    engine_version: str | None = None
    speculation: str | None = None
    draft_steps: int | None = None
    lines: int = 0
    has_ready_line: bool = False
    batch: BatchReport | None = None
    batch_at: float | None = None
    loading_total: int | None = None
    timings: StartTimings | None = None
    phases: tuple[PhaseSpan, ...] = ()
    progress: Progress | None = None
    cause: Cause | None = None
    warnings: tuple[str, ...] = ()
    _order_of_cause: int = 0
    _is_certain: bool = False
    """Whether the cause cannot be taken back by a ready line: a failed bind, a dead child."""
    _writers: dict[str, Bar] = field(default_factory=dict)
    _furthest: dict[str, Progress] = field(default_factory=dict)
    """By label: one that comes back after another goes on where it was."""
    _finished: set[str] = field(default_factory=set)
    _failed_ranks: set[str] = field(default_factory=set)
    _is_complete: bool = False

    @property
    def phase(self) -> PhaseName | None:
        """The phase that the start is in, or was in when it ended."""
        return self.phases[-1].name if self.phases else None

    @property
    def is_loading(self) -> bool:
        """Whether phases and bars still count."""
        return self.word == "starting"

    def enter(self, name: PhaseName, at: float | None) -> None:
        """A phase began; a phase that lies behind is not entered again."""
        if not self.is_loading or name not in self.order:
            return
        current = self.phase
        if current is not None and self.order.index(name) <= self.order.index(current):
            return
        self.phases = enter_phase(self.phases, name, at)
        if name in ("http", "warm_up"):
            self.progress = None

    def has_reached(self, name: PhaseName) -> bool:
        """Whether this phase began or lies behind."""
        return self.phase is not None and self.order.index(self.phase) >= self.order.index(name)

    def has_finished(self, label: str) -> bool:
        """Whether a bar of this name was through."""
        return label in self._finished

    def show(self, bar: Bar, label: str) -> None:
        """A bar was redrawn. Several named writers: the slowest counts. Several unnamed: the furthest, and says so."""
        label = self._label_of_this_round(bar, label)
        detail = ""
        if bar.writer is not None:
            self._writers[bar.writer] = bar
            bar = min(self._writers.values(), key=lambda each: each.percent)
            detail = ", ".join(f"{who} {each.done}/{each.total}" for who, each in sorted(self._writers.items()))
        elif self._falls_behind(bar, label):
            detail = SEVERAL
        if bar.done >= bar.total:
            self._finished.add(label)
        self.progress = self._furthest[label] = further(self._furthest.get(label), _progress(bar, label, detail))

    def ready(self, at: float | None) -> None:
        """The engine says that it serves; after a certain failure (its port was taken) that is not believed."""
        if self._is_certain or self.word in ("stopping", "stopped"):
            return
        self.has_ready_line = True
        self.phases = close_phases(self.phases, at)
        self.word = "ready"
        self.progress = None
        self.cause = None
        self._order_of_cause = 0

    def joined(self) -> None:
        """The log's beginning is not here, and it serves."""
        if not self.is_loading:
            return
        self.phases = ()
        self.has_ready_line = True
        self.word = "ready"

    def of_next_run(self, order: tuple[PhaseName, ...]) -> "Notebook":
        """A fresh page for a run that was appended to the same log."""
        return Notebook(order, engine=self.engine, lines=self.lines)

    def stopping(self) -> None:
        """Somebody asked it to end; what is written after its end changes nothing."""
        if self.word not in ("crashed", "stopped"):
            self.word = "stopping"
            self.progress = None

    def stopped(self) -> None:
        """It ended as asked."""
        if self.word != "crashed":
            self.word = "stopped"
            self.progress = None

    def blame(self, failure: Failure, *, line: int, rank: str | None = None, is_certain: bool = True) -> None:
        """A fatal failure: the first of the most telling kind stays the cause. After a wanted stop nothing is one."""
        if self.word in ("stopping", "stopped"):
            return
        self.word = "crashed"
        self._is_certain = self._is_certain or is_certain
        if self.cause is None or failure.order < self._order_of_cause:
            self._order_of_cause = failure.order
            self.cause = Cause(failure.kind, failure.message, line=line, rank=rank, hint=failure.hint)
        if rank and failure.kind != "child-failed":  # that is a process which only saw another one fail
            self._failed_ranks.add(rank)

    def warn(self, text: str) -> None:
        """Something that is no failure; each text once."""
        if text not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings = (*self.warnings, text)

    def end(self) -> None:
        """The log will not grow: a life without an end is worth a warning."""
        self._is_complete = True
        if self.word in ("starting", "ready", "stopping"):
            self.warn(f"the log ends without an end: its last word is {self.word}")

    def story(self) -> LogStory:
        """What is known now."""
        current = self.phase
        return LogStory(
            engine=self.engine,
            word=self.word,
            engine_version=self.engine_version,
            speculation=self.speculation,
            draft_steps=self.draft_steps,
            phase=index_of(current, self.order) if current is not None and not self.has_ready_line else None,
            phases=self.phases,
            order=self.order,
            progress=self.progress,
            cause=self._cause(),
            batch=self.batch,
            batch_at=self.batch_at,
            warnings=self.warnings,
            lines=self.lines,
            is_complete=self._is_complete,
            has_ready_line=self.has_ready_line,
            loading_total=self.loading_total,
            timings=self.timings,
        )

    def _cause(self) -> Cause | None:
        if self.cause is None:
            return None
        return replace(self.cause, other_ranks=len(self._failed_ranks - {self.cause.rank or ""}))

    def _label_of_this_round(self, bar: Bar, label: str) -> str:
        """`draft graphs (2)` for a bar that starts again under a name that was already through."""
        shown = self.progress.label if self.progress is not None else ""
        if shown != label and not shown.startswith(f"{label} ("):
            self._writers = {}
            shown = label
        if shown in self._finished and bar.done == 0 and bar.writer is None:
            number = 2
            while (again := f"{label} ({number})") in self._finished:
                number += 1
            return again
        return shown

    def _falls_behind(self, bar: Bar, label: str) -> bool:
        shown = self._furthest.get(label)
        return shown is not None and (shown.detail == SEVERAL or (bar.done > 0 and bar.percent < shown.percent))


def _progress(bar: Bar, label: str, detail: str) -> Progress:
    is_honest = bar.done >= _HONEST_STEPS
    return Progress(
        label=label,
        done=bar.done,
        total=bar.total,
        percent=bar.percent,
        rate=bar.rate,
        eta_seconds=bar.eta_seconds if is_honest else None,
        detail=detail,
    )
