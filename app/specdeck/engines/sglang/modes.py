"""What v1 and v2 of speculation mean for one SGLang version: the variable alone decides nothing.

Read from the releases 0.5.2 to 0.5.23: v2 exists from 0.5.5, is the default from 0.5.11, v1 is gone from 0.5.13, and the
variable is ignored from 0.5.14.
"""

from collections.abc import Mapping

from specdeck.config.versions import satisfies

_TRUE = {"true", "1", "yes", "y"}
_FALSE = {"false", "0", "no", "n"}


def mode_note(version: str, flags: Mapping[str, str], env: Mapping[str, str]) -> str | None:
    """One sentence on the worker that these flags and this environment start; None without speculation of the EAGLE kind."""
    algorithm = flags.get("--speculative-algorithm", "")
    if algorithm.upper() not in {"EAGLE", "EAGLE3", "NEXTN", "STANDALONE"}:
        return None
    variable = env.get("SGLANG_ENABLE_SPEC_V2", "").lower()
    topk = flags.get("--speculative-eagle-topk")
    return f"On SGLang {version}: {_meaning(version, variable, topk, flags)}."


def _meaning(version: str, variable: str, topk: str | None, flags: Mapping[str, str]) -> str:
    if satisfies(version, ">=0.5.13"):
        return _without_v1(version, variable, flags)
    if satisfies(version, "<0.5.5"):
        return "the v1 worker, the only one of this version"
    is_on = variable in _TRUE or (variable not in _FALSE and satisfies(version, ">=0.5.11"))
    if not is_on:
        return f"the v1 worker{_tree(topk)}"
    if topk in {None, "1"}:
        return "the v2 worker with overlap; topk must be 1"
    if satisfies(version, ">=0.5.11"):
        return f"the v1 worker: v2 takes topk 1 only, and with topk {topk} this version falls back silently"
    if satisfies(version, ">=0.5.7"):
        return f"it will refuse to start: v2 takes topk 1 only, not {topk}"
    return f"v2 with topk {topk} is not rejected but fails while it loads: set topk 1"


def _without_v1(version: str, variable: str, flags: Mapping[str, str]) -> str:
    """From 0.5.13 there is one worker, and two ways to run it."""
    is_sync = "--disable-overlap-schedule" in flags or (variable in _FALSE and satisfies(version, "<0.5.14"))
    ignored = "; SGLANG_ENABLE_SPEC_V2 is ignored" if variable and satisfies(version, ">=0.5.14") else ""
    return f"the v2 worker, {'synchronous' if is_sync else 'with overlap'} (v1 is gone){ignored}"


def _tree(topk: str | None) -> str:
    return f", a tree of topk {topk}" if topk not in {None, "1"} else ""
