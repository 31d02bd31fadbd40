"""Logs that hold more or less than one run: appended runs, and logs that are joined in the middle."""

from tests.engines.reading import CAPTURES, CASES, names, story_of, story_so_far
from tests.engines.test_sglang_serving import decode
from tests.engines.test_sglang_start import log

H200 = CAPTURES / "sglang_h200"
STOPPED = (H200 / "eagle3_v1/server.log").read_bytes()
LOADING = (H200 / "fail_sigterm_loading/server.log").read_bytes()


def test_of_two_appended_runs_the_newest_is_the_story() -> None:
    story = story_so_far(STOPPED + LOADING)
    assert story.word == "starting"
    assert story.speculation is None
    assert story.phase is not None
    assert (story.phase.name, story.phase.total) == ("weights", 9)
    assert story.batch is None


def test_the_cause_of_an_earlier_run_is_forgotten_and_lines_count_on() -> None:
    crashed = (H200 / "fail_mem_fraction/server.log").read_bytes()
    story = story_of(crashed + STOPPED)
    assert (story.word, story.cause, story.speculation) == ("stopped", None, "v1")
    assert story.lines == story_of(crashed).lines + story_of(STOPPED).lines


def test_a_bad_flag_after_a_clean_stop_is_a_crash_of_the_next_run() -> None:
    story = story_so_far(STOPPED + (CASES / "B09_dies_before_logging/bad_flag.log").read_bytes())
    assert story.word == "crashed"
    assert story.cause is not None
    assert story.cause.message == "unrecognized arguments: --enable_metrics"


def test_vllm_begins_again_with_its_logo() -> None:
    first = (CAPTURES / "vllm/serve.log").read_bytes()
    second = first[: first.index(b"Loading weights took")]
    story = story_so_far(first + b"\n" + second)
    assert story.word == "starting"
    assert names(story.phases) == ["import", "arguments", "processes", "distributed", "weights"]


def test_llamacpp_begins_again_where_its_clock_falls_back() -> None:
    first = (CAPTURES / "llamacpp/tiny_server.log").read_bytes()
    story = story_so_far(first + first[: first.index(b"model loaded")])
    assert story.word == "starting"


def test_a_log_that_is_joined_while_it_serves_is_ready() -> None:
    story = story_so_far(log((1, decode(300.0)), (2, decode(310.0))))
    assert story.word == "ready"
    assert story.engine == "sglang"
    assert story.phases == ()


def test_a_decode_line_within_a_start_that_was_seen_is_not_ready() -> None:
    start = log((0, "server_args=ServerArgs(model_path='/m')"), (1, decode(300.0)))
    assert story_so_far(start).word == "starting"
