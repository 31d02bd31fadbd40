"""The sheet before an act: what changes, what will end, what was checked, what happens next."""

from collections.abc import Sequence

from specdeck.services.deck import Change, Check, Plan
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.consequences import earlier_starts, requests_in_flight
from specdeck.ui.drawing.spans import Row, fit, wrapped
from specdeck.ui.drawing.words import amount

MARKS = {"passed": ("✓", "ready"), "failed": ("✗", "error"), "unknown": ("?", "warning")}
ARROW = "→"
BLANK: Row = (("", ""),)


def plan_title(plan: Plan) -> str:
    """`Pivot kimi: eagle3-v1 → eagle3-v2`."""
    if plan.act == "end":
        return f"End {plan.server}: its server is gone"
    if plan.act == "stop":
        return f"Stop {plan.server}: {plan.old_profile or 'profile not known'}"
    if plan.old_profile is None or plan.old_profile == plan.new_profile:
        return f"{plan.act.capitalize()} {plan.server}: {plan.new_profile or '-'}"
    return f"{plan.act.capitalize()} {plan.server}: {plan.old_profile} {ARROW} {plan.new_profile or '-'}"


def plan_rows(plan: Plan, model: str, width: int, server: ServerState | None = None) -> list[Row]:
    """Everything above the question; of the server as it is now: what runs on it."""
    notes = [line for note in plan.notes for line in wrapped(note, width - 2, most=4)]
    groups = (
        _changes(plan, width),
        [((f" {line}", ""),) for line in notes],
        [((f" {line}", "accent"),) for line in _watchers(plan, width)],
        _victims(plan, model, width, requests_in_flight(server)),
        [((f" {line}", "dim"),) for line in wrapped(earlier_starts(plan, server), width - 2)],
        _checks(plan, width),
    )
    rows: list[Row] = []
    for group in groups:
        rows += [BLANK, *group] if rows and group else group
    return rows


def fitted(rows: Sequence[Row], room: int) -> list[Row]:
    """As many as there is room for: the blank ones go first, then what stands back, then the difference, and that is said.

    What ends and what was checked stays as long as it can.
    """
    kept = list(rows)
    for is_spare in (_is_blank, _stands_back):
        if len(kept) > room:
            kept = [row for row in kept if not is_spare(row)]
    if len(kept) <= room:
        return kept
    last = kept[len(kept) - max(room - 2, 0) :]
    left_out = len(kept) - 1 - len(last)
    return [kept[0], ((f" … {left_out} more lines; a larger terminal shows them", "dim"),), *last]


def _is_blank(row: Row) -> bool:
    return not any(text.strip() for text, _ in row)


def _stands_back(row: Row) -> bool:
    return all(role == "dim" for text, role in row if text.strip())


def _watchers(plan: Plan, width: int) -> list[str]:
    """Who else will see it happen."""
    return wrapped(f"Also watching: {', '.join(plan.watchers)}", width - 2, most=2) if plan.watchers else []


def _changes(plan: Plan, width: int) -> list[Row]:
    if plan.act != "stop" and not plan.changes and plan.old_profile is not None:
        return [((" the command does not change", "dim"),)]
    return change_rows(plan.changes, width)


def change_rows(changes: Sequence[Change], width: int) -> list[Row]:
    """Name, old and new value, one row each."""
    name = min(max((len(change.name) for change in changes), default=0), width // 2)
    value = max((width - name - 8) // 2, 6)
    old = min(max((len(_value(change.old)) for change in changes), default=0), value)
    return [_change(change, name, old) for change in changes]


def _change(change: Change, name: int, old: int) -> Row:
    return (
        (f"  {fit(change.name, name)}  ", ""),
        (fit(_value(change.old), old), "error" if change.new is None else "dim"),
        (f" {ARROW} ", "dim"),
        (_value(change.new), "ready-strong" if change.new is not None else "error"),
    )


def _value(value: str | None) -> str:
    if value is None:
        return "not there"
    return value or "set"


def _victims(plan: Plan, model: str, width: int, requests: str) -> list[Row]:
    if plan.pid is None:
        return [((f" nothing runs on {plan.host}; model {model}", "dim"),)]
    rest = len([pid for pid, _ in plan.family if pid != plan.pid])
    memory = f", {amount(plan.gpu_memory_mib)} of GPU memory" if plan.gpu_memory_mib is not None else ""
    family = f" and {rest} more of its family" if rest else ""
    of_what = "" if plan.act == "end" else f"; model {model}"
    text = f"Ends pid {plan.pid}{family} on {plan.host}{memory}{f'; {requests}' if requests else ''}{of_what}"
    rows: list[Row] = [((f" {line}", "warning"),) for line in wrapped(text, width - 2)]
    named = ", ".join(f"{pid} {name}" for pid, name in plan.family[:12])
    rows += [((f"   {line}", "dim"),) for line in wrapped(named, width - 4, most=2)]
    limits = f"SIGTERM first; requests may end within {plan.drain_seconds:.0f} s; SIGKILL after {plan.kill_after_seconds:.0f} s"
    return [*rows, *[((f"   {line}", "dim"),) for line in wrapped(limits, width - 4, most=2)]]


def _checks(plan: Plan, width: int) -> list[Row]:
    if not plan.checks:
        return []
    spans = [(" Checks ", "dim")]
    rows: list[Row] = []
    for check in plan.checks:
        mark, role = MARKS[check.state]
        if sum(len(text) for text, _ in spans) + len(check.name) + 5 > width:
            rows.append(tuple(spans))
            spans = [("        ", "")]
        spans += [(f" {check.name} ", ""), (f"{mark} ", role)]
    rows.append(tuple(spans))
    for check in plan.checks:
        rows += _detail(check, width)
    return rows


def _detail(check: Check, width: int) -> list[Row]:
    if check.state == "passed" or not check.detail:
        return []
    mark, role = MARKS[check.state]
    lines = wrapped(f"{check.name}: {check.detail}", width - 5, most=4)
    return [((f"  {mark if index == 0 else ' '} ", role), (line, role)) for index, line in enumerate(lines)]


def question(plan: Plan, model: str) -> str:
    """What Enter would do, with host, pid and model."""
    if plan.act == "end":
        held = f", which holds {amount(plan.gpu_memory_mib)} of GPU memory" if plan.gpu_memory_mib else ""
        return f"End {plan.server} on {plan.host} ({'; '.join(plan.notes)}){held}?"
    pid = f"pid {plan.pid}, " if plan.pid is not None else ""
    verb = {"stop": "Stop", "relaunch": "Stop and start again", "launch": "Start", "pivot": "Pivot"}[plan.act]
    return f"{verb} {plan.server} on {plan.host} ({pid}model {model})?"
