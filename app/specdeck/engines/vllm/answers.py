"""What vLLM's /metrics and /version answer."""

from collections.abc import Mapping, Sequence

from specdeck.engines.answers import labelled_sum, mapping, text
from specdeck.engines.counters import page_of
from specdeck.parsing.prometheus import Sample, samples
from specdeck.state.load import LoadReading
from specdeck.state.serving import CounterName

_TOKENS = "vllm:generation_tokens_total"
_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_USAGES = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
"""The second is its name up to 0.11."""
_COUNTED: Mapping[str, CounterName] = {
    "vllm:time_to_first_token_seconds_bucket": "ttft",
    "vllm:request_time_per_output_token_seconds_bucket": "tpot",
    "vllm:inter_token_latency_seconds_bucket": "itl",
    "vllm:time_per_output_token_seconds_bucket": "itl",
    "vllm:prefix_cache_queries_total": "prefix_queries",
    "vllm:prefix_cache_hits_total": "prefix_hits",
    "vllm:gpu_prefix_cache_queries_total": "prefix_queries",
    "vllm:gpu_prefix_cache_hits_total": "prefix_hits",
    "vllm:spec_decode_num_drafts_total": "drafts",
    "vllm:spec_decode_num_accepted_tokens_total": "accepted",
    "vllm:spec_decode_num_accepted_tokens_per_pos_total": "accepted_at",
}
"""Old names beside new ones: `time_per_output_token` was the time between two tokens, up to 0.14."""
_WANTED = frozenset({_TOKENS, _RUNNING, _WAITING, *_USAGES, *_COUNTED})


def read_metrics(body: bytes) -> LoadReading:
    """vLLM counts tokens at every step; requests add up over engines, the fullest cache counts."""
    found = samples(body, _WANTED)
    tokens, series = labelled_sum([sample for sample in found if sample.name == _TOKENS])
    return LoadReading(
        decode_tokens=tokens,
        counter_series=series,
        running=_whole(_values(found, _RUNNING)),
        queued=_whole(_values(found, _WAITING)),
        kv_usage=max((value for name in _USAGES for value in _values(found, name)), default=None),
        page=page_of(found, _COUNTED),
    )


def read_version(body: bytes) -> LoadReading:
    """`{"version": "0.32.0"}`."""
    return LoadReading(engine_version=text(mapping(body).get("version")))


def _values(found: Sequence[Sample], name: str) -> list[float]:
    return [sample.value for sample in found if sample.name == name]


def _whole(values: list[float]) -> int | None:
    return int(sum(values)) if values else None
