"""TGI, TensorRT-LLM and Ollama: recognised, their start, readiness, failures and version, by lines of their sources and issues."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.reading import content, names, stories, story_of, story_so_far

from specdeck.engines.reader import LogReader
from specdeck.engines.registry import ENGINES
from specdeck.state.load import LoadReading
from specdeck.state.serving import CounterKey

TGI = """\
2024-12-11T18:25:01.000001Z  INFO text_generation_launcher: Args { model_id: "/data/kimi", sharded: None, num_shard: Some(2) }
2024-12-11T18:25:02.000001Z  INFO download: text_generation_launcher: Starting check and download process for /data/kimi
2024-12-11T18:25:03.000001Z  INFO text_generation_launcher: Download: [3/8] -- ETA: 0:01:20
2024-12-11T18:25:09.000001Z  INFO download: text_generation_launcher: Successfully downloaded weights for /data/kimi
2024-12-11T18:25:10.000001Z  INFO shard-manager: text_generation_launcher: Starting shard rank=0
2024-12-11T18:25:20.000001Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0
2024-12-11T18:26:36.207682Z  INFO shard-manager: text_generation_launcher: Shard ready in 55.201097835s rank=1
2024-12-11T18:26:37.000001Z  INFO text_generation_launcher: Starting Webserver
2024-12-11T18:26:38.000001Z  INFO text_generation_router_v3: backends/v3/src/lib.rs:125: Warming up model
2024-12-11T18:26:39.000001Z  INFO text_generation_launcher: Cuda Graphs are enabled for sizes [32, 16, 8, 4, 2, 1]
2024-12-11T18:26:50.000001Z  INFO text_generation_router_v3: backends/v3/src/lib.rs:137: Setting max batch total tokens to 35936
2024-12-11T18:26:51.000001Z  INFO text_generation_router::server: router/src/server.rs:2402: Connected
"""
COLOURED = (
    b"\x1b[2m2024-04-18T22:43:58.111453Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mshard-manager\x1b[0m: "
    b"\x1b[2mtext_generation_launcher\x1b[0m\x1b[2m:\x1b[0m Waiting for shard to be ready... "
    b"\x1b[2m\x1b[3mrank\x1b[0m\x1b[2m=\x1b[0m0\x1b[0m\n"
)
TRT = """\
[TensorRT-LLM] TensorRT LLM version: 1.2.0
[10/21/2025-23:23:27] [TRT-LLM] [RANK 0] [I] Prefetching /model-store/x.safetensors to memory...
\rLoading weights:  57%|█████▋    | 801/1408 [02:07<01:36,  6.30it/s]\r\
Loading weights: 100%|██████████| 1408/1408 [03:43<00:00,  6.30it/s]
[10/21/2025-23:27:27] [TRT-LLM] [I] Model init total -- 3.13s
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.56 GiB for max tokens in paged KV cache (8224).
[09/04/2026-00:08:52] [TRT-LLM] [I] [_torch][RANK 0] Running CUDA graph capture for 4 batch sizes.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 9.56 GiB for max tokens in paged KV cache (82240).
INFO:     Started server process [7]
INFO:     Waiting for application startup.
INFO:     Application startup complete.
"""
OLLAMA = """\
time=2026-09-02T16:52:33.601Z level=INFO source=routes.go:1300 msg="Listening on 127.0.0.1:11434 (version 0.33.0)"
[GIN] 2026/10/07 - 18:00:01 | 200 |  2.1s |       127.0.0.1 | POST     "/v1/chat/completions"
time=2026-09-02T16:52:34.601Z level=INFO source=llama_server.go:1350 msg="waiting for llama-server" status="loading model"
"""
LOGS = {"tgi": TGI, "trtllm": TRT, "ollama": OLLAMA}


def first(log: str, count: int) -> bytes:
    """Its first lines."""
    return "".join(log.splitlines(keepends=True)[:count]).encode()


@pytest.mark.parametrize("engine", LOGS)
def test_each_is_recognised_and_ready_by_its_last_lines_and_not_before(engine: str) -> None:
    ready = {"tgi": b"Connected", "trtllm": b"startup complete", "ollama": b"Listening on"}[engine]
    log = LOGS[engine].encode()
    for read, story in stories(log, 7):
        assert (story.word == "ready") <= (ready in log[:read])
    assert (story_so_far(log).engine, story_so_far(log).word) == (engine, "ready")


@pytest.mark.parametrize("engine", LOGS)
def test_random_pieces_say_what_the_whole_says(engine: str) -> None:
    log = LOGS[engine].encode()
    chance = random.Random(len(log))
    reader, begin = LogReader(), 0
    while begin < len(log):
        size = chance.choice((1, 3, 17, 200))
        reader.feed(log[begin : begin + size], 0.0)
        begin += size
    reader.end()
    assert content(reader.story) == content(story_of(log))


def test_tgi_tells_its_phases_and_downloads() -> None:
    story = story_so_far(first(TGI, 3))
    assert story.progress is not None
    assert (story.progress.label, story.progress.done, story.progress.total) == ("downloading files", 3, 8)
    assert names(story_so_far(TGI.encode()).phases) == [
        "arguments",
        "processes",
        "weights",
        "http",
        "warm_up",
        "graphs",
        "kv_cache",
    ]


def test_tgi_is_read_through_its_colours() -> None:
    story = story_so_far(COLOURED)
    assert story.engine == "tgi"
    assert story.phase is not None
    assert story.phase.name == "weights"


def test_of_a_shard_of_tgi_that_died_its_own_traceback_is_the_cause() -> None:
    log = first(TGI, 6) + (
        b"2024-12-11T18:26:01.1Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:\n"
        b"\nTraceback (most recent call last):\n"
        b'  File "/usr/bin/text-generation-server", line 8, in <module>\n    sys.exit(app())\n'
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
        b"2024-12-11T18:26:02.1Z ERROR text_generation_launcher: Shard 0 failed to start\n"
        b"Error: ShardCannotStart\n"
    )
    story = story_of(log)
    assert story.cause is not None
    assert (story.word, story.cause.kind, story.cause.line) == ("crashed", "out-of-memory", 12)


def test_tgi_names_a_taken_port_and_a_prefill_that_is_too_large() -> None:
    prefix = b"2024-12-11T18:26:52.1Z ERROR text_generation_router::server: router/src/server.rs:9: "
    cause = story_of(first(TGI, 11) + prefix + b"Failed to bind to 0.0.0.0:3000\n").cause
    assert cause is not None
    assert cause.kind == "port-in-use"
    cause = story_of(first(TGI, 9) + prefix + b"Not enough memory to handle 4096 prefill tokens.\n").cause
    assert cause is not None
    assert cause.kind == "out-of-memory"


def test_trtllm_tells_version_phases_and_the_bar_of_modules() -> None:
    story = story_so_far(TRT.encode())
    assert story.engine_version == "1.2.0"
    assert names(story.phases) == ["import", "arguments", "weights", "kv_cache", "graphs", "http"]
    progress = story_so_far(
        first(TRT, 2) + "Loading weights:  57%|█| 801/1408 [02:07<01:36,  6.30it/s]\r".encode()
    ).progress
    assert progress is not None
    assert (progress.label, progress.done, progress.total) == ("target weights", 801, 1408)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("RuntimeError: Failed to bind socket to localhost:8000: [Errno 98] Address already in use", "port-in-use"),
        ("Error: No such option: --tpsize", "bad-argument"),
        ("[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMalloc(ptr, n): out of memory", "out-of-memory"),
        (
            "[08/19/2026-14:11:49] [TRT-LLM] [RANK 1] [E] CUDA out of memory. Tried to allocate 2.00 GiB",
            "out-of-memory",
        ),
    ],
)
def test_trtllm_names_its_failures(line: str, kind: str) -> None:
    traceback = "Traceback (most recent call last):\n" if line.startswith("RuntimeError") else ""
    story = story_of(f"[TensorRT-LLM] TensorRT LLM version: 1.2.0\n{traceback}{line}\n".encode())
    assert story.cause is not None
    assert (story.word, story.cause.kind) == ("crashed", kind)


def test_trtllm_that_is_told_to_stop_is_stopped_by_its_own_words() -> None:
    lines = "INFO:     Shutting down\nINFO:     Application shutdown complete.\n"
    assert story_of((TRT + lines).encode()).word == "stopped"


def test_ollama_tells_its_version_and_keeps_serving_when_a_model_is_lost() -> None:
    lost = 'time=2026-09-02T16:53:34.601Z level=ERROR source=sched.go:500 msg="llama-server terminated" error="signal: killed"\n'
    story = story_so_far((OLLAMA + lost).encode())
    assert (story.word, story.engine_version) == ("ready", "0.33.0")
    assert "a model was lost: llama-server terminated" in story.warnings[0]


def test_ollama_on_a_taken_port_says_so() -> None:
    reader = LogReader("ollama")
    reader.feed(b"Error: listen tcp 127.0.0.1:11434: bind: address already in use\n", 0.0)
    assert reader.story.cause is not None
    assert reader.story.cause.kind == "port-in-use"


def read(engine: str, kind: str, body: bytes) -> LoadReading:
    probe = next(probe for probe in ENGINES[engine].probes if probe.kind == kind)
    return ENGINES[engine].read_answer(probe, body)


def test_tgi_tells_requests_latency_and_version() -> None:
    body = b'tgi_batch_current_size 3\ntgi_queue_size 2\ntgi_request_mean_time_per_token_duration_bucket{le="0.05"} 7\n'
    reading = read("tgi", "metrics", b"# TYPE tgi_queue_size gauge\n" + body)
    assert (reading.running, reading.queued, reading.decode_tokens) == (3, 2, None)
    assert reading.page == {CounterKey("tpot", "", "0.05"): 7}
    assert read("tgi", "details", b'{"version":"3.3.7","sha":"x"}').engine_version == "3.3.7"


@pytest.mark.parametrize("prefix", [b"trtllm_", b""])
def test_trtllm_is_read_with_and_without_the_prefix_of_its_names(prefix: bytes) -> None:
    body = b"%snum_requests_running 4\n%snum_requests_waiting 1\n%skv_cache_utilization 0.5\n" % (
        prefix,
        prefix,
        prefix,
    )
    reading = read("trtllm", "metrics", body)
    assert (reading.running, reading.queued, reading.kv_usage) == (4, 1, 0.5)


def test_what_is_emptied_by_reading_is_never_asked() -> None:
    paths = {probe.path for probe in ENGINES["trtllm"].probes}
    assert not paths & {"/metrics", "/perf_metrics", "/health_generate"}


def test_ollama_tells_its_version_over_http_and_is_healthy_at_its_root() -> None:
    assert read("ollama", "details", b'{"version":"0.33.0"}').engine_version == "0.33.0"
    assert ENGINES["ollama"].probes[0].path == "/"


PIECES = st.sampled_from([line.encode() for log in LOGS.values() for line in log.splitlines()] + [COLOURED.strip()])


@given(
    st.sampled_from(list(LOGS)), st.lists(st.one_of(PIECES, st.binary(max_size=40)), max_size=12), st.integers(1, 50)
)
def test_no_log_raises_and_pieces_are_as_good_as_the_whole(engine: str, lines: list[bytes], size: int) -> None:
    log = b"\n".join(lines)
    pieces = LogReader(engine)
    for begin in range(0, len(log), size):
        pieces.feed(log[begin : begin + size], 0.0)
    pieces.end()
    assert content(pieces.story) == content(story_of(log, engine))
