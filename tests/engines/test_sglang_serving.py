"""A serving SGLang: throughput lines, pauses, replicas, stops and deaths."""

import pytest
from tests.engines.reading import CAPTURES, stories, story_of, story_so_far
from tests.engines.test_sglang_start import log

H200 = CAPTURES / "sglang_h200"
READY = log((0, "The server is fired up and ready to roll!"))


def decode(rate: float, *, running: int = 1, queued: int = 0, extra: str = "") -> str:
    """A decode line of 0.5.10 and later."""
    return (
        f"Decode batch, #running-req: {running}, #token: 163, token usage: 0.25, {extra}cuda graph: True, "
        f"gen throughput (token/s): {rate}, #queue-req: {queued}"
    )


PREFILL_FROM_NOTHING = "Prefill batch, #new-seq: 1, #new-token: 7, #cached-token: 0, #running-req: 0, #queue-req: 0, "
PREFILL_WHILE_RUNNING = PREFILL_FROM_NOTHING.replace("#running-req: 0", "#running-req: 3")


def test_a_decode_line_tells_rate_requests_and_cache() -> None:
    batch = story_so_far(READY + log((1, decode(158.34, running=3, queued=2)))).batch
    assert batch is not None
    assert (batch.tok_s, batch.running, batch.queued, batch.kv_usage, batch.accept_length) == (158.34, 3, 2, 0.25, None)


def test_with_speculation_the_accept_length_is_told() -> None:
    batch = story_so_far(READY + log((1, decode(99.0, extra="accept len: 2.40, accept rate: 0.60, ")))).batch
    assert batch is not None
    assert batch.accept_length == 2.4


@pytest.mark.parametrize(
    "line",
    [
        "Decode batch. #running-req: 18, #token: 16384, token usage: 0.71, accept len: 2.40, "
        "gen throughput (token/s): 25.5, #queue-req: 3",
        "Decode batch [1234], #running-req: 18, #token: 16384, token usage: 0.71, cuda graph: True, "
        "gen throughput (token/s): 25.5, #queue-req: 3, ",
        "Decode batch, #running-req: 18, #full token: 7, full token usage: 0.71, mamba num: 4, accept len: 2.85, "
        "cpu graph: False, gen throughput (token/s): 25.5, #queue-req: 3",
    ],
)
def test_decode_lines_of_other_releases_and_models_read_the_same(line: str) -> None:
    batch = story_so_far(READY + log((1, line))).batch
    assert batch is not None
    assert (batch.tok_s, batch.running, batch.queued, batch.kv_usage) == (25.5, 18, 3, 0.71)


def test_the_first_line_and_the_first_after_a_pause_are_no_rate() -> None:
    lines = READY + log((1, decode(0.6)))
    batch = story_so_far(lines).batch
    assert batch is not None
    assert batch.follows_idle
    lines += log((2, decode(340.0)))
    batch = story_so_far(lines).batch
    assert batch is not None
    assert not batch.follows_idle
    batch = story_so_far(lines + log((20, PREFILL_FROM_NOTHING), (20, decode(1.6)))).batch
    assert batch is not None
    assert batch.follows_idle


def test_new_requests_beside_running_ones_are_no_pause() -> None:
    lines = READY + log((1, decode(340.0)), (5, PREFILL_WHILE_RUNNING), (5, decode(300.0)))
    batch = story_so_far(lines).batch
    assert batch is not None
    assert not batch.follows_idle


@pytest.mark.parametrize(("folder", "bogus", "real"), [("baseline", 0.60, 343.48), ("eagle3_v1_b", 1.50, 298.33)])
def test_in_a_real_log_the_bogus_first_rate_is_marked_and_the_next_is_not(
    folder: str, bogus: float, real: float
) -> None:
    marks: dict[float, bool] = {}
    for _, story in stories((H200 / folder / "server.log").read_bytes(), 64):
        if story.batch is not None:
            marks.setdefault(story.batch.tok_s, story.batch.follows_idle)
    assert marks[bogus]
    assert not marks[real]


def test_data_parallel_replicas_add_up() -> None:
    lines = READY
    for second in (1, 2):
        lines += log(
            (second, decode(100.0, running=2), "DP0 TP0"), (second, decode(150.0, running=3, queued=1), "DP1 TP4")
        )
    batch = story_so_far(lines).batch
    assert batch is not None
    assert (batch.tok_s, batch.running, batch.queued) == (250.0, 5, 1)


def test_a_replica_that_fell_silent_counts_no_more() -> None:
    lines = READY + log(
        (1, decode(100.0), "DP0"), (2, decode(100.0), "DP0"), (2, decode(90.0), "DP1"), (3, decode(90.0), "DP1")
    )
    batch = story_so_far(
        lines + log((50, PREFILL_WHILE_RUNNING, "DP1"), (50, decode(80.0), "DP1"), (51, decode(80.0), "DP1"))
    ).batch
    assert batch is not None
    assert batch.tok_s == 80.0


def test_a_full_cache_is_a_warning_and_no_crash() -> None:
    story = story_so_far(
        READY + log((1, "KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 4096"))
    )
    assert story.word == "ready"
    assert "KV cache pool is full" in story.warnings[0]


def test_a_drain_is_stopping_until_no_request_remains() -> None:
    lines = READY + log((1, "SIGTERM received. signum=None frame=None. Draining requests and shutting down..."))
    assert story_so_far(lines).word == "stopping"
    lines += log((2, "Gracefully exiting... Remaining number of requests 4. Remaining requests remaining_rids=['a']."))
    assert story_so_far(lines).word == "stopping"
    lines += log((3, "Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[]."))
    assert story_so_far(lines).word == "stopped"


def test_the_http_servers_own_shutdown_lines_after_the_drain_change_nothing() -> None:
    words = [story.word for _, story in stories((CAPTURES / "sglang/serve2.log").read_bytes(), 50)]
    assert words.index("stopping") < words.index("stopped")
    assert set(words[words.index("stopped") :]) == {"stopped"}


def test_a_child_that_dies_after_we_asked_for_the_stop_is_no_crash() -> None:
    lines = READY + log(
        (1, "SIGTERM received. signum=None frame=None. Draining requests and shutting down..."),
        (2, "Subprocess scheduler_0 (pid=7) crashed with exit code -15. Triggering SIGQUIT for cleanup..."),
        (2, "SIGQUIT received. signum=None, frame=None. It usually means one child failed."),
    )
    story = story_of(lines)
    assert (story.word, story.cause) == ("stopped", None)


def test_a_scheduler_killed_under_load_is_the_cause_and_not_the_sigquit_after_it() -> None:
    cause = story_of(H200 / "fail_kill9_scheduler/A_first.log").cause
    assert cause is not None
    assert cause.kind == "killed"
    assert cause.message.startswith("Subprocess scheduler_0 (pid=2403) crashed with exit code -9")


def test_a_record_glued_to_a_decode_line_counts() -> None:
    glued = log((1, decode(100.0))).rstrip(b"\n") + log((2, "SIGTERM received. signum=None frame=None."))
    assert story_so_far(READY + glued).word == "stopping"


def test_a_record_glued_to_one_of_many_lines_counts_and_the_lines_after_it_too() -> None:
    """Requests of anybody may hold what looks like the begin of a record."""
    strange = log((1, 'INFO:     127.0.0.1:42960 - "GET /[2|x HTTP/1.1" 404 Not Found'))
    glued = log((1, decode(100.0))).rstrip(b"\n") + log((2, "SIGTERM received. signum=None frame=None."))
    story = story_so_far(READY + strange + log((1, decode(90.0))) + glued + strange + log((3, decode(110.0))))
    assert (story.word, story.lines) == ("stopping", 6)
    assert story.batch is not None
    assert story.batch.tok_s == 110.0


def test_access_lines_change_nothing() -> None:
    access = log((1, 'INFO:     127.0.0.1:42960 - "GET /health?x=Traceback HTTP/1.1" 503 Service Unavailable'))
    story = story_so_far(READY + access * 50)
    assert (story.word, story.cause, story.lines) == ("ready", None, 51)


def test_a_log_that_ends_while_it_serves_keeps_its_word_and_gets_a_warning() -> None:
    story = story_of(H200 / "fail_kill9_parent/server.log")
    assert story.word == "ready"
    assert "ends without an end" in story.warnings[0]
