"""SGLang 0.5.5 to 0.5.23, line by line: what each line of the releases means. Values are read from the lines by eye."""
# ruff: noqa: E501 - the lines of a log are as long as they are

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.reading import content, story_of, story_so_far
from tests.engines.test_sglang_start import SPEC, log

from specdeck.engines.reader import LogReader

OLD_BAR = "\rLoading safetensors checkpoint shards:  25% Completed | 1/4 [00:00<00:01,  2.50it/s]\n"


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("WARNING server_args.py:2304: Attention backend not specified. Use fa3 backend by default.", "arguments"),
        ("server_args=ServerArgs(model_path='/m', speculative_algorithm=None)", "processes"),
        ("server_args={'model_path': '/m', 'speculative_algorithm': None}", "processes"),
        ("Init torch distributed begin.", "distributed"),
        ("Init parallel begin.", "distributed"),
        ("Load weight begin. avail mem=138.92 GB", "weights"),
        ("KV Cache is allocated. #tokens: 1003520, K size: 30.63 GB, V size: 30.63 GB", "kv_cache"),
        ("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 9, K size: 1.00 GB, V size: 1.00 GB", "kv_cache"),
        ("KV Cache is allocated. #tokens: 1003520, KV size: 30.63 GB", "kv_cache"),
        ("Mamba Cache is allocated. max_mamba_cache_size: 12, conv_state size: 0.04GB", "kv_cache"),
        ("Memory pool end. avail mem=16.74 GB", "kv_cache"),
        ("Capture cuda graph begin. This can take up to several minutes. avail mem=16.74 GB", "graphs"),
        ("Capture piecewise CUDA graph begin. avail mem=16.74 GB", "graphs"),
        ("Capture cpu graph begin. This can take up to several minutes.", "graphs"),
        ("Capture target prefill CUDA graph begin. backend=full, avail mem=16.74 GB", "graphs"),
        ("Capture target decode CUDA graph begin. backend=full, avail mem=16.74 GB", "graphs"),
        ("Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=4, avail mem=16.74 GB", "graphs"),
        ("max_total_num_tokens=1003520, chunked_prefill_size=8192, max_prefill_tokens=16384, context_len=9", "http"),
        ("INFO:     Started server process [7]", "http"),
        ("INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)", "warm_up"),
    ],
)
@pytest.mark.parametrize("rank", ["", "TP0", "DP1 TP3", "PP0 TP1", "TP1 PP0", "DP0 PP1 ATTN_CP0 MOE_DP0 TP2 EP2"])
def test_a_line_begins_its_phase_whoever_writes_it(line: str, phase: str, rank: str) -> None:
    found = story_so_far(log((0, line, rank) if rank else (0, line))).phase
    assert found is not None
    assert found.name == phase


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Capture draft cuda graph begin. avail mem=1 GB", "draft graphs"),
        ("Capture draft extend cuda graph begin. avail mem=1 GB", "draft extend graphs"),
        ("Capture draft decode CUDA graph begin. backend=full, avail mem=1 GB", "draft graphs"),
        ("Capture draft extend CUDA graph begin. backend=full, avail mem=1 GB", "draft extend graphs"),
        ("Capture draft verify CUDA graph begin. backend=full, avail mem=1 GB", "draft verify graphs"),
        ("Capture target prefill CUDA graph begin. backend=full, avail mem=1 GB", "target prefill graphs"),
        ("Capture target verify CUDA graph begin. backend=full, avail mem=1 GB", "graphs"),
    ],
)
def test_a_capture_bar_has_the_name_that_the_line_before_announced(line: str, label: str) -> None:
    bar = b"\rCapturing batches (bs=8 avail_mem=12.34 GB):  25%|##5       | 1/4 [00:00<00:00,  3.33it/s]\r"
    story = story_so_far(log((0, SPEC.decode()), (1, line)) + bar)
    assert story.progress is not None
    assert (story.progress.label, story.progress.done, story.progress.total) == (label, 1, 4)
    assert story.phase is not None
    assert story.phase.name == ("draft_graphs" if label.startswith("draft") else "graphs")


@pytest.mark.parametrize(
    "words",
    [
        "Loading safetensors checkpoint shards",
        "Multi-thread loading shards",
        "Loading pt checkpoint shards",
        "Multi-thread loading pt checkpoint shards",
        "Loading np_cache checkpoint shards",
        "Loading safetensors using Fastsafetensor loader",
        "Loading safetensors using Runai Model Streamer",
        "Loading safetensors using InstantTensor",
    ],
)
@pytest.mark.parametrize(
    "form",
    ["\r{}:  25% Completed | 1/4 [00:00<00:01,  2.50it/s]\n", "\r{}:  25% Completed | 1/4 [00:03<00:09,  3.10s/it]\r"],
)
def test_every_weight_bar_of_old_and_new_releases_is_the_targets_progress(words: str, form: str) -> None:
    story = story_so_far(form.format(words).encode())
    assert story.phase is not None
    assert story.phase.name == "weights"
    assert story.progress is not None
    assert (story.progress.label, story.progress.done, story.progress.total) == ("target weights", 1, 4)


@pytest.mark.parametrize("words", ["DeepGEMM warmup", "Computing checksums"])
def test_other_bars_keep_their_own_name_and_begin_no_phase(words: str) -> None:
    begin = log((0, "Capture cuda graph begin. avail mem=1 GB"))
    story = story_so_far(begin + f"\r{words}:  50%|#####     | 100/200 [00:09<00:09, 11.1it/s]\r".encode())
    assert story.progress is not None
    assert (story.progress.label, story.progress.done) == (words, 100)
    assert story.phase is not None
    assert story.phase.name == "graphs"


def test_a_rank_behind_the_bracket_is_a_rank() -> None:
    story = story_of(b"[2026-01-05 10:00:00] TP0 Load weight begin. avail mem=1 GB\n")
    assert story.phase is not None
    assert story.phase.name == "weights"


READY = log((0, "The server is fired up and ready to roll!"))


def decoded(*lines: tuple[str, str]) -> tuple[float, int, int, float | None, float | None] | None:
    """Rate, running, queued, KV use and accept length after a first line of each rank, which is never believed, and these."""
    records = [(second, line, rank) for second in (1, 2) for rank, line in lines]
    batch = story_so_far(READY + log(*records)).batch
    return None if batch is None else (batch.tok_s, batch.running, batch.queued, batch.kv_usage, batch.accept_length)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Decode batch, #running-req: 1, #token: 163, token usage: 0.00, cuda graph: True, gen throughput (token/s): 158.34, #queue-req: 0, ",
            (158.34, 1, 0, 0.0, None),
        ),
        (
            "Decode batch, #running-req: 64, #token: 90112, token usage: 0.71, accept len: 2.40, accept rate: 0.60, cuda graph: True, "
            "gen throughput (token/s): 2520.18, #queue-req: 3",
            (2520.18, 64, 3, 0.71, 2.40),
        ),
        (
            "Decode batch. #running-req: 2, #token: 99, token usage: 0.01, accept len: 1.90, gen throughput (token/s): 88.10, #queue-req: 0",
            (88.1, 2, 0, 0.01, 1.9),
        ),
        (
            "Decode batch [1234], #running-req: 5, #token: 99, token usage: 0.10, npu graph: False, gen throughput (token/s): 12.50, #queue-req: 7",
            (12.5, 5, 7, 0.10, None),
        ),
        (
            "Decode batch, #running-req: 3, #full token: 5000, full token usage: 0.25, mamba num: 3, mamba usage: 0.05, cuda graph: True, "
            "gen throughput (token/s): 301.00, #queue-req: 1",
            (301.0, 3, 1, 0.25, None),
        ),
        (
            "Decode batch, #running-req: 3, #full token: 5000, full token usage: 0.25, #swa token: 900, swa token usage: 0.50, accept len: 3.10, "
            "cuda graph: True, gen throughput (token/s): 301.00, #queue-req: 1, est. decode TFLOPS/s (per GPU): 1.2, fwd occupancy: 93.10%",
            (301.0, 3, 1, 0.25, 3.1),
        ),
        (
            "Decode batch, #running-req: 3, #token: 5000, token usage: 0.25, #prealloc-req: 0, #transfer-req: 0, #retracted-req: 0, cuda graph: True, "
            "gen throughput (token/s): 301.00, #queue-req: 1",
            (301.0, 3, 1, 0.25, None),
        ),
        (
            "Decode batch, #running-req: 8, #token: 9, token usage: 0.20, accept len: 4.20, cap len: 5.00, block accept len: 3.90, cuda graph: True, "
            "gen throughput (token/s): 900.00, #queue-req: 0",
            (900.0, 8, 0, 0.20, 4.2),
        ),
    ],
)
def test_every_form_of_a_decode_line_is_read(
    line: str, said: tuple[float, int, int, float | None, float | None]
) -> None:
    assert decoded(("TP0", line)) == said


PLAIN_LINE = "Decode batch, #running-req: {}, #token: 9, token usage: {}, accept len: {}, cuda graph: True, gen throughput (token/s): {}, #queue-req: {}"


def test_data_parallel_ranks_add_up_and_their_tensor_ranks_do_not() -> None:
    first = PLAIN_LINE.format(2, "0.50", "2.00", "100.00", 1)
    second = PLAIN_LINE.format(3, "0.25", "3.00", "50.00", 4)
    assert decoded(("DP0 TP0 EP0", first), ("DP1 TP4 EP4", second)) == (150.0, 5, 5, 0.50, 2.5)
    assert decoded(("PP0 TP0", first), ("TP0 PP1", first)) == (100.0, 2, 1, 0.50, 2.0)


def test_adaptive_speculation_tells_its_live_steps() -> None:
    lines = log((0, "AdaptiveSpeculativeParams initialized: steps=3, candidate_steps=[1, 3, 7]"))
    assert story_so_far(lines).draft_steps == 3
    lines += log((1, "Adaptive spec params updated: steps 3 -> 1 (ema_accept_len=0.42)", "TP0"))
    assert story_so_far(lines).draft_steps == 1
    lines += log((2, "Adaptive spec params updated: steps 1 -> 0 (ema_accept_len=0.10)", "TP0"))
    assert story_so_far(lines).draft_steps == 0


def test_adaption_that_this_run_cannot_do_is_a_warning() -> None:
    words = "speculative_adaptive disabled: topk != 1. Falling back to static speculative params."
    assert words in story_so_far(log((0, f"WARNING server_args.py:9: {words}"))).warnings


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total", "out-of-memory"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "out-of-memory"),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "not-enough-memory"),
        (
            "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
            "gpu-occupied",
        ),
        ("RuntimeError: Decode out of memory. Try to lower your batch size.", "out-of-memory"),
        (
            "OSError: /m is not a local folder and is not a valid model identifier listed on 'https://x'",
            "missing-model",
        ),
        ("RuntimeError: Cannot find any model weights with `/m`", "missing-model"),
        ("huggingface_hub.errors.GatedRepoError: 401 Client Error.", "gated-model"),
        ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251", "nccl"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "illegal-access"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 12040).", "old-driver"),
        ("ValueError: Spec v2 currently only supports topk = 1 for speculative decoding.", "bad-speculation"),
        ("ValueError: speculative_eagle_topk > 1 with page_size > 1 is unstable", "bad-speculation"),
        ("AssertionError: something of its own", "exception"),
    ],
)
def test_what_a_scheduler_dies_of_is_the_cause_and_the_sigquit_after_it_is_not(line: str, kind: str) -> None:
    traceback = f'Traceback (most recent call last):\n  File "x.py", line 1, in run\n    self.go()\n{line}\n\n'
    lines = log((0, SPEC.decode())) + log((1, f"Scheduler hit an exception: {traceback}", "TP3"))
    lines += log((1, "Received sigquit from a child process. It usually means the child failed."))
    story = story_of(lines)
    assert story.cause is not None
    assert (story.word, story.cause.kind, story.cause.rank) == ("crashed", kind, "TP3")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Subprocess scheduler_0 (pid=7) crashed with exit code -6. Triggering SIGQUIT for cleanup...", "child-died"),
        ("Rank 0 scheduler is dead. Please check if there are relevant logs.", "child-died"),
        ("Rank 3 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), ...", "killed"),
        ("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", "child-died"),
        ("Port is already in use. dist_init_port=29500 nccl_port=31000", "port-in-use"),
        ("rpc_port is used by a process already. process.name()='python' pid=7", "port-in-use"),
    ],
)
def test_words_that_end_a_server_without_a_traceback(line: str, kind: str) -> None:
    story = story_of(log((0, SPEC.decode()), (1, line)))
    assert story.cause is not None
    assert (story.word, story.cause.kind) == ("crashed", kind)


def test_bars_alone_of_a_release_that_draws_each_on_a_line_of_its_own_tell_target_and_draft() -> None:
    done = OLD_BAR.replace(" 25%", "100%").replace("1/4", "4/4")
    draft = "\rLoading pt checkpoint shards:   0% Completed | 0/1 [00:00<?, ?it/s]\n"
    graphs = "\r  0%|          | 0/4 [00:00<?, ?it/s]\rCapturing batches (bs=1 avail_mem=9.34 GB): 100%|####| 4/4 [00:00<00:00,  3.33it/s]\n"
    seen = [("weights", OLD_BAR), ("graphs", done + done + "\n" + graphs), ("draft_weights", draft)]
    text = ""
    for phase, more in seen:
        text += more
        found = story_so_far(text.encode()).phase
        assert found is not None
        assert found.name == phase


LINES = st.sampled_from(
    [
        b"Adaptive spec params updated: steps 3 -> 1 (ema_accept_len=0.42)",
        b"Adaptive spec params updated: steps 99999999999 -> x",
        b"AdaptiveSpeculativeParams initialized: steps=",
        b"speculative_adaptive disabled: x",
        PLAIN_LINE.format(2, "0.50", "2.00", "100.00", 1).encode(),
        OLD_BAR.encode(),
        b"Capture target verify CUDA graph begin. backend=full",
        SPEC,
    ]
)
TAGS = st.sampled_from(
    [b"[2026-01-05 10:00:00] ", b"[2026-01-05 10:00:01 DP0 TP1] ", b"[2026-01-05 10:00:02.123 TP1 PP0] ", b""]
)


@given(st.lists(st.tuples(TAGS, st.one_of(LINES, st.binary(max_size=30))), max_size=12), st.integers(0, 2**16))
def test_any_order_of_these_lines_reads_the_same_in_pieces(lines: list[tuple[bytes, bytes]], seed: int) -> None:
    text = b"\n".join(tag + line for tag, line in lines)
    chance = random.Random(seed)
    reader, begin = LogReader("sglang"), 0
    while begin < len(text):
        size = chance.choice((1, 2, 5, 40))
        reader.feed(text[begin : begin + size], 0.0)
        begin += size
    reader.end()
    assert content(reader.story) == content(story_of(text, "sglang"))
