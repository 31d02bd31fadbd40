"""What `status` says of GPUs, in words and as JSON: the lost, the unknown and the slowed ones."""

from dataclasses import replace
from typing import Any, cast

from specdeck.cli.state_json import fleet_json
from specdeck.cli.state_words import gpu_lines, host_row
from specdeck.parsing.gpu_check import GpuCheck, PcieLink
from specdeck.parsing.xid import Xid
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess, Trouble
from specdeck.state.snapshot import FleetState, HostState, ServerState

HOT = ("hardware slowdown", "thermal slowdown (hardware)")
GPU = Gpu(
    0,
    "GPU-0",
    "NVIDIA H200",
    97.0,
    70_000,
    143_771,
    91.0,
    690.0,
    700.0,
    HOT,
    clock_mhz=1005,
    bus_id="1A:00.0",
    slowed=HOT,
)
LAB = HostState("lab", "root@lab", "up", last_seen=100.0, gpus_at=98.0)


def told(*gpus: Gpu, **rest: object) -> dict[str, Any]:
    """The host as JSON at second 100."""
    host = replace(LAB, gpus=gpus, **rest)  # type: ignore[arg-type]
    return cast("list[dict[str, Any]]", fleet_json(FleetState(100.0, (host,)), 100.0)["hosts"])[0]


def test_throttle_is_told_by_its_names_and_as_a_warning_in_words() -> None:
    (gpu,) = told(GPU)["gpus"]
    assert gpu["throttle"] == ["hardware slowdown", "thermal slowdown (hardware)"]
    assert gpu["warnings"] == ["slowed down: too hot (hardware thermal slowdown)"]
    assert (gpu["clock_mhz"], gpu["lost"]) == (1005, None)


def test_a_check_is_told_with_its_link_errors_and_xids() -> None:
    check = GpuCheck(0, "GPU-0", "1A:00.0", 97.0, PcieLink(5, 8, 5, 16), 1980, 2)
    (gpu,) = told(replace(GPU, check=check, xids=(Xid(79, "1A:00", at=40.0),)))["gpus"]
    assert (gpu["pcie"], gpu["ecc_uncorrected"], gpu["clock_max_mhz"]) == ("gen 5 x8 of gen 5 x16", 2, 1980)
    assert gpu["xids"] == [{"number": 79, "words": "Xid 79: GPU has fallen off the bus", "age_seconds": 60.0}]


def test_a_lost_gpu_has_its_words_and_no_numbers() -> None:
    host = told(GPU, Gpu(-1, "", "", bus_id="1B:00.0", lost="GPU 1B:00.0 lost, reboot needed"))
    gpu = host["gpus"][1]
    assert (gpu["index"], gpu["memory_used_mib"], gpu["lost"]) == (None, None, "GPU 1B:00.0 lost, reboot needed")
    assert host["gpus_age_seconds"] == 2.0


def test_what_is_wrong_with_gpus_and_who_holds_them_for_no_server_is_told_below_the_tables() -> None:
    hot = [replace(GPU, index=index, uuid=f"GPU-{index}") for index in (3, 5)]
    lost = Gpu(1, "", "", bus_id="1B:00.0", lost="GPU 1B:00.0 lost, reboot needed")
    train = GpuProcess(4711, "train[/x].py", "GPU-3", 40_960, user="bob", start_time=1)
    small = replace(train, pid=4712, memory_mib=20)
    mine = replace(train, pid=4713, server="kimi")
    hosts = (
        replace(LAB, gpus=(replace(hot[0], processes=(train, small, mine)), hot[1], lost)),
        replace(LAB, name="away", link="down", gpus=(GPU,)),
    )
    assert gpu_lines(FleetState(100.0, hosts), 100.0) == [
        "lab: GPU 1B:00.0 lost, reboot needed",
        "lab: GPUs 3,5: slowed down: too hot (hardware thermal slowdown)",
        "lab: GPU 3: pid 4711 train[/x].py of user bob holds 40.0 GiB for no server",
    ]


def test_of_many_strangers_a_few_are_named_and_the_rest_counted() -> None:
    held = tuple(GpuProcess(pid, "job", "GPU-0", 400, start_time=1) for pid in range(300))
    lines = gpu_lines(FleetState(100.0, (replace(LAB, gpus=(replace(GPU, slowed=(), processes=held),)),)), 100.0)
    assert lines[:2] == [
        "lab: GPU 0: pid 0 job holds 0.4 GiB for no server",
        "lab: GPU 0: pid 1 job holds 0.4 GiB for no server",
    ]
    assert lines[5:] == ["lab: 295 more hold GPU memory for no server (`specdeck status --json` names all)"]


def test_warnings_of_a_server_name_the_gpu_that_slows_it() -> None:
    server = ServerState("kimi", "lab", 30000, "sglang", gpu_troubles=(Trouble("too hot", "GPU 0: slowed down"),))
    state = FleetState(100.0, (replace(LAB, gpus=(GPU,), checkup=CheckUp(99.0)),), (server,))
    (kimi,) = cast("list[dict[str, Any]]", fleet_json(state, 100.0)["servers"])
    assert kimi["warnings"] == ["GPU 0: slowed down"]


def test_memory_in_words_is_that_of_the_gpus_that_tell_it() -> None:
    unknown = replace(GPU, index=1, memory_used_mib=None)
    assert host_row(replace(LAB, gpus=(GPU, unknown)))[2:4] == ["2 x NVIDIA H200", "68 of 140 GiB on 1 of 2"]
    lost = Gpu(1, "GPU-1", "NVIDIA H200", lost="GPU 1B:00.0 lost, reboot needed")
    assert host_row(replace(LAB, gpus=(GPU, lost)))[2:4] == ["1 x NVIDIA H200, 1 lost", "68 of 140 GiB"]
    hung = replace(LAB, gpus=(GPU,), gpu_error="nvidia-smi hangs")
    assert host_row(hung)[2] == "1 x NVIDIA H200; nvidia-smi hangs"
