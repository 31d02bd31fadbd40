"""GPUs of a host: histories, owners of processes, boards without memory of their own."""

from dataclasses import replace
from pathlib import Path

import pytest

from specdeck.parsing.nvidia_smi import ProcessRow, gpu_row
from specdeck.parsing.nvidia_smi_answer import read_answer
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.gpu_troubles import fault_of
from specdeck.state.gpus import (
    gpu_from_row,
    memory_of,
    process_from_row,
    with_host_memory,
    with_new_rows,
    with_processes,
)
from specdeck.state.snapshot import Evidence, HostState, ProcessWitness, ServerState

CASES = Path(__file__).parents[1] / "cases"
LAB = HostState("lab", "root@lab")
KIMI = ServerState(
    "kimi", "lab", 30000, "sglang", evidence=Evidence(process=ProcessWitness("alive", 41001, (41001, 41002, 41003)))
)


def busy(index: int, percent: float | None) -> Gpu:
    return Gpu(index, f"GPU-{index}", "NVIDIA H200", utilization_percent=percent)


def test_utilization_histories_grow_newest_last_and_are_bounded() -> None:
    host = LAB
    for percent in range(200):
        host = with_new_rows(host, (busy(1, float(percent)), busy(0, None)))
    assert [gpu.index for gpu in host.gpus] == [0, 1]
    assert host.gpus[0].utilization_history == ()
    assert host.gpus[1].utilization_history == tuple(float(percent) for percent in range(80, 200))


def test_a_swapped_gpu_does_not_inherit_a_history() -> None:
    host = with_new_rows(with_new_rows(LAB, (busy(0, 5.0),)), (replace(busy(0, 7.0), uuid="GPU-new"),))
    assert host.gpus[0].utilization_history == (7.0,)


def test_processes_are_matched_to_their_gpu_and_to_the_server_of_their_family() -> None:
    host = with_new_rows(LAB, (busy(0, 1.0), busy(1, 1.0)))
    processes = (
        GpuProcess(41002, "sglang::scheduler", "GPU-0", 30210),
        GpuProcess(41003, "sglang::scheduler", "GPU-1", 71000),
        GpuProcess(9100, "node", "GPU-1", 10),
    )
    host = with_processes(host, processes, (KIMI,))
    assert [(process.pid, process.server) for gpu in host.gpus for process in gpu.processes] == [
        (41002, "kimi"),
        (41003, "kimi"),
        (9100, None),
    ]
    assert memory_of(KIMI, host) == 101210


def test_a_server_of_another_host_with_the_same_pids_owns_nothing_here() -> None:
    host = with_processes(LAB, (GpuProcess(41002, "x", "GPU-0", 5),), (replace(KIMI, host="other"),))
    assert host.processes[0].server is None


def test_processes_known_before_the_rows_are_not_lost() -> None:
    host = with_processes(LAB, (GpuProcess(41002, "x", "GPU-0", 5),), (KIMI,))
    assert with_new_rows(host, (busy(0, 1.0),)).gpus[0].processes[0].server == "kimi"


def test_memory_of_a_family_is_unknown_if_one_share_is() -> None:
    processes = (GpuProcess(41002, "x", "GPU-0", 5), GpuProcess(41003, "x", "GPU-1", None))
    assert memory_of(KIMI, with_processes(LAB, processes, (KIMI,))) is None
    assert memory_of(replace(KIMI, evidence=Evidence()), LAB) is None


def test_a_unified_board_uses_its_processes_and_the_hosts_memory() -> None:
    folder = CASES / "B13_unified_memory"
    rows = read_answer((folder / "gb10_gpu.csv").read_text()).gpus
    uuid = rows[0].uuid
    found = read_answer((folder / "gb10_apps.csv").read_text()).processes
    processes = [process_from_row(replace(row, gpu_uuid=uuid)) for row in found]
    host = with_processes(with_new_rows(LAB, map(gpu_from_row, rows)), processes, ())
    assert host.gpus[0].memory_total_mib is None
    (gpu,) = with_host_memory(host, 124610, 60123).gpus
    assert (gpu.memory_used_mib, gpu.memory_total_mib, gpu.is_memory_unified) == (60095, 124610, True)
    assert (gpu.utilization_percent, gpu.power_limit_w) == (8.0, None)


def test_a_board_beside_a_unified_one_keeps_its_own_memory() -> None:
    unified = replace(busy(0, 1.0), unreadable={"memory_used_mib": "[N/A]", "memory_total_mib": "[N/A]"})
    own = replace(busy(1, 1.0), memory_used_mib=10, memory_total_mib=81559)
    host = with_host_memory(with_new_rows(LAB, (unified, own)), 124610, 60123)
    assert [(gpu.memory_used_mib, gpu.memory_total_mib, gpu.is_memory_unified) for gpu in host.gpus] == [
        (None, 124610, True),
        (10, 81559, False),
    ]


@pytest.mark.parametrize(
    ("told", "used", "total", "is_unified"),
    [("90000, 97871", 90000, 97871, False), ("[N/A], [N/A]", None, 490000, True)],
)
def test_a_grace_hopper_board_is_unified_only_where_it_tells_no_memory_of_its_own(
    told: str, used: int | None, total: int, is_unified: bool
) -> None:
    line = f"0, GPU-1, NVIDIA GH200 480GB, 97, {told}, 41, 301.20, 900.00, 0x0000000000000000, 1980, 00000009:01:00.0"
    row = gpu_row(line)
    assert row is not None
    (gpu,) = with_host_memory(with_new_rows(LAB, (gpu_from_row(row),)), 490000, 480000).gpus
    assert (gpu.memory_used_mib, gpu.memory_total_mib, gpu.is_memory_unified) == (used, total, is_unified)
    assert (gpu.name, gpu.power_limit_w, gpu.bus_id) == ("NVIDIA GH200 480GB", 900.0, "9:01:00.0")


def test_only_reset_and_error_make_a_gpu_faulty() -> None:
    rows = read_answer((CASES / "B14_na_words" / "gpu.csv").read_text()).gpus
    assert [fault_of(row.unreadable) for row in rows] == [
        None,
        None,
        None,
        None,
        None,
        "GPU requires reset",
        "ERR!",
        None,
    ]


def test_a_row_becomes_a_gpu_field_by_field() -> None:
    gpu = gpu_from_row(read_answer((CASES / "B14_na_words" / "gpu.csv").read_text()).gpus[1])
    assert (gpu.index, gpu.name, gpu.power_w, dict(gpu.unreadable)) == (
        1,
        "NVIDIA Example 80GB",
        640.12,
        {"memory_used_mib": "[N/A]"},
    )
    assert process_from_row(ProcessRow("GPU-0", 7, "x", None)) == GpuProcess(7, "x", "GPU-0", None, None)
