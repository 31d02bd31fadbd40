"""What to do about a cause, with the values of the command that failed."""

import pytest

from specdeck.engines.advice import advice
from specdeck.state.log_story import Cause

SGLANG = "python3 -m sglang.launch_server --model-path /m --mem-fraction-static {} --port 30000"
VLLM = "vllm serve /m --gpu-memory-utilization={}"
FULL = Cause("out-of-memory", "CUDA out of memory", hint="Lower the share.")
SMALL = Cause("not-enough-memory", "Not enough memory. Please try to increase --mem-fraction-static.")


def test_no_cause_no_advice() -> None:
    assert advice(None, SGLANG.format(0.9)) == ()


@pytest.mark.parametrize(
    ("cause", "command", "said"),
    [
        (FULL, SGLANG.format("0.9"), "this run had --mem-fraction-static 0.9: try 0.85"),
        (FULL, SGLANG.format(".88"), "this run had --mem-fraction-static 0.88: try 0.83"),
        (FULL, SGLANG.format("0.12"), "this run had --mem-fraction-static 0.12: try 0.1"),
        (FULL, VLLM.format("1.0"), "this run had --gpu-memory-utilization 1: try 0.95"),
        (SMALL, SGLANG.format("0.03"), "this run had --mem-fraction-static 0.03: try 0.1"),
        (SMALL, SGLANG.format("0.95"), "this run had --mem-fraction-static 0.95: try 0.97"),
    ],
)
def test_the_share_of_the_memory_is_moved_a_step_within_reason(cause: Cause, command: str, said: str) -> None:
    assert advice(cause, command)[-1] == said


def test_the_hint_of_the_kind_comes_first_and_stands_alone_where_the_command_says_nothing() -> None:
    assert advice(FULL, SGLANG.format("0.9"))[0] == "Lower the share."
    assert advice(FULL, "python3 -m sglang.launch_server --model-path /m") == ("Lower the share.",)
    assert advice(Cause("nccl", "NCCL timeout"), SGLANG.format("0.9")) == ()
