"""A start of SGLang: phases in both orders, bars under their names, readiness, effective speculation."""

from collections.abc import Mapping

import pytest
from tests.engines.reading import CAPTURES, began, names, stories, story_of, story_so_far

H200 = CAPTURES / "sglang_h200"
STAMP = b"[2026-01-05 10:00:%02d%s] "
SPEC = b"server_args=ServerArgs(model_path='/m', speculative_algorithm='EAGLE3', tp_size=2)"

# Seconds from the launch, read by eye in the logs and in the timelines beside them; the last is the ready line.
MEASURED: Mapping[str, tuple[int, Mapping[str, int], int]] = {
    "baseline": (21, {"weights": 33, "graphs": 39, "warm_up": 77}, 93),
    "eagle3_v2": (9, {"weights": 19, "graphs": 22, "draft_weights": 39, "draft_graphs": 41, "warm_up": 50}, 53),
    "eagle3_v1": (9, {"weights": 21, "graphs": 23, "draft_weights": 36, "draft_graphs": 37, "warm_up": 47}, 50),
}


def log(*records: tuple[int, str] | tuple[int, str, str]) -> bytes:
    """A log of (second, message) or (second, message, rank)."""
    lines = []
    for second, message, *rank in records:
        tag = b" " + rank[0].encode() if rank else b""
        lines.append(STAMP % (second, tag) + message.encode() + b"\n")
    return b"".join(lines)


@pytest.mark.parametrize("name", list(MEASURED))
def test_phases_of_a_real_start_begin_when_they_did(name: str) -> None:
    arguments_dumped, phases, ready = MEASURED[name]
    story = story_of(H200 / name / "server.log")
    times = began(story)
    launched = (times["processes"] or 0.0) - arguments_dumped
    for phase, second in phases.items():
        assert (times[phase] or 0.0) - launched == pytest.approx(second, abs=1)
    assert (story.phases[-1].ended or 0.0) - launched == pytest.approx(ready, abs=1)


def test_a_start_without_speculation_has_nine_phases() -> None:
    assert names(story_of(H200 / "baseline/server.log").phases) == [
        "import",
        "arguments",
        "processes",
        "distributed",
        "weights",
        "kv_cache",
        "graphs",
        "http",
        "warm_up",
    ]


def test_a_start_with_speculation_has_eleven_phases_and_the_draft_comes_after_the_graphs() -> None:
    phases = names(story_of(H200 / "eagle3_v2/server.log").phases)
    assert len(phases) == 11
    assert phases[6:9] == ["graphs", "draft_weights", "draft_graphs"]


def test_newer_releases_load_the_draft_before_the_cache_and_the_order_follows() -> None:
    lines = log(
        (0, SPEC.decode()),
        (1, "Init parallel begin."),
        (2, "Load weight begin. avail mem=1 GB"),
        (3, "Load weight end. elapsed=1 s, type=Llama, avail mem=1 GB, mem usage=1 GB."),
        (4, "Load weight begin. avail mem=1 GB"),
    )
    phase = story_so_far(lines).phase
    assert phase is not None
    assert (phase.name, phase.index, phase.total) == ("draft_weights", 6, 11)
    lines += log((5, "KV Cache is allocated. #tokens: 1"), (6, "Capture target verify CUDA graph begin. backend=full"))
    phase = story_so_far(lines).phase
    assert phase is not None
    assert (phase.name, phase.index) == ("graphs", 8)
    lines += log((7, "Capture draft decode CUDA graph begin. backend=full"))
    phase = story_so_far(lines).phase
    assert phase is not None
    assert (phase.name, phase.index) == ("draft_graphs", 9)


def test_eight_ranks_that_begin_to_load_are_no_draft() -> None:
    lines = log((0, SPEC.decode()), *((1, "Load weight begin. avail mem=1 GB", f"TP{rank}") for rank in range(8)))
    phase = story_so_far(lines).phase
    assert phase is not None
    assert phase.name == "weights"


def test_each_bar_of_a_real_start_has_a_name_of_its_own_in_their_order() -> None:
    labels: list[str] = []
    for _, story in stories((H200 / "eagle3_v1_b/server.log").read_bytes(), 40):
        if story.progress is not None and story.progress.label not in labels:
            labels.append(story.progress.label)
    assert labels == [
        "target weights",
        "graphs",
        "piecewise graphs",
        "piecewise compile",
        "draft weights",
        "draft graphs",
        "draft extend graphs",
    ]


def test_bars_alone_tell_the_phase_where_the_log_level_hides_all_words() -> None:
    target = b"Loading safetensors checkpoint shards: 100% Completed | 2/2 [00:01<00:00,  2.00it/s]\n"
    graphs = b"\rCapturing batches (bs=8 avail_mem=12.34 GB):  50%|#####     | 2/4 [00:01<00:01,  2.00it/s]"
    draft = b"\nLoading pt checkpoint shards:   0% Completed | 0/1 [00:00<?, ?it/s]\n"
    story = story_so_far(target + graphs)
    assert story.phase is not None
    assert story.phase.name == "graphs"
    story = story_so_far(target + graphs + draft)
    assert story.phase is not None
    assert (story.phase.name, story.phase.total) == ("draft_weights", 11)
    assert story.progress is not None
    assert story.progress.label == "draft weights"
    story = story_so_far(target + graphs + draft + graphs)
    assert story.progress is not None
    assert story.progress.label == "draft graphs"


def test_the_estimate_of_a_bar_waits_for_two_steps() -> None:
    lines = log((0, "Capture cuda graph begin. avail mem=1 GB"))
    first = lines + b"  8%|#  | 1/12 [00:23<04:22, 23.90s/it]\r"
    progress = story_so_far(first).progress
    assert progress is not None
    assert progress.eta_seconds is None
    progress = story_so_far(first + b" 17%|#  | 2/12 [00:24<01:40, 10.00s/it]\r").progress
    assert progress is not None
    assert progress.eta_seconds == 100


def test_a_graph_set_that_is_captured_again_counts_as_a_new_bar() -> None:
    bar = b"  0%|  | 0/2 [00:00<?, ?it/s]\r100%|##| 2/2 [00:01<00:00, 2.00it/s]\n"
    lines = log((0, SPEC.decode()), (1, "Capture draft cuda graph begin.")) + bar + b"  0%|  | 0/2 [00:00<?, ?it/s]\r"
    progress = story_so_far(lines + b" ").progress
    assert progress is not None
    assert (progress.label, progress.done) == ("draft graphs (2)", 0)


def test_a_record_glued_to_a_bar_counts() -> None:
    glued = b"\rLoading pt checkpoint shards:  50% Completed | 1/2 [00:01<00:01, 1.00it/s]" + log(
        (9, "KV Cache is allocated. #tokens: 1", "TP1")
    )
    phase = story_so_far(log((0, "Load weight begin. avail mem=1 GB", "TP1")) + glued).phase
    assert phase is not None
    assert phase.name == "kv_cache"


def test_a_traceback_in_a_healthy_start_is_no_failure() -> None:
    path = H200 / "baseline/server.log"
    assert b"ModuleNotFoundError: No module named 'openai_harmony'" in path.read_bytes()
    assert all(story.word != "crashed" for _, story in stories(path.read_bytes(), 4096))


def test_fired_up_after_a_failed_bind_is_not_ready() -> None:
    lines = log(
        (0, "INFO:     Application startup complete."),
        (
            0,
            "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000): address already in use",
        ),
        (1, "The server is fired up and ready to roll!"),
        (1, "INFO:     Application shutdown complete."),
    )
    story = story_so_far(lines)
    assert story.word == "crashed"
    assert not story.has_ready_line
    assert story.cause is not None
    assert (story.cause.kind, story.cause.line) == ("port-in-use", 2)


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ("Beta spec is enabled for eagle speculative decoding and overlap schedule is turned on.", "v2"),
        ("Spec v2 is enabled for eagle/eagle3 speculative decoding and overlap schedule is turned on.", "v2"),
        ("Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding.", "v2"),
        ("Spec v1 is used for eagle/eagle3/standalone speculative decoding because SGLANG_ENABLE_SPEC_V2=False.", "v1"),
        ("WARNING server_args.py:2304: Overlap scheduler is disabled when spec v2 is off or using unsupported", "v1"),
        ("Overlap scheduler is disabled because of using eagle3 or standalone speculative decoding.", "v1"),
        ("Non-overlap (synchronous) spec v2 is used for eagle speculative decoding.", "v2 sync"),
    ],
)
def test_the_engines_own_words_name_the_effective_mode(words: str, mode: str) -> None:
    assert story_so_far(log((0, words), (1, SPEC.decode()))).speculation == mode


def test_without_an_algorithm_there_is_no_mode_whatever_was_said() -> None:
    lines = log((0, "Spec v2 is enabled by default"), (1, "server_args=ServerArgs(speculative_algorithm=None)"))
    assert story_so_far(lines).speculation is None


def test_ngram_needs_no_draft_and_keeps_nine_phases() -> None:
    story = story_so_far(log((0, "server_args=ServerArgs(speculative_algorithm='NGRAM')")))
    assert story.speculation == "ngram"
    assert story.phase is not None
    assert story.phase.total == 9


def test_a_release_that_only_has_v2_says_nothing_and_means_it() -> None:
    story = story_so_far(log((0, "server_args={'model_path': '/m', 'speculative_algorithm': 'EAGLE3'}")))
    assert story.speculation == "v2"


def test_a_download_is_named_as_one_and_its_files_count_where_they_are_told() -> None:
    one = b"model-00003-of-00030.safetensors:  12%|#2        | 512M/4.20G [00:21<02:31, 24.4MB/s]\r"
    files = b"Fetching 30 files:  13%|##        | 4/30 [00:09<00:58,  2.27s/it]\r"
    begin = log((0, SPEC.decode()))
    story = story_so_far(begin + one + b" ")
    assert story.progress is not None
    assert (story.progress.label, int(story.progress.percent)) == ("downloading", 12)
    story = story_so_far(begin + one + files + one + b" ")
    assert story.progress is not None
    assert (story.progress.label, story.progress.done, story.progress.total) == ("downloading files", 4, 30)
    assert story.loading_total is None
    assert story.phase is not None
    assert story.phase.name == "processes"


def test_a_port_that_may_not_be_used_is_a_cause() -> None:
    words = "ERROR:    [Errno 13] error while attempting to bind on address ('127.0.0.1', 80): permission denied"
    cause = story_so_far(log((0, words))).cause
    assert cause is not None
    assert cause.kind == "cannot-bind"
