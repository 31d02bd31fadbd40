"""What SGLang's endpoints answer: /v1/loads, /metrics, /server_info."""

from collections.abc import Mapping, Sequence

from specdeck.engines.answers import integer, labelled_sum, mapping, mappings, mean, number, text
from specdeck.engines.counters import page_of
from specdeck.engines.sglang.timings import timings_of_answer
from specdeck.parsing.prometheus import Sample, samples
from specdeck.state.load import LoadReading
from specdeck.state.serving import CounterKey, CounterName

_TOKENS = "sglang:realtime_tokens_total"
_RUNNING = "sglang:num_running_reqs"
_QUEUED = "sglang:num_queue_reqs"
_USAGE = "sglang:token_usage"
_ACCEPTED = "sglang:spec_accept_length"
_STEPS = "sglang:spec_num_steps"
_COUNTED: Mapping[str, CounterName] = {
    "sglang:time_to_first_token_seconds_bucket": "ttft",
    "sglang:request_time_per_output_token_seconds_bucket": "tpot",
    "sglang:inter_token_latency_seconds_bucket": "itl",
    "sglang:time_per_output_token_seconds_bucket": "itl",
}
"""The last is an old name of the one before it."""
_WANTED = frozenset({_TOKENS, _RUNNING, _QUEUED, _USAGE, _ACCEPTED, _STEPS, *_COUNTED})


def read_metrics(body: bytes) -> LoadReading:
    """The token counter moves at every decode step; `generation_tokens_total` moves at the end of a request only.

    The gauge of the accept length keeps its last value while nothing runs: then it is of then.
    """
    found = samples(body, _WANTED)
    decoded = [sample for sample in found if sample.name == _TOKENS and sample.labels.get("mode") == "decode"]
    tokens, series = labelled_sum(decoded)
    running = _whole(_values(found, _RUNNING))
    return LoadReading(
        decode_tokens=tokens,
        counter_series=series,
        running=running,
        queued=_whole(_values(found, _QUEUED)),
        kv_usage=max(_values(found, _USAGE), default=None),
        accept_length=mean(value for value in _values(found, _ACCEPTED) if value > 0 and running != 0),
        draft_steps=int(max(steps)) if (steps := _values(found, _STEPS)) else None,
        page={**page_of(found, _COUNTED), **_prompt_tokens(found)},
    )


def _prompt_tokens(found: Sequence[Sample]) -> dict[CounterKey, float]:
    """Those that the cache had are counted beside those that were computed, at every step."""
    page: dict[CounterKey, float] = {}
    for sample in found:
        mode = sample.labels.get("mode", "")
        if sample.name == _TOKENS and mode.startswith("prefill_"):
            series = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            page[CounterKey("prefix_queries", series)] = sample.value
            if mode == "prefill_cache":
                page[CounterKey("prefix_hits", series)] = sample.value
    return page


def read_load(body: bytes) -> LoadReading:
    """One entry a data-parallel rank; requests add up, the fullest pool counts."""
    answer = mapping(body)
    loads = mappings(answer.get("loads"))
    if not loads:
        return LoadReading(engine_version=text(answer.get("version")))
    running = _total(loads, "num_running_reqs")
    return LoadReading(
        running=running,
        queued=_total(loads, "num_waiting_reqs"),
        kv_usage=max(_numbers(loads, "token_usage"), default=None),
        accept_length=mean(_accept_lengths(loads)) if running != 0 else None,
        engine_version=text(answer.get("version")),
    )


def read_server(body: bytes) -> LoadReading:
    """The version, and the mode that the arguments leave to it."""
    answer = mapping(body)
    ranks = mappings(answer.get("internal_states"))
    steps = [count for rank in ranks if (count := integer(rank.get("speculative_num_steps"))) is not None]
    return LoadReading(
        engine_version=text(answer.get("version")),
        speculation=_mode(answer),
        draft_steps=max(steps, default=None),
        timings=timings_of_answer(answer),
    )


def _mode(answer: Mapping[str, object]) -> str | None:
    """v2 is the worker with the overlap schedule where both exist; without an algorithm there is none."""
    algorithm = text(answer.get("speculative_algorithm"))
    if algorithm is None:
        return None
    if algorithm.upper() == "NGRAM":
        return "ngram"
    if answer.get("disable_overlap_schedule") is not True:
        return "v2"
    return "v1" if _has_v1(text(answer.get("version"))) else "v2 sync"


def _has_v1(version: str | None) -> bool:
    """Whether this release still has the v1 worker: up to 0.5.12."""
    parts = [int(part) for part in (version or "").split(".")[:3] if part.isdecimal()]
    return len(parts) == 3 and parts < [0, 5, 13]


def _accept_lengths(loads: Sequence[Mapping[str, object]]) -> list[float]:
    parts = [part for load in loads if isinstance(part := load.get("speculative"), dict)]
    return [length for part in parts if (length := number(part.get("accept_length")))]


def _numbers(loads: Sequence[Mapping[str, object]], name: str) -> list[float]:
    return [value for load in loads if (value := number(load.get(name))) is not None]


def _total(loads: Sequence[Mapping[str, object]], name: str) -> int | None:
    counts = [value for load in loads if (value := integer(load.get(name))) is not None]
    return sum(counts) if counts else None


def _values(found: Sequence[Sample], name: str) -> list[float]:
    return [sample.value for sample in found if sample.name == name]


def _whole(values: list[float]) -> int | None:
    return int(sum(values)) if values else None
