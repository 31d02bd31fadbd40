"""First causes: the most telling failure counts, wherever it stands, and says what to do."""

import pytest
from tests.engines.reading import story_of, story_so_far
from tests.engines.test_sglang_start import log

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB. "
    "Process 387746 has 78.89 GiB memory in use"
)


def hit(second: int, exception: str, rank: str = "TP0") -> bytes:
    """A scheduler's dying words."""
    return log((second, "Scheduler hit an exception: Traceback (most recent call last):", rank)) + (
        b'  File "/x/scheduler.py", line 1, in run\n    self.go()\n' + exception.encode() + b"\n\n"
    )


SIGQUIT = log((9, "Received sigquit from a child process. It usually means the child failed."))


def test_the_rank_that_failed_first_is_named_with_its_line() -> None:
    story = story_of(hit(1, OOM, "TP3") + hit(2, OOM, "TP0") + SIGQUIT)
    assert story.word == "crashed"
    assert story.cause is not None
    assert (story.cause.kind, story.cause.rank, story.cause.line) == ("out-of-memory", "TP3", 4)


def test_the_process_that_holds_the_memory_is_named() -> None:
    cause = story_of(hit(1, OOM)).cause
    assert cause is not None
    assert cause.hint is not None
    assert "Process 387746 holds 78.89 GiB" in cause.hint


TORCH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. GPU 3 has a total capacity of 139.81 GiB of which "
    "430.08 MiB is free. {}Including non-PyTorch memory, this process has 19.61 GiB memory in use. Of the allocated memory "
    "18.94 GiB is allocated by PyTorch, and 210.34 MiB is reserved by PyTorch but unallocated."
)
LOWER = "Lower --mem-fraction-static or the largest CUDA graph batch"


@pytest.mark.parametrize(
    ("others", "hint"),
    [
        ("", f"{LOWER}."),
        (
            "Process 412 has 510.00 MiB memory in use. Process 23200 has 78.50 GiB memory in use. ",
            f"Process 23200 holds 78.50 GiB of this GPU. {LOWER}, or free the GPU.",
        ),
    ],
)
def test_the_process_that_fails_is_not_blamed_and_of_others_the_largest_is(others: str, hint: str) -> None:
    cause = story_of(hit(1, TORCH.format(others))).cause
    assert cause is not None
    assert cause.hint == hint


def test_a_sigquit_before_the_traceback_is_not_the_cause() -> None:
    cause = story_of(
        SIGQUIT + hit(10, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.")
    ).cause
    assert cause is not None
    assert cause.kind == "not-enough-memory"


def test_what_explains_more_wins_over_what_came_first() -> None:
    nccl = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1"
    cause = story_of(hit(1, nccl, "TP1") + hit(2, OOM, "TP0")).cause
    assert cause is not None
    assert cause.kind == "out-of-memory"


def test_a_sigquit_alone_is_said_for_want_of_a_better_cause() -> None:
    story = story_of(SIGQUIT)
    assert story.word == "crashed"
    assert story.cause is not None
    assert story.cause.kind == "child-failed"


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        ("Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 20.00 MiB", "out-of-memory"),
        (
            "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
            "gpu-occupied",
        ),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "illegal-access"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 12040)", "old-driver"),
        ("huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: x)", "gated-model"),
        ("RuntimeError: Cannot find any model weights with `/data/x`", "missing-model"),
        ("AssertionError", "exception"),
        ("ValueError: Spec v2 currently only supports topk = 1 for speculative decoding.", "bad-speculation"),
    ],
)
def test_each_exception_has_its_kind(exception: str, kind: str) -> None:
    cause = story_of(hit(1, exception)).cause
    assert cause is not None
    assert (cause.kind, cause.message) == (kind, exception)


def test_of_chained_tracebacks_the_first_cause_counts() -> None:
    chained = (
        b'Traceback (most recent call last):\n  File "/x.py", line 1, in f\nKeyError: first\n\n'
        b"During handling of the above exception, another exception occurred:\n\n"
        b'Traceback (most recent call last):\n  File "/x.py", line 2, in g\nValueError: second\n'
    )
    cause = story_of(log((0, "server_args=ServerArgs(model_path='/m')")) + chained).cause
    assert cause is not None
    assert (cause.message, cause.line) == ("KeyError: first", 4)


@pytest.mark.parametrize(
    "before",
    [
        b"Exception in thread Thread-3:\n",
        b"Exception ignored in: <function x>\n",
        b"ERROR:    Exception in ASGI application\n",
    ],
)
def test_an_exception_beside_the_start_is_no_crash(before: bytes) -> None:
    traceback = b'Traceback (most recent call last):\n  File "/x.py", line 1, in f\nValueError: x\n'
    assert story_so_far(before + traceback).word == "starting"


def test_a_ready_line_takes_back_a_cause_that_was_only_likely() -> None:
    traceback = b'Traceback (most recent call last):\n  File "/x.py", line 1, in f\nValueError: x\n'
    story = story_so_far(traceback + log((1, "The server is fired up and ready to roll!")))
    assert (story.word, story.cause) == ("ready", None)


def test_a_request_that_fails_while_it_serves_is_no_crash() -> None:
    traceback = b'Traceback (most recent call last):\n  File "/x.py", line 1, in f\nValueError: x\n'
    assert story_so_far(log((1, "The server is fired up and ready to roll!")) + traceback).word == "ready"


def test_control_c_is_no_exception() -> None:
    traceback = b'Traceback (most recent call last):\n  File "/x.py", line 1, in f\nKeyboardInterrupt\n'
    assert story_so_far(traceback).cause is None


def test_a_rank_that_died_silently_points_to_the_out_of_memory_killer() -> None:
    words = "Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), a common cause is ..."
    cause = story_of(log((1, words))).cause
    assert cause is not None
    assert cause.kind == "killed"
    assert cause.hint is not None
    assert "dmesg" in cause.hint


@pytest.mark.parametrize(
    ("words", "kind", "rank"),
    [
        (
            "[rank5]:[E209 12:00:00.123456789 ProcessGroupNCCL.cpp:607] [Rank 5] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.",
            "nccl",
            "rank5",
        ),
        ("terminate called after throwing an instance of 'c10::DistBackendError'", "nccl", None),
        ("Fatal Python error: Segmentation fault", "child-died", None),
        ("Killed", "killed", None),
    ],
)
def test_the_last_words_of_native_code_are_a_cause(words: str, kind: str, rank: str | None) -> None:
    story = story_of(log((1, "The server is fired up and ready to roll!")) + words.encode() + b"\n")
    assert story.word == "crashed"
    assert story.cause is not None
    assert (story.cause.kind, story.cause.rank) == (kind, rank)


@pytest.mark.parametrize(
    "words",
    [
        "error: command 'gcc' failed with exit status 1",
        "ninja: error: loading 'build.ninja': No such file",
        "nvcc: error: x",
    ],
)
def test_errors_of_compilers_beside_a_start_are_no_bad_arguments(words: str) -> None:
    start = log((0, "server_args=ServerArgs(model_path='/m')"))
    assert story_so_far(start + words.encode() + b"\n").word == "starting"
