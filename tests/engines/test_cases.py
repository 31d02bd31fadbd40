"""The cases of other people's issues: what the log must be understood to say."""

import re

import pytest
from tests.engines.reading import CASES, stories, story_of, story_so_far

from specdeck.engines.reader import LogReader
from specdeck.state.log_story import silent_death

B01 = (CASES / "B01_cr_only_bar" / "server.log").read_bytes()
B02 = CASES / "B02_interleaved_workers"
B03 = CASES / "B03_target_then_draft"
B07 = CASES / "B07_cause_far_above_tail" / "server.log"
B09 = CASES / "B09_dies_before_logging"
B10 = CASES / "B10_silent_death" / "server.log"


def test_each_capture_is_the_phase_of_the_graphs_whatever_its_shape() -> None:
    lines = (CASES / "B04_bar_shapes" / "shapes.log").read_bytes().splitlines(keepends=True)
    captures = [line for line in lines if b"Capturing" in line]
    assert captures
    for line in captures:
        story = story_so_far(line)
        assert story.phase is not None
        assert story.phase.name == "graphs"


def test_rates_come_from_the_log_where_there_are_no_metrics() -> None:
    sglang = story_so_far(CASES / "B51_no_metrics_endpoint" / "sglang.log").batch
    assert sglang is not None
    assert (sglang.tok_s, sglang.running, sglang.accept_length) == (640.25, 2, 3.10)
    older = story_so_far(b"".join((CASES / "B51_no_metrics_endpoint" / "sglang.log").read_bytes().splitlines(True)[:1]))
    assert older.batch is not None
    assert older.batch.tok_s == 212.50
    vllm = story_so_far(CASES / "B51_no_metrics_endpoint" / "vllm.log").batch
    assert vllm is not None
    assert (vllm.tok_s, vllm.running) == (310.4, 4)


def test_a_bar_of_carriage_returns_only_moves_without_any_newline() -> None:
    progress = story_so_far(B01).progress
    assert progress is not None
    assert (progress.label, progress.done, progress.total) == ("target weights", 41, 59)
    assert int(progress.percent) == 69
    assert progress.eta_seconds == 36
    assert B01.count(b"\n") == 2


def test_half_a_number_at_the_end_of_a_piece_is_never_progress() -> None:
    done = [story.progress.done for _, story in stories(B01[:20_000], 1) if story.progress is not None]
    assert done == sorted(done)


def test_the_bar_moves_with_each_appended_piece() -> None:
    reader = LogReader()
    reader.feed(B01[:100_000], 0.0)
    before = reader.story.progress
    reader.feed(B01[100_000:], 0.0)
    after = reader.story.progress
    assert before is not None
    assert after is not None
    assert before.done < after.done


@pytest.mark.parametrize("name", ["same_line_prefix.log", "split_prefix.log"])
def test_of_two_named_workers_the_slowest_is_shown_and_both_are_named(name: str) -> None:
    progress = story_so_far(B02 / name).progress
    assert progress is not None
    assert (progress.done, progress.total, progress.percent) == (2, 10, 20.0)
    assert progress.detail == "Worker_DP0_TP0 4/10, Worker_DP1_TP0 2/10"


def test_of_two_unnamed_workers_the_furthest_is_shown_and_marked() -> None:
    progress = story_so_far(B02 / "glued.log").progress
    assert progress is not None
    assert (progress.done, progress.total) == (6, 10)
    assert "furthest" in progress.detail


@pytest.mark.parametrize("name", ["same_line_prefix.log", "split_prefix.log", "glued.log"])
def test_interleaved_bars_never_run_backwards(name: str) -> None:
    percents = [story.progress.percent for _, story in stories((B02 / name).read_bytes(), 1) if story.progress]
    assert percents == sorted(percents)


@pytest.mark.parametrize(
    ("name", "label", "done", "total"),
    [
        ("s1_target_mid.log", "target weights", 8, 17),
        ("s2_between.log", "target weights", 17, 17),
        ("s3_draft_mid.log", "draft weights", 1, 2),
        ("s4_draft_done.log", "draft weights", 2, 2),
        ("v1_vllm_drafter.log", "draft weights", 0, 1),
    ],
)
def test_target_and_draft_are_two_bars_and_neither_makes_it_ready(name: str, label: str, done: int, total: int) -> None:
    story = story_so_far(B03 / name)
    assert story.word == "starting"
    assert story.progress is not None
    assert (story.progress.label, story.progress.done, story.progress.total) == (label, done, total)


def test_without_a_draft_the_next_phase_after_the_graphs_is_not_a_draft() -> None:
    more = b"[2026-01-05 10:00:53 TP0] max_total_num_tokens=210000, chunked_prefill_size=8192\n"
    story = story_so_far((B03 / "s2_between.log").read_bytes() + more)
    assert story.phase is not None
    assert (story.phase.name, story.phase.index, story.phase.total) == ("http", 8, 9)


def test_the_cause_is_the_first_error_and_not_the_wrapper_at_the_end() -> None:
    cause = story_of(B07).cause
    assert cause is not None
    assert cause.message.startswith("ValueError: To serve at least one request with max seq len 131072")
    assert cause.line == 59
    assert cause.rank == "EngineCore_DP0"


@pytest.mark.parametrize(
    ("name", "kind", "headline"),
    [
        ("bad_flag.log", "bad-argument", "unrecognized arguments: --enable_metrics"),
        ("bad_choice.log", "bad-argument", "argument --speculative-algorithm: invalid choice: 'EAGLE4'"),
        ("no_module.log", "missing-module", "No module named 'sglang'"),
        ("no_model.log", "missing-model", "OSError: /models/exmaple-70b is not a local folder"),
    ],
)
def test_a_death_before_the_first_log_line_has_the_one_line_that_matters(name: str, kind: str, headline: str) -> None:
    story = story_so_far(B09 / name)
    assert story.word == "crashed"
    assert story.cause is not None
    assert story.cause.kind == kind
    assert headline in story.cause.message


def test_a_python_without_the_engine_is_named_in_the_hint() -> None:
    cause = story_of(B09 / "no_module.log").cause
    assert cause is not None
    assert cause.hint is not None
    assert re.search(r"/usr/bin/python3 has no sglang", cause.hint)


def test_a_log_that_stops_in_a_bar_keeps_its_word_and_gets_a_warning() -> None:
    story = story_of(B10)
    assert story.word == "starting"
    assert story.progress is not None
    assert (story.progress.done, story.progress.total) == (47, 163)
    assert int(story.progress.percent) == 28
    assert "ends without an end" in story.warnings[0]


def test_once_the_process_is_known_to_be_gone_the_silent_death_says_where() -> None:
    cause = silent_death(story_of(B10))
    assert cause.kind == "killed"
    assert "ended without an error message at 47/163" in cause.message


def test_a_death_with_a_cause_is_not_silent() -> None:
    story = story_of(B07)
    assert silent_death(story) is story.cause
