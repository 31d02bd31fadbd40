"""/metrics: the names, types, labels and bounds of the real one (metrics.tsv), the figures of this one."""

import os

from specdeck.demo.engine.counters import Counters, Histogram
from specdeck.demo.engine.scheduler import Scheduler

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TABLE = os.path.join(os.path.dirname(__file__), "metrics.tsv")
_PREFIX = "sglang:"
_REQUEST_LEVEL = frozenset(
    ("prompt_tokens_total", "generation_tokens_total", "num_requests_total", "cached_tokens_total")
)
"""Counted by the main process: no rank labels."""


def render(scheduler: Scheduler, model: str) -> str:
    """The whole page."""
    request_labels = f'engine_type="unified",model_name="{model}"'
    labels = f'{request_labels},moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    gauges, counters = _gauges(scheduler), _counters(scheduler.counters)
    histograms = _histograms(scheduler.counters)
    lines: list[str] = []
    for name, kind, words, bounds in _rows():
        lines += [f"# HELP {_PREFIX}{name} {words}", f"# TYPE {_PREFIX}{name} {kind}"]
        if name in histograms:
            lines += _histogram(name, request_labels, bounds, histograms[name])
        elif name in ("http_requests_total", "http_responses_total"):
            lines += _http(name, scheduler.counters)
        elif kind == "gauge" and name in gauges:
            lines.append(f"{_PREFIX}{name}{{{labels}}} {gauges[name]}")
        else:
            own = request_labels if name in _REQUEST_LEVEL else labels
            lines += [_series(name, own, mode, value) for mode, value in counters.get(name, ())]
    return "\n".join(lines) + "\n"


def _rows() -> list[tuple[str, str, str, list[str]]]:
    with open(_TABLE, encoding="utf-8") as file:
        cells = [line.rstrip("\n").split("\t") for line in file]
    return [(name.removeprefix(_PREFIX), kind, words, bounds.split()) for name, kind, words, bounds in cells]


def _series(name: str, labels: str, mode: str, value: float) -> str:
    if mode:
        before, after = labels.split(",model_name=", 1)
        labels = f'{before},mode="{mode}",model_name={after}'
    return f"{_PREFIX}{name}{{{labels}}} {float(value)}"


def _gauges(scheduler: Scheduler) -> dict[str, float]:
    counters, used, pool = scheduler.counters, scheduler.used_tokens, scheduler.pool_tokens
    values: dict[str, float] = {
        "num_running_reqs": len(scheduler.running), "num_queue_reqs": len(scheduler.queue), "num_used_tokens": used,
        "token_usage": round(scheduler.usage, 2), "full_token_usage": scheduler.usage, "kv_used_tokens": used,
        "kv_available_tokens": pool - used, "kv_evictable_tokens": 0, "decode_sum_seq_lens": used,
        "gen_throughput": counters.throughput, "max_total_num_tokens": pool, "num_pages": pool, "page_size": 1,
        "context_len": 131072, "cache_hit_rate": 0, "utilization": 0, "is_cuda_graph": 1, "new_token_ratio": 0.6,
        "num_retracted_reqs": 0, "num_paused_reqs": 0, "num_grammar_queue_reqs": 0,
        "spec_accept_length": counters.accept_length, "spec_accept_rate": counters.accept_rate,
    }  # fmt: skip
    return {name: float(value) for name, value in values.items()}


def _counters(counters: Counters) -> dict[str, list[tuple[str, float]]]:
    return {
        "realtime_tokens_total": [("prefill_compute", counters.prefill_tokens), ("decode", counters.decode_tokens)],
        "cuda_graph_passes_total": [
            ("prefill_none", counters.prefill_passes), ("decode_cuda_graph", counters.decode_passes),
        ],
        "prompt_tokens_total": [("", counters.prompt_tokens)],
        "generation_tokens_total": [("", counters.generation_tokens)],
        "num_requests_total": [("", counters.requests)],
    }  # fmt: skip


def _histograms(counters: Counters) -> dict[str, Histogram]:
    return {
        "time_to_first_token_seconds": counters.first_tokens,
        "e2e_request_latency_seconds": counters.latencies,
        "inter_token_latency_seconds": counters.token_gaps,
        "prompt_tokens_histogram": counters.prompt_lengths,
        "uncached_prompt_tokens_histogram": counters.prompt_lengths,
        "generation_tokens_histogram": counters.generation_lengths,
    }


def _histogram(name: str, labels: str, bounds: list[str], histogram: Histogram) -> list[str]:
    before, after = labels.split(",model_name=", 1)
    lines = [f"{_PREFIX}{name}_sum{{{labels}}} {histogram.total}"]
    lines += [
        f'{_PREFIX}{name}_bucket{{{before},le="{bound}",model_name={after}}} {histogram.below(float(bound))}'
        for bound in bounds
    ]
    return [*lines, f"{_PREFIX}{name}_count{{{labels}}} {float(histogram.count)}"]


def _http(name: str, counters: Counters) -> list[str]:
    if name == "http_responses_total":
        return [
            f'{_PREFIX}{name}{{endpoint="{path}",method="{method}",status_code="{status}"}} {float(count)}'
            for (path, method, status), count in counters.http.items()
        ]
    totals: dict[tuple[str, str], int] = {}
    for (path, method, _), count in counters.http.items():
        totals[path, method] = totals.get((path, method), 0) + count
    return [
        f'{_PREFIX}{name}{{endpoint="{path}",method="{method}"}} {float(count)}'
        for (path, method), count in totals.items()
    ]
