"""How many GPUs a command line takes, by each engine's own flags."""

import pytest

from specdeck.engines.base import GpuUse
from specdeck.engines.registry import ENGINES
from specdeck.engines.unknown import UNKNOWN

SHARE = "--mem-fraction-static"
UTILIZATION = "--gpu-memory-utilization"


@pytest.mark.parametrize(
    ("flags", "use"),
    [
        ({}, GpuUse(1, share_flag=SHARE)),
        ({"--device": "cpu", "--tp-size": "8"}, GpuUse(0)),
        ({"--tp-size": "8"}, GpuUse(8, share_flag=SHARE)),
        ({"--tp": "4", "--pp-size": "2", "--nnodes": "2"}, GpuUse(4, share_flag=SHARE)),
        ({"--tp": "2", "--dp-size": "4"}, GpuUse(8, share_flag=SHARE)),
        ({"--tp": "8", "--dp-size": "8", "--enable-dp-attention": ""}, GpuUse(8, share_flag=SHARE)),
        ({"--base-gpu-id": "4", "--gpu-id-step": "2", "--tp": "2"}, GpuUse(2, first=4, step=2, share_flag=SHARE)),
        ({SHARE: "0.8"}, GpuUse(1, memory_share=0.8, share_flag=SHARE)),
        ({SHARE: "80%", "--tp": "many"}, GpuUse(1, share_flag=SHARE)),
        ({SHARE: "1.5", "--tp": "0"}, GpuUse(1, share_flag=SHARE)),
    ],
)
def test_sglang_takes_tensor_times_pipeline_ranks_and_replicas(flags: dict[str, str], use: GpuUse) -> None:
    assert ENGINES["sglang"].gpu_use(flags) == use


@pytest.mark.parametrize(
    ("flags", "use"),
    [
        ({}, GpuUse(1, share_flag=UTILIZATION)),
        ({"-tp": "2", "--pipeline-parallel-size": "2"}, GpuUse(4, share_flag=UTILIZATION)),
        ({"--data-parallel-size": "3", UTILIZATION: "0.5"}, GpuUse(3, memory_share=0.5, share_flag=UTILIZATION)),
    ],
)
def test_vllm_takes_the_product_of_all_three(flags: dict[str, str], use: GpuUse) -> None:
    assert ENGINES["vllm"].gpu_use(flags) == use


def test_an_engine_that_does_not_say_takes_all_that_it_sees() -> None:
    assert ENGINES["ollama"].gpu_use({}) == GpuUse(None)
    assert UNKNOWN.gpu_use({"--tp": "2"}) == GpuUse(None)
