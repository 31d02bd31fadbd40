"""The GPU memory that will be free once the old server is gone: strangers stay."""

from pathlib import Path

import pytest
from tests.services.desk import desk, nvidia_smi, program

from specdeck.config.objects import Profile, Server
from specdeck.engines.command import build_command
from specdeck.services.deck import Check
from specdeck.services.preflight.gpu_memory import check_gpu_memory
from specdeck.services.preflight.told import Told
from specdeck.services.runs import Look, SeenProcess

TWO = ("0, GPU-aa, 80000, 500", "1, GPU-bb, 80000, 500")


def check(
    *apps: str,
    args: dict[str, str | int | float] | None = None,
    env: dict[str, str] | None = None,
    gpus: tuple[str, ...] = TWO,
    family: tuple[int, ...] = (),
    engine: str = "sglang",
) -> Check:
    """What the check says of these rows of nvidia-smi."""
    lines = [*(f"gpu {row}" for row in gpus), *(f"app {row}" for row in apps)]
    told = Told.read("\n".join(["specdeck-preflight", *lines]).encode())
    server = Server("kimi", "lab", "/m", 30000, args=args or {}, env=env or {})
    profile = Profile("one", engine)
    members = tuple(SeenProcess(pid, 1, "S", (), "python") for pid in family)
    return check_gpu_memory(told, server, profile, build_command(server, profile), Look("boot", members=members))


def test_what_the_old_server_holds_will_be_free() -> None:
    assert check("GPU-aa, 4000, 70000", family=(4000,), gpus=("0, GPU-aa, 80000, 70500",)) == Check(
        "GPU memory", "passed", "at least 79500 MiB will be free on each of GPU 0"
    )


def test_strangers_that_hold_more_than_the_flags_leave_fail_with_what_to_change() -> None:
    told = check("GPU-bb, 7, 20000", args={"tp-size": 2, "mem-fraction-static": 0.85})
    assert told.state == "failed"
    assert told.detail == (
        "GPU 1: 20000 of 80000 MiB are held by others (pid 7), and --mem-fraction-static 0.85 asks for more than is left: "
        "end them, choose other GPUs (CUDA_VISIBLE_DEVICES), or set --mem-fraction-static below 0.75"
    )


@pytest.mark.parametrize(
    "args",
    [{"mem-fraction-static": 0.85}, {"tp-size": 1, "mem-fraction-static": 0.85, "base-gpu-id": 0}],
)
def test_strangers_on_a_gpu_that_it_does_not_use_do_not_count(args: dict[str, str | int | float]) -> None:
    assert check("GPU-bb, 7, 70000", args=args).state == "passed"


@pytest.mark.parametrize("visible", ["1", "GPU-bb", "GPU-b", "1,9"])
def test_visible_devices_are_read_as_cuda_reads_them(visible: str) -> None:
    assert (
        check("GPU-aa, 7, 70000", args={"mem-fraction-static": 0.9}, env={"CUDA_VISIBLE_DEVICES": visible}).state
        == "passed"
    )
    told = check("GPU-bb, 7, 70000", args={"mem-fraction-static": 0.9}, env={"CUDA_VISIBLE_DEVICES": visible})
    assert (told.state, told.detail[:6]) == ("failed", "GPU 1:")


def test_without_a_stated_part_strangers_are_named_and_nothing_is_refused() -> None:
    told = check("GPU-aa, 7, 20000")
    assert (told.state, told.detail) == (
        "unknown",
        "GPU 0: 20000 of 80000 MiB are held by others (pid 7); whether the rest is enough, only the start can tell",
    )


def test_an_engine_that_takes_all_it_can_is_not_started_beside_strangers_that_hold_the_most() -> None:
    gpu = ("0, GPU-aa, 143771, 133640",)  # an H200 as it was: 130 GiB held, and the start died half a minute later
    told = check("GPU-aa, 31963, 133638", gpus=gpu)
    assert (told.state, told.detail) == (
        "failed",
        "GPU 0: 133638 of 143771 MiB are held by others (pid 31963), most of it: end them, choose other GPUs "
        "(CUDA_VISIBLE_DEVICES), or say with --mem-fraction-static what it may take of the rest",
    )
    assert check("GPU-aa, 31963, 133638", gpus=gpu, args={"mem-fraction-static": 0.05}).state == "unknown"
    assert check("GPU-aa, 31963, 133638", gpus=gpu, engine="llamacpp").state == "unknown"


def test_memory_that_no_visible_process_holds_is_told() -> None:
    told = check(gpus=("0, GPU-aa, 80000, 60000",))
    assert told.state == "unknown"
    assert told.detail == "GPU 0: 60000 MiB are in use by no process that can be seen (another container?)"


def test_more_ranks_than_gpus_fail() -> None:
    told = check(args={"tp-size": 8})
    assert told.state == "failed"
    assert told.detail == (
        "the flags ask for 8 GPUs from number 0 on, and the server sees fewer of the host's 2: "
        "change CUDA_VISIBLE_DEVICES or the parallel sizes"
    )


def test_vllm_counts_its_own_flags() -> None:
    told = check("GPU-bb, 7, 20000", engine="vllm", args={"tensor-parallel-size": 2, "gpu-memory-utilization": 0.9})
    assert "--gpu-memory-utilization 0.9 asks for more" in told.detail
    assert check("GPU-bb, 7, 20000", engine="vllm").state == "passed"


def test_a_server_on_the_cpu_needs_none() -> None:
    assert check(args={"device": "cpu"}, gpus=()).state == "passed"


@pytest.mark.parametrize("gpus", [(), ("0, GPU-aa, [N/A], [N/A]",), ("nonsense",)])
def test_numbers_that_are_not_told_are_unknown(gpus: tuple[str, ...]) -> None:
    assert check(gpus=gpus) == Check("GPU memory", "unknown", "nvidia-smi does not answer on the host")


async def test_the_rows_come_from_the_hosts_nvidia_smi(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    nvidia_smi(tmp_path, "0, GPU-aa, 80000, 60500", "GPU-aa, 7, 60000")
    async with desk(tmp_path, args={"mem-fraction-static": 0.8}) as one:
        told = await one.check("GPU memory")
    assert (told.state, told.detail.split(" are ")[0]) == ("failed", "GPU 0: 60000 of 80000 MiB")
