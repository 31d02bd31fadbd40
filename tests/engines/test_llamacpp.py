"""llama-server: stamps since its start, rates per slot, failures."""

import pytest
from tests.engines.reading import CAPTURES, began, stories, story_of, story_so_far

LLAMA = CAPTURES / "llamacpp"


def test_a_real_start_is_ready_when_it_listens() -> None:
    log = (LLAMA / "tiny_server.log").read_bytes()
    listening = log.index(b"listening on http")
    words = {read: story.word for read, story in stories(log[: listening + 200], 50)}
    assert all(word == "starting" for read, word in words.items() if read <= listening)
    assert story_so_far(log[: listening + 200]).word == "ready"


def test_phases_begin_by_the_servers_own_clock() -> None:
    times = began(story_of(LLAMA / "tiny_server.log"))
    assert times["weights"] == pytest.approx(0.008)
    assert times["kv_cache"] == pytest.approx(0.066)


def test_rates_of_the_busy_slots_add_up() -> None:
    log = (LLAMA / "tiny_server.log").read_bytes()
    batch = story_of(log).batch
    assert batch is not None
    assert batch.tok_s == pytest.approx(158.31 + 158.32 + 159.17 + 159.17)
    assert batch.running == 4


def test_a_slot_that_was_released_counts_no_more() -> None:
    log = b"0.00.073.674 I srv  llama_server: listening on http://127.0.0.1:28081\n"
    log += b"0.11.787.515 I slot print_timing: id  0 | task 840 | n_gen =    475, tg = 157.98 t/s, tg_3s = 100.00 t/s\n"
    log += b"0.11.800.000 I slot      release: id  0 | task 840 | stop processing: n_tokens = 268, truncated = 0\n"
    log += (
        b"0.11.900.000 I slot print_timing: id  1 | task 842 | n_decoded =  475, tg = 157.98 t/s, tg_3s = 50.00 t/s\n"
    )
    batch = story_so_far(log).batch
    assert batch is not None
    assert (batch.tok_s, batch.running) == (50.0, 1)


def test_a_stop_is_stopping_and_its_end_is_not_told() -> None:
    story = story_of(LLAMA / "tiny_server.log")
    assert story.word == "stopping"
    assert "ends without an end" in story.warnings[0]


def test_a_bad_flag_is_the_whole_log() -> None:
    story = story_of(LLAMA / "fail_bad_arg.log")
    assert story.engine == "llamacpp"
    assert story.cause is not None
    assert (story.cause.kind, story.cause.message) == ("bad-argument", "invalid argument: --no-such-flag")


def test_bytes_that_are_no_text_do_not_stop_the_reading() -> None:
    log = b"0.00.008.814 I srv    load_model: loading model '\xff\xfe.gguf'\n"
    phase = story_so_far(log).phase
    assert phase is not None
    assert phase.name == "weights"


def test_the_build_is_the_version() -> None:
    assert story_of(LLAMA / "run2_lv4.log").engine_version == "b1"
