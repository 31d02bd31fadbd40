"""The phases of a start: while it runs what each took beside what is usual, afterwards the record of it."""

from collections.abc import Sequence

from specdeck.state.log_story import LogStory
from specdeck.state.timeline import Step, told_seconds
from specdeck.ui.drawing.meters import bar
from specdeck.ui.drawing.spans import Row, Span, fit
from specdeck.ui.drawing.state_words import LABELS
from specdeck.ui.drawing.words import UNKNOWN, lasted

MARKS = {"past": ("✓ ", "ready"), "now": ("▶ ", "starting-strong"), "next": ("· ", "dim")}
FAILED = ("✖ ", "error")
COLUMN, LABEL = 7, 9
GAPS = (6, 4, 3, 2, 1)
SLOW_FACTOR, SLOW_SECONDS = 1.5, 5.0
"""A phase that takes so much longer than usual is marked."""
NAME = 14
LONGEST = 3
BEFORE_FALL = 43
"""Cells of a phase's name and numbers in the waterfall."""


def phase_table(steps: Sequence[Step], width: int, *, is_broken: bool = False) -> list[Row]:
    """Names, lengths, usual lengths in three aligned rows; empty where they do not fit side by side."""
    columns = [max(len(LABELS[step.name]), COLUMN) for step in steps]
    gap = next((gap for gap in GAPS if LABEL + sum(columns) + gap * len(columns) <= width), 0)
    if not steps or not gap:
        return []
    blank = (" " * gap, "")
    pairs = list(zip(steps, columns, strict=True))
    rows = [
        _table_row("", [(((fit(LABELS[step.name], size), _name_role(step)),), blank) for step, size in pairs]),
        _table_row("now", [((_mark(step, is_broken), _length(step, size - 2)), blank) for step, size in pairs]),
    ]
    if any(step.usual is not None for step in steps):
        usual = [(((fit("  " + lasted(step.usual), size), "dim"),), blank) for step, size in pairs]
        rows.append(_table_row("usually", usual))
    return rows


def _table_row(label: str, cells: Sequence[tuple[Row, Span]]) -> Row:
    return ((fit(f" {label}", LABEL), "dim"), *(span for cell, blank in cells for span in (*cell, blank)))


def _name_role(step: Step) -> str:
    return {"past": "", "now": "starting-strong", "next": "dim"}[step.stage]


def _mark(step: Step, is_broken: bool) -> Span:
    return FAILED if is_broken and step.stage == "now" else MARKS[step.stage]


def _length(step: Step, width: int) -> Span:
    text = "" if step.stage == "next" else lasted(step.seconds)
    return fit(text, width), "warning" if is_slow(step) else "dim" if text == UNKNOWN else ""


def is_slow(step: Step) -> bool:
    """It takes, or took, clearly longer than usual."""
    if step.seconds is None or step.usual is None:
        return False
    return step.seconds > step.usual * SLOW_FACTOR and step.seconds - step.usual > SLOW_SECONDS


def phase_strip(steps: Sequence[Step], width: int, *, is_broken: bool = False) -> Row:
    """`✓✓✓✓▶······  weights 14 s, usually 25 s; then graphs 5m02s, draft graphs 2m01s`, for narrow screens."""
    marks = [(mark.strip(), role) for mark, role in (_mark(step, is_broken) for step in steps)]
    present = next((step for step in steps if step.stage == "now"), None)
    spans: list[Span] = [(" ", ""), *marks, ("  ", "")]
    if present is not None:
        spans.append((LABELS[present.name], "error" if is_broken else "starting-strong"))
        spans.append((f" {lasted(present.seconds)}", "warning" if is_slow(present) else ""))
        if present.usual is not None:
            spans.append((f", usually {lasted(present.usual)}", "dim"))
    to_come = [step for step in steps if step.stage == "next" and step.usual is not None]
    if to_come and not is_broken:
        longest = sorted(to_come, key=lambda step: -(step.usual or 0.0))[:2]
        words = ", ".join(f"{LABELS[step.name]} {lasted(step.usual)}" for step in to_come if step in longest)
        spans.append((f"; then {words}", "dim"))
    return tuple(spans)


def start_bar(steps: Sequence[Step], share: float, width: int) -> Row:
    """The whole start as a bar of `width` cells; a mark where each longer phase that comes begins."""
    cells = [text for text, _ in bar(share, width)]
    full, rest = (cells[0], cells[1]) if len(cells) == 2 else ("", "")
    ends = _begins(steps, width)
    marked = "".join("┊" if len(full) + index in ends else char for index, char in enumerate(rest))
    return ((full, "starting"), (marked, "bar-rest"))


def _begins(steps: Sequence[Step], width: int) -> set[int]:
    """The cells in which a phase begins; phases of less than two cells have none."""
    lengths = [_expected(step) for step in steps]
    total = sum(lengths)
    begins: set[int] = set()
    at = 0.0
    for length in lengths:
        if total and length / total * width >= 2 and at:
            begins.add(int(at / total * width))
        at += length
    return begins


def _expected(step: Step) -> float:
    if step.stage == "now":
        return max(step.seconds or 0.0, step.usual or 0.0)
    return step.seconds or step.usual or 0.0


def waterfall(steps: Sequence[Step], width: int, *, is_broken: bool = False) -> list[Row]:
    """One row a phase, as a bar from its begin to its end: the whole start to be looked at in peace."""
    room = width - BEFORE_FALL
    lengths = [_expected(step) for step in steps]
    total = sum(lengths)
    rows: list[Row] = []
    at = 0.0
    for step, length in zip(steps, lengths, strict=True):
        rows.append(
            _fall(step, at / total if total else 0.0, length / total if total else 0.0, max(room, 8), is_broken)
        )
        at += length
    return rows


def _fall(step: Step, begin: float, share: float, room: int, is_broken: bool) -> Row:
    left = min(int(begin * room), room - 1)
    size = min(max(round(share * room), 1 if share else 0), room - left)
    role = "dim" if step.stage == "next" else "starting" if step.stage == "now" else "spark"
    drawn = ("░" if step.stage == "next" else "█") * size
    took = "" if step.stage == "next" else lasted(step.seconds)
    usual = f"usually {lasted(step.usual)}" if step.usual is not None else ""
    return (
        (" ", ""),
        _mark(step, is_broken),
        (fit(LABELS[step.name], NAME), _name_role(step)),
        (f"{took:>7}  ", "warning" if is_slow(step) else ""),
        (f"{usual:<15}  ", "dim"),
        (" " * left + drawn, role),
        (" " * (room - left - size), ""),
    )


def ready_line(story: LogStory, steps: Sequence[Step], width: int = 200) -> str:
    """`ready after 8m25s, usually 8m18s (graphs 5m02s, weights 25 s), speculation v2`: the longest phases, as many as fit first.

    Empty where no times were told.
    """
    told = [step for step in steps if step.seconds]
    if not told:
        return ""
    seconds, usual = told_seconds(steps)
    longest = sorted(told, key=lambda step: -(step.seconds or 0.0))[:LONGEST]
    beside = f", usually {lasted(usual)}" if usual is not None else ""
    mode = f", speculation {story.speculation}" if story.speculation else ""
    lines = []
    for number in range(len(longest), 0, -1):
        parts = ", ".join(f"{LABELS[step.name]} {lasted(step.seconds)}" for step in longest[:number])
        lines.append(f"ready after {lasted(seconds)}{beside} ({parts}){mode}")
    return next((line for line in lines if len(line) <= width), lines[-1])
