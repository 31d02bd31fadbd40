"""A log says the same, in whatever pieces it comes; and no piece says more than is there."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.reading import CAPTURES, CASES, content, stories, story_of

from specdeck.engines.reader import LogReader
from specdeck.engines.registry import ENGINES

LOGS = sorted((*CAPTURES.rglob("*.log"), *CASES.glob("B0*/*.log"), *CASES.glob("B10*/*.log")))
SMALL = ("sglang_h200/fail_sigterm_loading/server.log", "vllm/medium_eager.log", "llamacpp/run2_lv4.log")
READY_LINES = {
    "sglang": b"fired up and ready",
    "vllm": b"Application startup complete",
    "llamacpp": b"listening on http",
}


def label_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", LOGS, ids=label_of)
def test_random_pieces_say_what_the_whole_says(path: Path) -> None:
    log = path.read_bytes()
    chance = random.Random(len(log))
    reader = LogReader()
    begin = 0
    while begin < len(log):
        size = chance.choice((1, 3, 17, 200, 4096, 65_536))
        reader.feed(log[begin : begin + size], 0.0)
        begin += size
    reader.end()
    assert content(reader.story) == content(story_of(log))


@pytest.mark.parametrize("name", SMALL)
def test_single_bytes_say_what_the_whole_says(name: str) -> None:
    log = (CAPTURES / name).read_bytes()
    reader = LogReader()
    for begin in range(len(log)):
        reader.feed(log[begin : begin + 1], 0.0)
    reader.end()
    assert content(reader.story) == content(story_of(log))


@pytest.mark.parametrize("path", LOGS, ids=label_of)
def test_no_cut_is_ready_before_the_ready_line_nor_runs_backwards_within_one_label(path: Path) -> None:
    log = path.read_bytes()
    shown: dict[str, float] = {}
    for read, story in stories(log, max(61, len(log) // 2_000)):
        if story.word == "ready" and story.engine is not None:
            assert READY_LINES[story.engine] in log[:read]
        if story.progress is not None:
            assert story.progress.percent >= shown.get(story.progress.label, 0.0)
            shown[story.progress.label] = story.progress.percent


def test_glued_bars_of_an_open_line_are_drawn_once() -> None:
    glued = b"100%|##| 2/2 [00:01<00:00, 2.00it/s]  0%|  | 0/2 [00:00<?, ?it/s]\n"
    log = b"[2026-01-05 10:00:00] Capture draft cuda graph begin.\n" + glued
    whole = story_of(log).progress
    *_, (_, last) = stories(log, 1)
    assert whole is not None
    assert whole.label == "draft graphs (2)"
    assert last.progress == whole


def test_a_bar_that_an_access_line_is_glued_to_counts_in_the_whole_as_it_does_in_pieces() -> None:
    log = (
        b"Multi-thread loading shards:  17% Completed | 11/64 [00:00<00:01, 33.12it/s]"
        b'[2026-01-05 10:00:00] INFO:     127.0.0.1:54234 - "GET /health HTTP/1.1" 503 Service Unavailable\n'
    )
    for engine in ("sglang", "vllm"):
        *_, (_, last) = stories(log, 1)
        progress = story_of(log, engine).progress
        assert progress is not None
        assert (progress.label, progress.done, progress.total) == ("target weights", 11, 64)
        assert last.progress == progress


def test_a_bar_that_comes_back_after_another_does_not_fall() -> None:
    """A rank that is late draws its old weights once more while the first already captures."""
    weights = b"Loading safetensors checkpoint shards:  %d%% Completed | %d/64 [00:01<00:02, 20.00it/s]\n"
    log = weights % (50, 32) + b"Capturing batches (bs=8):  33%|##| 4/12 [00:01<00:02, 4.00it/s]\n" + weights % (25, 16)
    shown = [(story.progress.label, story.progress.done) for _, story in stories(log, 1) if story.progress is not None]
    assert ("graphs", 4) in shown
    assert [done for label, done in shown if label == "target weights"][-1] == 32


WORDS = st.sampled_from(
    [
        b"[2026-01-05 10:00:00 TP0] ",
        b"[2026-13-45 10:00:00 DP0 TP1] ",
        b"(EngineCore_DP0 pid=1) ERROR 01-05 10:00:01 [core.py:708] ",
        b"0.00.004.814 E ",
        b"Load weight begin. avail mem=1 GB",
        b"Traceback (most recent call last):",
        b"ValueError: x",
        b"Decode batch, #running-req: 1, gen throughput (token/s): nan, #queue-req: 99999999999999999999",
        b"Decode batch, #running-req: " + b"9" * 5000 + b", gen throughput (token/s): 1",
        b"Engine 000: Avg prompt throughput: 1 tokens/s, Avg generation throughput: 1e9 tokens/s, Running: 1 reqs, Waiting: 1 reqs",
        b"slot print_timing: id  0 | task 1 | n_gen = 1, tg = ..1 t/s, tg_3s = ... t/s",
        b"Capture draft cuda graph begin.",
        b"  0%|     | 0/4 [00:00<?, ?it/s]",
        b"100%|     | 4/4 [00:00<00:01, 1it/s]",
        b"Gracefully exiting... Remaining number of requests 0.",
        b"INFO:     Application shutdown complete.",
        b"SIGTERM received",
        b"\n",
        b"\r",
        b"\x1b[31m",
        b"\xff",
    ]
)


@settings(max_examples=150)
@given(st.sampled_from([None, *ENGINES]), st.lists(st.one_of(WORDS, st.binary(max_size=4)), max_size=40))
def test_nothing_in_a_log_raises(engine: str | None, words: list[bytes]) -> None:
    reader = LogReader(engine)
    for word in words:
        reader.feed(word, 0.0)
        assert reader.story.lines >= 0
    reader.end()
    assert reader.story.word in ("starting", "ready", "stopping", "stopped", "crashed")
