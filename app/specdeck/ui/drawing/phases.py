"""The phases of a start: a timeline while it runs, one line when it is over."""

from specdeck.state.log_story import LogStory, PhaseSpan
from specdeck.ui.drawing.spans import Row, Span, width_of
from specdeck.ui.drawing.state_words import LABELS
from specdeck.ui.drawing.words import lasted


def timeline(story: LogStory, width: int, *, elapsed: float | None) -> list[Row]:
    """`starting for 42 s  ✓ import 9 s  ✓ arguments 2 s  ▶ weights`, on as many rows as it takes."""
    phase = story.phase
    is_short = width < 100
    items: list[Row] = []
    if elapsed is not None:
        items.append(((f"{'up' if phase is None else 'for'} {lasted(elapsed)}", "strong"),))
    seen = {span.name for span in story.phases}
    for span in story.phases:
        is_now = phase is not None and span.name == phase.name
        if is_short and not is_now:
            continue
        items.append(_now(span) if is_now else _past(span))
    if phase is not None and phase.name not in seen:
        items.append(((f"▶ {LABELS[phase.name]}", "starting-strong"),))
    if phase is not None and (rest := phase.total - phase.index):
        items.append(((f"· {rest} to go", "dim"),))
    return _flowing(items, width)


def _past(span: PhaseSpan) -> Row:
    took = f" {_took(span)}" if _took(span) else ""
    return (("✓ ", "ready"), (f"{LABELS[span.name]}{took}", "dim"))


def _now(span: PhaseSpan) -> Row:
    return ((f"▶ {LABELS[span.name]}", "starting-strong"),)


def _took(span: PhaseSpan) -> str:
    if span.began is None or span.ended is None or span.ended <= span.began:
        return ""
    return lasted(span.ended - span.began)


def _flowing(items: list[Row], width: int) -> list[Row]:
    rows: list[Row] = []
    row: list[Span] = [(" ", "")]
    for item in items:
        if width_of(row) + width_of(item) + 2 > width and len(row) > 1:
            rows.append(tuple(row))
            row = [(" ", "")]
        row += [*item, ("  ", "")]
    return [*rows, tuple(row)] if len(row) > 1 else rows


def ready_line(story: LogStory) -> str:
    """`ready after 8m25 (weights 25 s, graphs 5m02)`: the longest phases first; empty where the log told no times."""
    spans = [span for span in story.phases if span.began is not None and span.ended is not None]
    if not spans:
        return ""
    began = min(span.began for span in spans if span.began is not None)
    ended = max(span.ended for span in spans if span.ended is not None)
    longest = sorted(spans, key=lambda span: (span.began or 0.0) - (span.ended or 0.0))[:3]
    parts = ", ".join(f"{LABELS[span.name]} {took}" for span in longest if (took := _took(span)))
    mode = f", speculation {story.speculation}" if story.speculation else ""
    return f"ready after {lasted(ended - began)} ({parts}){mode}"
