"""What to do about a cause, with the values of the command that failed: which flag, which value."""

import re

from specdeck.state.log_story import Cause

_SHARE = re.compile(r"(?P<flag>--mem-fraction-static|--gpu-memory-utilization)[= ]\s*'?(?P<value>0?\.\d+|1(?:\.0+)?)")
_SMALLER, _LARGER = -0.05, 0.05


def advice(cause: Cause | None, command: str) -> tuple[str, ...]:
    """The hint of its kind first, then what this command says."""
    if cause is None:
        return ()
    told = [cause.hint] if cause.hint else []
    return (*told, *_share(cause, command))


def _share(cause: Cause, command: str) -> list[str]:
    """The part of the GPU's memory, where the command names it."""
    step = {"out-of-memory": _SMALLER, "not-enough-memory": _LARGER}.get(cause.kind)
    match = _SHARE.search(command)
    if step is None or match is None:
        return []
    value = float(match["value"])
    return [f"this run had {match['flag']} {value:g}: try {min(max(value + step, 0.1), 0.97):g}"]
