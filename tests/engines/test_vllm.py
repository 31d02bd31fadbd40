"""vLLM: phases as far as the fixed names fit, rates, wanted stops that look like crashes, real crashes."""

import pytest
from tests.engines.reading import CAPTURES, began, names, stories, story_of, story_so_far

VLLM = CAPTURES / "vllm"
CORE = "(EngineCore_DP0 pid=900) "


def record(second: int, message: str, level: str = "INFO", writer: str = CORE) -> str:
    """A record of 0.18 and later."""
    return f"{writer}{level} 01-05 10:00:{second:02d} [core.py:1] {message}\n"


READY = "INFO:     Application startup complete.\n"
STATS = (
    "Engine 00{}: Avg prompt throughput: 108.0 tokens/s, Avg generation throughput: {} tokens/s, Running: {} reqs, "
    "Waiting: {} reqs, GPU KV cache usage: 19.8%, Prefix cache hit rate: 0.0%"
)


def test_phases_of_a_real_start_begin_when_they_did() -> None:
    story = story_of(VLLM / "serve.log")
    assert names(story.phases) == ["import", "arguments", "processes", "distributed", "weights", "kv_cache", "http"]
    times = began(story)
    # 14:06:08 the logo, :31 the engine, :43 the worker and its weights, :44 profiling, 14:07:37 HTTP
    assert [times[name] for name in ("arguments", "processes", "weights", "kv_cache", "http")] == [0, 23, 35, 36, 89]
    assert story.engine_version == "0.32.0"
    assert story.loading_total == 16


def test_an_eager_start_has_no_graph_phase_and_ngram_is_its_mode() -> None:
    phases = {
        story.phase.name: story.phase.total
        for _, story in stories((VLLM / "medium_eager.log").read_bytes(), 40)
        if story.phase
    }
    assert list(phases) == [
        "import",
        "arguments",
        "processes",
        "distributed",
        "weights",
        "draft_weights",
        "kv_cache",
        "http",
    ]
    assert phases["http"] == 8
    assert story_of(VLLM / "medium_eager.log").speculation == "ngram"


def test_a_drafter_is_a_phase_of_its_own() -> None:
    log = record(0, "Starting to load model /m...") + record(9, "Loading drafter model...")
    phase = story_so_far(log.encode()).phase
    assert phase is not None
    assert (phase.name, phase.index, phase.total) == ("draft_weights", 6, 9)


def test_graph_bars_have_names_of_their_own() -> None:
    log = (
        record(0, "Starting to load model /m...")
        + "Capturing CUDA graphs (decode, FULL):  50%|##  | 1/2 [00:01<00:01,  1.0it/s]\r "
    )
    story = story_so_far(log.encode())
    assert story.progress is not None
    assert story.progress.label == "graphs (decode, FULL)"
    assert story.phase is not None
    assert story.phase.name == "graphs"


def test_starting_the_http_server_is_not_ready_but_its_startup_is() -> None:
    log = record(0, "Starting vLLM server on http://127.0.0.1:8000", writer="(APIServer pid=1) ")
    assert story_so_far(log.encode()).word == "starting"
    assert story_so_far((log + READY).encode()).word == "ready"


def test_rates_of_several_engines_add_up() -> None:
    log = READY + record(1, STATS.format(0, 100.5, 3, 1)) + record(1, STATS.format(1, 50.0, 2, 0))
    batch = story_so_far(log.encode()).batch
    assert batch is not None
    assert (batch.tok_s, batch.running, batch.queued) == (150.5, 5, 1)
    assert batch.kv_usage == pytest.approx(0.198)


def test_the_accept_length_stands_on_its_own_line() -> None:
    batch = story_of(VLLM / "spec_greedy.log").batch
    assert batch is not None
    assert batch.accept_length == 4.08


def test_a_wanted_stop_with_hundreds_of_error_lines_is_no_crash() -> None:
    assert (VLLM / "serve.log").read_bytes().count(b"EngineDeadError") > 3
    words: list[str] = []
    for _, story in stories((VLLM / "serve.log").read_bytes(), 500):
        if story.word not in words[-1:]:
            words.append(story.word)
    assert words == ["starting", "ready", "stopping", "stopped"]


def test_an_engine_core_that_was_killed_is_the_cause() -> None:
    story = story_of(VLLM / "spec.log")
    assert story.word == "crashed"
    assert story.cause is not None
    assert (story.cause.message, story.cause.line) == ("engine core exited unexpectedly", 151)


def test_interleaved_tracebacks_of_two_processes_are_kept_apart() -> None:
    other = "(APIServer pid=1) "
    log = (
        record(1, "EngineCore failed to start.", "ERROR")
        + record(1, "Traceback (most recent call last):", "ERROR")
        + f"{other}Traceback (most recent call last):\n"
        + record(1, '  File "/x.py", line 1, in f', "ERROR")
        + f'{other}  File "/y.py", line 1, in g\n'
        + f"{other}RuntimeError: Engine core initialization failed. See root cause above.\n"
        + record(1, "ValueError: Free memory on device cuda:0 (3.2/79.2 GiB) on startup is less than desired", "ERROR")
    )
    cause = story_of(log.encode()).cause
    assert cause is not None
    assert (cause.kind, cause.rank, cause.line) == ("gpu-occupied", "EngineCore_DP0", 7)


@pytest.mark.parametrize(
    "message",
    [
        "Address already in use. Retrying with a new port.",
        "Free memory on device (70.1/79.2 GiB) on startup. Desired GPU memory utilization is (0.9, 71.2 GiB).",
        "Found ulimit of 20000. This can cause fd limit errors like `OSError: [Errno 24] Too many open files`",
    ],
)
def test_warnings_that_sound_like_failures_are_none(message: str) -> None:
    assert story_so_far(record(1, message, "WARNING").encode()).word == "starting"


def test_colours_around_the_prefix_do_not_hide_it() -> None:
    log = b"\x1b[1;36m(EngineCore_DP0 pid=7)\x1b[0;0m INFO 09-28 15:47:24 [core.py:718] Starting to load model /m...\n"
    story = story_so_far(log)
    assert story.engine == "vllm"
    assert story.phase is not None
    assert story.phase.name == "weights"


def test_a_start_over_new_year_does_not_run_backwards() -> None:
    log = "(EngineCore pid=7) INFO 12-31 23:59:58 [a.py:1] Initializing a V1 LLM engine (v0.33.0)\n"
    log += "(EngineCore pid=7) INFO 01-01 00:00:03 [a.py:1] Starting to load model /m...\n"
    assert began(story_so_far(log.encode()))["weights"] == 5


def test_a_draft_is_counted_from_the_arguments_on_so_that_the_number_of_phases_stays() -> None:
    totals = [
        story.phase.total
        for _, story in stories((VLLM / "medium_eager.log").read_bytes(), 40)
        if story.phase and story.phase.name not in ("import", "arguments")
    ]
    assert set(totals) == {8}
