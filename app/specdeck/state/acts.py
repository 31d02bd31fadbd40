"""What the newest step of an act says of the run that it ends, and how it is told."""

import re

from specdeck.late_pattern import late_pattern
from specdeck.state.snapshot import Act, RunIdentity

ENDING = ("term", "waiting", "abort", "orphans", "kill", "elsewhere")
"""Journal steps between SIGTERM and the end of the old run; `elsewhere`: another user's journal tells which."""
_CLEARING = (*ENDING[:-1], "gone", "port-free", "port-of-others")
"""Until `memory-back`: what the old run held is not all free."""
_SIGNALS = {"term": "SIGTERM", "kill": "SIGKILL"}
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


def step_words(act: Act) -> str:
    """`memory back, 888 GiB` for the journal's `memory-back 909128 MiB`."""
    detail = "" if act.detail.startswith("kill_at=") else _LARGE_MIB.sub(_gib, act.detail)
    return f"{step_name(act)}{', ' if detail else ''}{detail}"


def step_name(act: Act) -> str:
    """`memory back`, `SIGTERM`: the journal's word as people say it."""
    return _SIGNALS.get(act.step) or act.step.replace("-", " ")


def _gib(found: re.Match[str]) -> str:
    return f"{int(found[1]) / 1024:,.0f} GiB"


def _goes_on(act: Act | None, steps: tuple[str, ...]) -> bool:
    return act is not None and act.kind != "launch" and not act.is_over and act.step in steps
