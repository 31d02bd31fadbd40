"""Rolling output tokens per second, source named: counters where the engine has them, else its own log line. Unknown is None."""

from specdeck.state.counter_window import CounterWindow
from specdeck.state.log_story import BatchReport, LogStory
from specdeck.state.snapshot import Throughput

WINDOW_SECONDS = 10.0
LOG_LIMIT_SECONDS = 10.0
"""A throughput line that is older says nothing: engines log none while nothing runs."""
_LINE_EVERY_SECONDS = {"vllm": 10.0}
"""Engines that write one at a fixed pace: their line holds until the next is due."""
_LINE_MARGIN_SECONDS = 5.0


def throughput(
    counters: CounterWindow, story: LogStory | None, at: float, *, window_seconds: float = WINDOW_SECONDS
) -> Throughput | None:
    """The rate at a moment; None: nothing tells it (never 0 then)."""
    if counters.is_fresh(at, window_seconds=window_seconds):
        return _by_counters(counters)
    return _by_log(story, at)


def fresh_batch(story: LogStory | None, at: float) -> BatchReport | None:
    """The log's newest throughput line, if it is of now."""
    if story is None or story.batch is None or story.batch_at is None:
        return None
    return story.batch if at - story.batch_at <= _log_limit(story) else None


def _by_counters(counters: CounterWindow) -> Throughput | None:
    rate = counters.rate
    return None if rate is None else Throughput(rate, "counters", counters.span_seconds, counters.points[-1][0])


def _by_log(story: LogStory | None, at: float) -> Throughput | None:
    batch = fresh_batch(story, at)
    if story is None or batch is None or story.batch_at is None or batch.follows_idle:
        return None
    if batch.running == 0 and batch.tok_s > 0:
        return None  # the rate of what ran before
    return Throughput(batch.tok_s, "log", _LINE_EVERY_SECONDS.get(story.engine or "", 0.0), story.batch_at)


def _log_limit(story: LogStory) -> float:
    pace = _LINE_EVERY_SECONDS.get(story.engine or "")
    return LOG_LIMIT_SECONDS if pace is None else pace + _LINE_MARGIN_SECONDS
