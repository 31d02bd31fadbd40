"""What the newest step of an act says of the run that it ends."""

from specdeck.state.snapshot import Act

ENDING = ("term", "waiting", "abort", "orphans", "kill", "elsewhere")
"""Journal steps between SIGTERM and the end of the old run; `elsewhere`: another user's journal tells which."""
_CLEARING = (*ENDING[:-1], "gone", "port-free", "port-of-others")
"""Until `memory-back`: what the old run held is not all free."""


def ends_the_old_run(act: Act | None) -> bool:
    """SIGTERM was sent: the end of this run is no crash."""
    return _goes_on(act, ENDING)


def is_clearing(act: Act | None) -> bool:
    """It is not yet certain that the processes, the port and the GPU memory of the old run are free."""
    return _goes_on(act, _CLEARING)


def _goes_on(act: Act | None, steps: tuple[str, ...]) -> bool:
    return act is not None and act.kind != "launch" and not act.is_over and act.step in steps
