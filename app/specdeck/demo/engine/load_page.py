"""/v1/loads: what the engine says of its load, in the form of 0.5.12."""

from datetime import UTC, datetime

from specdeck.demo.engine import VERSION
from specdeck.demo.engine.figures import PIECEWISE_GB, Memory
from specdeck.demo.engine.scheduler import Scheduler


def load_page(scheduler: Scheduler, pool: Memory) -> dict[str, object]:
    """The whole answer: the one load, and the aggregate over it."""
    stamp = datetime.now(UTC).isoformat()
    parts = {"loads": [_load(scheduler, pool)], "aggregate": _aggregate(scheduler)}
    return {"timestamp": stamp, "version": VERSION, "dp_rank_count": 1, **parts}


def _load(scheduler: Scheduler, pool: Memory) -> dict[str, object]:
    running, waiting, used = len(scheduler.running), len(scheduler.queue), scheduler.used_tokens
    counters = scheduler.counters
    load: dict[str, object] = {
        "num_running_reqs": running,
        "num_waiting_reqs": waiting,
        "num_used_tokens": used,
        "num_total_tokens": used,
        "max_total_num_tokens": scheduler.pool_tokens,
        "token_usage": round(scheduler.usage, 4),
        "gen_throughput": round(counters.throughput, 2),
        "cache_hit_rate": 0.0,
        "utilization": 0.0,
        "max_running_requests": scheduler.max_running,
        "memory": {
            "weight_gb": round(pool.weights, 3), "kv_cache_gb": round(pool.kv, 3), "graph_gb": PIECEWISE_GB,
            "token_capacity": scheduler.pool_tokens,
        },
    }  # fmt: skip
    if scheduler.drafting:
        load["speculative"] = {"accept_length": counters.accept_length, "accept_rate": counters.accept_rate}
    load["queues"] = {"waiting": waiting, "grammar": 0, "paused": 0, "retracted": 0}
    load["num_total_reqs"] = running + waiting
    return load


def _aggregate(scheduler: Scheduler) -> dict[str, object]:
    running, waiting, used = len(scheduler.running), len(scheduler.queue), scheduler.used_tokens
    return {
        "total_running_reqs": running, "total_waiting_reqs": waiting, "total_reqs": running + waiting,
        "total_used_tokens": used, "total_tokens": used, "avg_token_usage": round(scheduler.usage, 4),
        "avg_throughput": round(scheduler.counters.throughput, 2), "avg_utilization": 0.0,
    }  # fmt: skip
