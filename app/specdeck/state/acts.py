"""What the newest step of an act says of the run that it ends, and how it is told."""

import re
from collections.abc import Callable

from specdeck.late_pattern import late_pattern
from specdeck.state.snapshot import Act, RunIdentity

ENDING = ("term", "waiting", "abort", "orphans", "kill", "elsewhere")
"""Journal steps between SIGTERM and the end of the old run; `elsewhere`: another user's journal tells which."""
_CLEARING = (*ENDING[:-1], "gone", "port-free", "port-of-others")
"""Until `memory-back`: what the old run held is not all free."""
_BEFORE_SIGTERM = ("asked", "lock", "identified")
STOP_BEGINS_SECONDS = 10.0
"""A server that refuses work so soon after it was asked to stop does so because of that: the step that tells it is on its way."""
_NAMES = {
    "term": "SIGTERM",
    "kill": "SIGKILL",
    "asked": "begins",
    "identified": "found",
    "abort": "ending requests",
    "orphans": "ending what was left",
    "elsewhere": "under way",
    "locked": "waiting",
    "free": "waiting",
}
_KILL_AT = late_pattern(r"^kill_at=\S+ ?")
_LARGE_MIB = late_pattern(r"\b(\d{4,9}) MiB\b")


def ends_the_old_run(act: Act | None) -> bool:
    """SIGTERM was sent: the end of this run is no crash."""
    return _goes_on(act, ENDING)


def explains_the_end(act: Act | None, run: RunIdentity | None) -> bool:
    """A run that is gone was ended by this act: its SIGTERM was between two looks, it had been identified or the stop is done."""
    if act is None or act.kind not in ("stop", "relaunch", "pivot"):
        return False
    if not act.is_over:
        return act.step in ("identified", *ENDING)
    is_older = run is not None and run.started_at is not None and run.started_at <= act.began
    return act.kind == "stop" and not act.is_failed and is_older


def is_clearing(act: Act | None) -> bool:
    """It is not yet certain that the processes, the port and the GPU memory of the old run are free."""
    return _goes_on(act, _CLEARING)


def begins_to_stop(act: Act | None, at: float) -> bool:
    """It was asked to end a run a moment ago; whether SIGTERM was sent is not known yet."""
    return act is not None and _goes_on(act, _BEFORE_SIGTERM) and 0 <= at - act.began < STOP_BEGINS_SECONDS


def step_words(act: Act) -> str:
    """What the newest step does, as a sentence."""
    return spoken(act.step, act.detail)


def spoken(step: str, detail: str) -> str:
    """`waiting for 13 processes to end`, `memory back, 888 GiB` for the journal's `waiting left=13`, `memory-back 909128 MiB`."""
    told = _LARGE_MIB.sub(_gib, _KILL_AT.sub("", detail))
    if step in _SPOKEN:
        return _SPOKEN[step](told)
    return f"{_name(step)}{', ' if told else ''}{told}"


def step_name(act: Act) -> str:
    """`memory back`, `SIGTERM`: the journal's word as people say it, where there is room for a word or two."""
    return _name(act.step)


def _name(step: str) -> str:
    return _NAMES.get(step) or step.replace("-", " ")


def _waiting(detail: str) -> str:
    left = detail.removeprefix("left=")
    if not left.isdecimal():
        return "waiting for its processes to end"
    return f"waiting for {left} process{'' if left == '1' else 'es'} to end"


def _launched(detail: str) -> str:
    return detail.replace("run=", "launched as run ").replace(" pid=", ", pid ") or "launched"


_SPOKEN: dict[str, Callable[[str], str]] = {
    "asked": lambda _: "begins",
    "identified": lambda _: "its processes are known",
    "owner": lambda command: f"its own stop command runs: {command}",
    "waiting": _waiting,
    "abort": lambda sentence: sentence,
    "port-free": lambda port: f"port {port} is free",
    "port-of-others": lambda sentence: sentence,
    "launched": _launched,
    "watching": lambda until: f"watching {until}",
    "locked": lambda _: "waiting until every node has begun",
    "free": lambda _: "waiting until every node is free",
    "elsewhere": lambda _: "under way, its steps are in another user's journal",
}
"""Steps whose detail is for machines, or is a sentence by itself."""


def _gib(found: re.Match[str]) -> str:
    return f"{int(found[1]) / 1024:,.0f} GiB"


def _goes_on(act: Act | None, steps: tuple[str, ...]) -> bool:
    return act is not None and act.kind != "launch" and not act.is_over and act.step in steps
