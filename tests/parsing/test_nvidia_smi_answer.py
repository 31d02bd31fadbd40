"""Whole answers: with header and units, in specdeck's own order, cut short by a lost GPU, or a sentence instead."""

import json
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.nvidia_smi import ProcessRow
from specdeck.parsing.nvidia_smi_answer import Answer, read_answer
from specdeck.parsing.nvidia_smi_complaints import complaints, why_no_rows

TESTS = Path(__file__).parents[1]
H200 = TESTS / "captures" / "h200"
CASES = TESTS / "cases"


def answer_of(path: Path) -> Answer:
    """A case's scripted answer of nvidia-smi."""
    scripted = cast("dict[str, str | int]", json.loads(path.read_text()))
    stdout, stderr, exit_code = scripted["stdout"], scripted.get("stderr", ""), scripted["rc"]
    return read_answer(str(stdout), stderr=str(stderr), exit_code=int(exit_code))


def test_a_real_answer_with_every_field_is_read_by_its_header() -> None:
    (gpu,) = read_answer((H200 / "all_load.csv").read_text()).gpus
    assert (gpu.name, gpu.utilization_percent, gpu.memory_used_mib, gpu.memory_total_mib) == (
        "NVIDIA H200",
        100.0,
        39171,
        143771,
    )
    assert (gpu.temperature_c, gpu.power_w, gpu.power_limit_w, gpu.throttle) == (54.0, 692.46, 700.0, ("power cap",))


def test_real_process_answers_are_read_by_their_headers() -> None:
    load = read_answer((H200 / "apps_load.csv").read_text()).processes
    assert load == (ProcessRow("GPU-00000003-1111-2222-3333-444455556663", 524, "python3", 39162),)
    nothing = read_answer((H200 / "apps_none.csv").read_text())
    assert nothing == Answer((), (), (), has_header=True)


def test_the_table_for_people_is_read_too() -> None:
    answer = read_answer((H200 / "plain_load.txt").read_text())
    (gpu,) = answer.gpus
    assert (gpu.index, gpu.name, gpu.utilization_percent) == (0, "NVIDIA H200", 100.0)
    assert (gpu.temperature_c, gpu.power_w, gpu.power_limit_w) == (54.0, 692.0, 700.0)
    assert (gpu.memory_used_mib, gpu.memory_total_mib, gpu.uuid) == (39171, 143771, "")
    assert answer.processes == (ProcessRow("", 524, "python3", 39162),)


def test_memory_that_the_table_cut_is_unknown_not_small() -> None:
    answer = read_answer((H200 / "plain_serving.txt").read_text())
    assert answer.gpus[0].memory_used_mib == 134346
    assert answer.processes == (ProcessRow("", 1175, "sglang::scheduler", None),)


def test_a_table_without_processes_has_none() -> None:
    answer = read_answer((H200 / "plain_stopped.txt").read_text())
    assert (len(answer.gpus), answer.gpus[0].memory_used_mib, answer.processes, answer.complaints) == (1, 0, (), ())


def test_an_older_table_with_a_cut_name_and_no_readings_keeps_its_row() -> None:
    table = """\
| NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4     |
|   3  NVIDIA A100-SXM...  On   | 00000000:00:1E.0 Off |                    0 |
| N/A   34C    P0    N/A /  N/A |  20137MiB / 40536MiB |     N/A      Default |
|    3   N/A  N/A      4711      C   /opt/my env/bin/python3          20129MiB |
"""
    answer = read_answer(table)
    (gpu,) = answer.gpus
    assert (gpu.index, gpu.name, gpu.memory_used_mib, gpu.memory_total_mib) == (3, "NVIDIA A100-SXM...", 20137, 40536)
    assert dict(gpu.unreadable) == dict.fromkeys(["utilization_percent", "power_w", "power_limit_w"], "N/A")
    assert answer.processes == (ProcessRow("", 4711, "/opt/my env/bin/python3", 20129),)


def test_an_answer_without_a_header_is_in_our_own_order() -> None:
    row = "0, GPU-1, NVIDIA H200, 100, 39171, 143771, 54, 692.53, 700.00, 0x0000000000000004, 1470, 00000000:1A:00.0"
    assert (read_answer(row).gpus[0].power_w, read_answer(row).gpus[0].bus_id) == (692.53, "1A:00.0")
    for columns in (11, 10, 9):  # as drivers that know less are asked
        shorter = ",".join(row.split(",")[:columns])
        assert read_answer(f"{shorter}\n").gpus[0].power_limit_w == 700.0


def test_rows_in_somebody_elses_order_are_not_taken_for_our_own() -> None:
    assert read_answer((H200 / "core_load.csv").read_text()).gpus == ()


def test_process_rows_without_a_header_are_in_our_own_order() -> None:
    apps = read_answer((CASES / "B18_process_name_commas" / "apps.csv").read_text("utf-8"))
    assert (len(apps.gpus), len(apps.processes)) == (0, 8)


def test_blank_lines_before_the_header_shift_nothing() -> None:
    (gpu,) = read_answer((CASES / "B22_fields_per_driver" / "leading_blank.txt").read_text()).gpus
    assert (gpu.index, gpu.memory_used_mib) == (0, 1000)


def test_a_renamed_header_is_still_the_power_draw() -> None:
    (gpu,) = read_answer("index, power.draw.average [W]\n0, 140.00 W\n").gpus
    assert gpu.power_w == 140.0


def test_a_unified_memory_board_keeps_its_row_and_words() -> None:
    folder = CASES / "B13_unified_memory"
    (gpu,) = read_answer((folder / "gb10_gpu.csv").read_text()).gpus
    assert (gpu.name, gpu.utilization_percent, gpu.temperature_c, gpu.power_w) == ("NVIDIA GB10", 8.0, 45.0, 11.17)
    assert dict(gpu.unreadable) == dict.fromkeys(["memory_used_mib", "memory_total_mib", "power_limit_w"], "[N/A]")
    processes = read_answer((folder / "gb10_apps.csv").read_text()).processes
    assert [(process.pid, process.memory_mib) for process in processes] == [(114687, 19135), (114702, 40960)]
    (jetson,) = read_answer((folder / "jetson_gpu.csv").read_text()).gpus
    assert (jetson.name, jetson.uuid, jetson.utilization_percent) == ("Orin (nvgpu)", "", None)


def test_a_lost_gpu_leaves_the_others_with_their_own_numbers() -> None:
    answer = read_answer((CASES / "B15_gpu_lost" / "mixed.txt").read_text(), exit_code=15)
    assert [gpu.index for gpu in answer.gpus] == [0, 2]
    assert [complaint.sentence for complaint in answer.complaints] == ["GPU 1A:00.0 lost, reboot needed"]


def test_a_gpu_that_fell_off_the_bus_is_named_by_its_bus_id() -> None:
    lost = answer_of(CASES / "B15_gpu_lost" / "all.json").complaints[0]
    assert (lost.kind, lost.gpu, lost.sentence) == ("gpu-lost", "1A:00.0", "GPU 1A:00.0 lost, reboot needed")
    error = answer_of(CASES / "B15_gpu_lost" / "unknown_error.json").complaints[0]
    assert (error.gpu, error.sentence) == ("BA:80.0", "GPU BA:80.0 does not answer: Unknown Error")


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        ("mismatch", "mismatch", "upgraded under the running one (NVML library 535.161): reboot, or reload"),
        ("no_comm", "no-driver", "driver does not answer"),
        ("no_devices", "no-devices", "no GPU here"),
        ("no_lib", "no-library", "libnvidia-ml.so is missing"),
        ("container", "no-nvml", "NVML does not start (Unknown Error): the container lost its GPUs"),
        ("not_found", "not-found", "not in the PATH of a non-interactive shell"),
        ("empty_ok", "other", "gave no GPU rows"),
    ],
)
def test_each_sentence_of_a_broken_driver_becomes_one_clear_line(name: str, kind: str, part: str) -> None:
    answer = answer_of(CASES / "B16_no_driver_answers" / f"{name}.json")
    (complaint,) = answer.complaints
    assert (answer.gpus, complaint.kind) == ((), kind)
    assert part in complaint.sentence
    assert "\n" not in complaint.sentence


def test_a_real_complaint_names_the_field_that_the_driver_does_not_know() -> None:
    (complaint,) = complaints((H200 / "err_badfield.txt").read_text())
    assert (complaint.kind, complaint.field) == ("unknown-field", "nosuchfield")


def test_a_real_answer_about_a_gpu_that_is_not_there() -> None:
    assert why_no_rows((H200 / "err_badindex.txt").read_text(), 6).kind == "no-devices"


def test_an_unheard_of_failure_keeps_its_exit_code_and_first_words() -> None:
    assert (
        why_no_rows("\x1b[1mSegmentation fault\nmore", 139).sentence
        == "nvidia-smi failed (exit 139): Segmentation fault"
    )
    assert why_no_rows("", 127).kind == "not-found"
    assert why_no_rows("", 1).sentence == "nvidia-smi failed (exit 1)"


def test_a_good_answer_has_no_complaint() -> None:
    assert complaints((H200 / "all_idle.csv").read_text()) == ()


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    read_answer(f"| NVIDIA-SMI 580 |\n|   0  {text} On  |   00000000:00:06.0 Off |\n| {text} |")
    answer = read_answer(text, exit_code=1)
    assert answer.gpus or answer.processes or answer.complaints or answer.has_header
