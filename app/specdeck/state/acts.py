"""What the newest step of an act says of the run that it ends, and how it is told."""

import re

from specdeck.state.snapshot import Act

ENDING = ("term", "waiting", "abort", "orphans", "kill", "elsewhere")
"""Journal steps between SIGTERM and the end of the old run; `elsewhere`: another user's journal tells which."""
_CLEARING = (*ENDING[:-1], "gone", "port-free", "port-of-others")
"""Until `memory-back`: what the old run held is not all free."""
_SIGNALS = {"term": "SIGTERM", "kill": "SIGKILL"}
_LARGE_MIB = re.compile(r"\b(\d{4,9}) MiB\b")


def ends_the_old_run(act: Act | None) -> bool:
    """SIGTERM was sent: the end of this run is no crash."""
    return _goes_on(act, ENDING)


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
