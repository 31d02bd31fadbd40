"""What the files of a run's folder and the journal of an act say, as state objects; they were written by a script, maybe half."""

from typing import get_args

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass
from specdeck.services.answers import RunFiles
from specdeck.services.journal import LAST_STEPS, Step, read_step
from specdeck.state.snapshot import Act, ActKind, RunIdentity


@dataclass(frozen=True, slots=True)
class HostClock:
    """The difference between the host's clock and ours."""

    ahead_seconds: float = 0.0

    def ours(self, theirs: float) -> float:
        """A moment by the host's clock, by ours."""
        return theirs - self.ahead_seconds


def read_run(files: RunFiles, folder: str, clock: HostClock) -> RunIdentity | None:
    """The run; None while there is none, or while its wrapper has not yet written the pid."""
    pid, start_time = two_numbers(files.items.get("pid", ""))
    has_ended = "exit" in files.items
    started = _number(files.items.get("started", ""))
    if files.run is None or (pid is None and not has_ended):
        return None
    return RunIdentity(
        run=files.run,
        pid=pid or 0,
        start_time=start_time or 0,
        boot_id=files.items.get("boot", ""),
        profile=plain(files.items.get("profile", "")) or None,
        log=f"{folder}/{files.run}/log",
        started_at=None if started is None else clock.ours(started),
        started_by=plain(files.items.get("who", "")) or None,
    )


def read_exit(files: RunFiles) -> int | None:
    """The exit status that the wrapper wrote."""
    return two_numbers(files.items.get("exit", ""))[0]


def read_ended(files: RunFiles, clock: HostClock) -> float | None:
    """When the wrapper saw it end, by our clock."""
    ended = two_numbers(files.items.get("exit", ""))[1]
    return None if ended is None else clock.ours(ended)


def read_actor(files: RunFiles) -> tuple[int | None, int | None]:
    """Pid and start time of the script that does the newest act."""
    return two_numbers(files.actor or "")


def is_actor_needed(files: RunFiles) -> bool:
    """The newest act has no last step yet: only its script can go on."""
    steps = [step for line in files.journal[-1:] for step in read_step(line)]
    return bool(steps) and not steps[-1].is_last


def read_act(files: RunFiles, clock: HostClock) -> Act | None:
    """The newest act by its journal; None where there was none."""
    steps = [step for line in files.journal for step in read_step(line)]
    kind = _kind(steps[0]) if steps else None
    if kind is None:
        return None
    first, last = steps[0], steps[-1]
    who, _, profile = first.detail.partition(" ") if first.name == "asked" else ("", "", "")
    return Act(
        kind=kind,
        step=last.name,
        detail=plain(last.detail),
        began=clock.ours(first.at),
        kill_at=_kill_at(steps, clock),
        profile=plain(profile) or None,
        who=plain(who),
        is_over=last.is_last,
        is_failed=last.name in ("failed", "blocked"),
    )


def _kind(step: Step) -> ActKind | None:
    return next((kind for kind in get_args(ActKind) if kind == step.act), None)


def _kill_at(steps: list[Step], clock: HostClock) -> float | None:
    """The newest `kill_at=` while the family still lives."""
    found: float | None = None
    for step in steps:
        if step.name in ("kill", "gone", "port-free", "memory-back", "launched", *LAST_STEPS):
            found = None
        elif step.detail.startswith("kill_at="):
            moment = _number(step.detail.removeprefix("kill_at=").partition(" ")[0])
            found = clock.ours(moment) if moment is not None else found
    return found


def two_numbers(text: str) -> tuple[int | None, int | None]:
    """`PID START_TIME`, `STATUS ENDED_AT`; None for what is no number."""
    words = [*text.split(), "", ""]
    first, second = (int(word) if word.isdecimal() and len(word) < 20 else None for word in words[:2])
    return first, second


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
