"""A second opinion by rule, from the timeline alone: processes, port owner, HTTP code, memory; it knows nothing of specdeck."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.replays.lives import Life, Row

GRACE_SECONDS = 1.0
"""Of every change: polls and looks take their time."""
SAME_MEMORY_MIB = 64


def observed(life: Life) -> tuple[str, ...]:
    """The word at each row."""
    return tuple(_word(life, row) for row in life.rows)


def _word(life: Life, row: Row) -> str:
    """`crashed` once the parent has died of itself: what it leaves behind serves nobody."""
    lives = row.processes.get(life.pid, "Z") != "Z"
    if life.stop_asked_at is not None and row.at >= life.stop_asked_at:
        return "stopped" if _is_clear(life, row) else "stopping"
    if not lives:
        return "crashed"
    if life.port_owner is not None and row.listens:
        return "blocked"
    if _is_hung(life, row):
        return "stalled"
    codes = [poll.code for poll in life.polls if poll.at <= row.at]
    if life.port_owner is not None or "200" not in codes or not row.listens:
        return "starting"
    return "unhealthy" if codes[-1] == "503" else "ready"


def _is_clear(life: Life, row: Row) -> bool:
    before = life.rows[0].memory_mib or 0
    is_memory_back = row.memory_mib is None or row.memory_mib <= before + SAME_MEMORY_MIB
    return set(row.processes.values()) <= {"Z"} and not row.listens and is_memory_back


def _is_hung(life: Life, row: Row) -> bool:
    """Its scheduler was stopped with two streams open (marks.json); the log and the streams stand still meanwhile."""
    stopped = next((at for mark, at in life.marks.items() if mark.startswith("SIGSTOP")), None)
    resumed = next((at for mark, at in life.marks.items() if mark.startswith("SIGCONT")), None)
    return stopped is not None and resumed is not None and stopped <= row.at < resumed


@dataclass(frozen=True, slots=True)
class Difference:
    """A time in which two words stand against each other, far from any change."""

    at: float
    seconds: float
    observed: str
    said: str


def differences(life: Life, said: tuple[str, ...]) -> Iterator[Difference]:
    """Row by row, without the grace."""
    seen = observed(life)
    changes = [life.rows[place].at for place in range(1, len(seen)) if seen[place] != seen[place - 1]]
    for place, row in enumerate(life.rows[:-1]):
        is_in_grace = any(abs(row.at - change) <= GRACE_SECONDS for change in changes)
        if seen[place] != said[place] and not is_in_grace:
            yield Difference(row.at, life.rows[place + 1].at - row.at, seen[place], said[place])
