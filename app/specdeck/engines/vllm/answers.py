"""What vLLM's /metrics and /version answer."""

from collections.abc import Sequence

from specdeck.engines.answers import labelled_sum, mapping, text
from specdeck.engines.base import LoadReading
from specdeck.parsing.prometheus import Sample, samples

_TOKENS = "vllm:generation_tokens_total"
_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_USAGES = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
"""The second is its name up to 0.11."""
_DRAFTS = "vllm:spec_decode_num_drafts_total"
_ACCEPTED = "vllm:spec_decode_num_accepted_tokens_total"
_WANTED = frozenset({_TOKENS, _RUNNING, _WAITING, *_USAGES, _DRAFTS, _ACCEPTED})


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
        accept_length=_accept_length(found),
    )


def read_version(body: bytes) -> LoadReading:
    """`{"version": "0.32.0"}`."""
    return LoadReading(engine_version=text(mapping(body).get("version")))


def _accept_length(found: Sequence[Sample]) -> float | None:
    """Of the server's whole life: one token of the target and the accepted drafts, a step."""
    drafts = sum(_values(found, _DRAFTS))
    return 1.0 + sum(_values(found, _ACCEPTED)) / drafts if drafts > 0 else None


def _values(found: Sequence[Sample], name: str) -> list[float]:
    return [sample.value for sample in found if sample.name == name]


def _whole(values: list[float]) -> int | None:
    return int(sum(values)) if values else None
