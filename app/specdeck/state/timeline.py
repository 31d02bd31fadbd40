"""A start as steps: each phase with its length now and the median of earlier starts of its kind, what comes included."""

from collections.abc import Mapping, Sequence
from typing import Literal

from specdeck.quick_dataclass import dataclass
from specdeck.state.eta import medians_of, phase_began_at, starts_of_its_kind
from specdeck.state.log_story import LogStory, PhaseSpan
from specdeck.state.phases import PhaseName
from specdeck.state.snapshot import ServerState, Word


@dataclass(frozen=True, slots=True)
class Step:
    """One phase of a start."""

    name: PhaseName
    stage: Literal["past", "now", "next"]
    """`now` is also the phase in which a start ended that never became ready."""
    seconds: float | None = None
    """How long it took, or lasts by now; None: not told, or it has not begun."""
    usual: float | None = None
    """Median seconds of earlier starts of the same profile and engine version; None: there are none."""


def timeline_of(server: ServerState, at: float) -> tuple[Step, ...]:
    """All phases of the run in their order; empty where neither its log nor an earlier start tells them. `at`: unix seconds."""
    starts = starts_of_its_kind(server)
    usual: Mapping[str, float] = medians_of(starts) if starts else {}
    story = server.story or LogStory()
    spans = {span.name: span for span in story.phases}
    names = _names(story, spans, usual)
    if not spans and server.word is not Word.STARTING:
        return ()
    present = _present(story, names)
    index = names.index(present) if present is not None else len(names)
    steps = []
    for place, name in enumerate(names):
        stage: Literal["past", "now", "next"] = "past" if place < index else "now" if place == index else "next"
        seconds = None
        if stage == "now":
            seconds = _so_far(server, story, spans.get(name), usual, at)
        elif stage == "past" and name in spans:
            seconds = _took(server, story, spans[name])
        steps.append(Step(name, stage, seconds, usual.get(name)))
    return tuple(steps)


def told_seconds(steps: Sequence[Step]) -> tuple[float, float | None]:
    """(this start, the usual one) in seconds over the phases whose length is known; None where one of them has no usual."""
    told = [step for step in steps if step.seconds is not None]
    usual = [step.usual for step in told if step.usual is not None]
    return sum(step.seconds or 0.0 for step in told), sum(usual) if usual and len(usual) == len(told) else None


def _names(story: LogStory, spans: Mapping[PhaseName, PhaseSpan], usual: Mapping[str, float]) -> tuple[PhaseName, ...]:
    if story.order and set(spans) <= set(story.order):
        # before the engine has told its arguments nobody knows whether it drafts; the last start of this profile does
        is_usual = set(spans) <= {"import", "arguments"} and set(story.order) < set(usual)
        return tuple(usual) if is_usual else story.order  # type: ignore[arg-type]
    seen: list[str] = [span.name for span in story.phases]
    return tuple(dict.fromkeys([*seen, *(name for name in usual if name not in seen)]))  # type: ignore[list-item]


def _present(story: LogStory, names: Sequence[PhaseName]) -> PhaseName | None:
    if story.has_ready_line:
        return None
    if story.phase is not None and story.phase.name in names:
        return story.phase.name
    return story.phases[-1].name if story.phases else names[0] if names else None


def _took(server: ServerState, story: LogStory, span: PhaseSpan) -> float | None:
    if span.began is not None and span.ended is not None:
        return max(0.0, span.ended - span.began)
    started_at = server.run.started_at if server.run is not None else None
    if span.name == "import" and server.is_seen_from_start and started_at is not None and story.zero_at is not None:
        return max(0.0, story.zero_at - started_at)
    return None


def _so_far(
    server: ServerState, story: LogStory, span: PhaseSpan | None, usual: Mapping[str, float], at: float
) -> float | None:
    began = server.run.started_at if server.run is not None and (span is None or span.name == "import") else None
    if span is not None and span.began is not None:
        began = phase_began_at(server, story, span, usual)
    if server.word is not Word.STARTING and server.evidence.log_at is not None:
        at = server.evidence.log_at
    return None if began is None else max(0.0, at - began)
