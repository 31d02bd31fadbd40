"""How long SGLang says its own start took: a line of its log and `startup_time` of /server_info, both from 0.5.18 on."""

import re
from collections.abc import Mapping

from specdeck.engines.answers import number
from specdeck.state.phases import PhaseName
from specdeck.state.timings import StartTimings

_LINE = re.compile(
    r"Engine startup timings \(s\): load_weight=(?P<load_weight>[\d.]+), kv_cache_allocation=(?P<kv_cache_allocation>[\d.]+), "
    r"scheduler_e2e=(?P<scheduler_e2e>[\d.]+), cuda_graph=\{(?P<graphs>[^}]*)\}, tokenizer_e2e=(?P<tokenizer_e2e>[\d.]+)"
)
_GRAPH = re.compile(r"(\w+)=([\d.]+)")


def timings_of_line(message: str) -> StartTimings | None:
    """`Engine startup timings (s): load_weight=1.13, kv_cache_allocation=2.32, scheduler_e2e=11.46, cuda_graph={...}, ...`."""
    match = _LINE.match(message)
    if match is None:
        return None
    graphs = {name: _number(seconds) for name, seconds in _GRAPH.findall(match["graphs"])}
    return _timings({**{key: _number(value) for key, value in match.groupdict().items()}, "cuda_graph": graphs})


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def timings_of_answer(answer: Mapping[str, object]) -> StartTimings | None:
    """The same as a part of /server_info."""
    told = answer.get("startup_time")
    return _timings(told) if isinstance(told, dict) else None


def _timings(told: Mapping[str, object]) -> StartTimings | None:
    whole, scheduler = number(told.get("tokenizer_e2e")), number(told.get("scheduler_e2e"))
    weights, pool = number(told.get("load_weight")), number(told.get("kv_cache_allocation"))
    if whole is None or scheduler is None or weights is None or pool is None:
        return None
    graphs = {key: number(value) or 0.0 for key, value in _mapping(told.get("cuda_graph")).items()}
    drafts = sum(seconds for name, seconds in graphs.items() if name.startswith("draft"))
    target = sum(graphs.values()) - drafts
    phases: list[tuple[PhaseName, float]] = [("weights", weights), ("kv_cache", pool)]
    phases += [("graphs", target)] if target else []
    phases += [("draft_graphs", drafts)] if drafts else []
    return StartTimings(tuple(phases), scheduler, whole)


def _mapping(told: object) -> Mapping[str, object]:
    return told if isinstance(told, dict) else {}
