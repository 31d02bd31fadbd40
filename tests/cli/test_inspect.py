"""`specdeck inspect`: the JSON that scripts read, the words that people read, the exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from specdeck.cli.verbs.inspect import command

TESTS = Path(__file__).parents[1]
H200 = TESTS / "captures" / "sglang_h200"
CASES = TESTS / "cases"


def inspect(*args: str | Path) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args])


def told(*args: str | Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(inspect("--json", *args).stdout)
    return content


def test_the_json_has_all_that_the_design_names() -> None:
    content = told(H200 / "eagle3_v1/server.log")
    assert content["schema"] == 1
    assert (content["kind"], content["basis"], content["engine"], content["state"]) == (
        "server-log",
        "log",
        "sglang",
        "stopped",
    )
    assert {"phase", "progress", "cause", "throughput_tok_s", "accept_length", "requests", "warnings"} <= content.keys()
    assert content["accept_length"] == 1.69
    assert content["requests"] == {"running": 4, "queued": 0}


def test_a_start_tells_phase_and_progress() -> None:
    content = told(CASES / "B10_silent_death/server.log")
    assert content["state"] == "starting"
    assert content["phase"] == {"name": "weights", "index": 5, "total": 9}
    progress = content["progress"]
    assert (progress["label"], progress["done"], progress["total"], int(progress["percent"])) == (
        "target weights",
        47,
        163,
        28,
    )
    assert progress["eta_seconds"] == 104
    assert "ends without an end" in content["warnings"][0]


def test_a_crash_has_its_cause_and_exit_code_one() -> None:
    result = inspect("--json", H200 / "fail_mem_fraction/server.log")
    assert result.exit_code == 1
    cause = json.loads(result.stdout)["cause"]
    assert cause["kind"] == "not-enough-memory"
    assert cause["line"] == 74
    assert cause["hint"]


@pytest.mark.parametrize("name", ["baseline/server.log", "fail_sigterm_loading/server.log"])
def test_a_log_without_a_fatal_cause_is_fine(name: str) -> None:
    assert inspect(H200 / name).exit_code == 0


def test_the_words_name_cause_line_and_what_to_do() -> None:
    words = inspect(H200 / "fail_mem_fraction/server.log").stdout
    assert "crashed" in words
    assert "Not enough memory. Please try to increase --mem-fraction-static." in words
    assert "line 74" in words


def test_a_rate_after_a_pause_is_unknown_and_not_wrong(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(
        "[2026-01-05 10:00:00] The server is fired up and ready to roll!\n"
        "[2026-01-05 10:00:00] Decode batch, #running-req: 1, #token: 9, gen throughput (token/s): 0.73, #queue-req: 0\n"
    )
    assert told(log)["throughput_tok_s"] is None


def test_escape_codes_of_a_log_never_reach_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"launch_server.py: error: unrecognized arguments: --\x1b]0;title\x07\x1b[31mred\n")
    assert "\x1b" not in inspect(log).stdout
    assert told(log)["cause"]["message"] == "unrecognized arguments: --red"


def test_a_reply_of_nvidia_smi_tells_gpus_and_keeps_the_word_of_what_cannot_be_read() -> None:
    content = told(CASES / "B14_na_words/gpu.csv")
    assert content["kind"] == "nvidia-smi"
    assert content["gpus"][0]["memory_used_mib"] == 70110
    assert content["gpus"][1]["memory_used_mib"] is None
    assert content["gpus"][1]["unreadable"]["memory_used_mib"] == "[N/A]"


def test_processes_without_a_header_are_read_in_the_order_of_the_request() -> None:
    content = told(CASES / "B18_process_name_commas/apps.csv")
    assert content["processes"][0] == {
        "pid": 41001,
        "name": "python -c import os, sys, torch",
        "memory_mib": 30210,
        "gpu_uuid": "GPU-00000000-aaaa-4000-8000-000000000000",
    }


def test_a_file_of_nobody_says_so(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("milk, 2 l\n")
    content = told(notes)
    assert content["engine"] is None
    assert "no engine that specdeck knows wrote this file" in content["warnings"]


def test_an_empty_file_is_a_start_that_has_not_written_yet(tmp_path: Path) -> None:
    empty = tmp_path / "server.log"
    empty.touch()
    content = told(empty)
    assert (content["state"], content["phase"], content["lines"]) == ("starting", None, 0)


def test_a_missing_file_and_an_unknown_engine_are_usage_errors(tmp_path: Path) -> None:
    assert inspect(tmp_path / "nothing.log").exit_code == 2
    assert inspect(tmp_path).exit_code == 2
    assert inspect("--engine", "skynet", H200 / "baseline/server.log").exit_code == 2


def test_the_engine_can_be_named() -> None:
    assert told("--engine", "vllm", CASES / "B02_interleaved_workers/glued.log")["engine"] == "vllm"


SMI = TESTS / "captures" / "h200"


@pytest.mark.parametrize("name", ["all_load.csv", "plain_load.txt", "q_load.xml"])
def test_rows_table_and_xml_of_one_real_moment_say_the_same(name: str) -> None:
    content = told(SMI / name)
    (gpu,) = content["gpus"]
    assert (gpu["name"], gpu["utilization_percent"], gpu["memory_used_mib"]) == ("NVIDIA H200", 100.0, 39171)
    assert (gpu["memory_total_mib"], gpu["bus_id"], gpu["warnings"]) == (143771, "00:06.0", [])
    assert content["warnings"] == []


def test_a_table_that_was_pasted_with_its_prompt_is_read(tmp_path: Path) -> None:
    pasted = tmp_path / "smi.txt"
    pasted.write_text("root@box:~# nvidia-smi\n" + (SMI / "plain_load.txt").read_text() + "root@box:~# \n")
    content = told(pasted)
    assert (content["kind"], content["processes"][0]["pid"]) == ("nvidia-smi", 524)


def test_a_log_that_begins_with_a_table_is_still_a_log(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text((SMI / "plain_load.txt").read_text() + (H200 / "baseline/server.log").read_text())
    assert told(log)["kind"] == "server-log"


def test_rows_without_a_header_in_a_strange_order_are_not_guessed(tmp_path: Path) -> None:
    content = told(SMI / "core_load.csv")
    assert (content["kind"], content["gpus"]) == ("nvidia-smi", [])
    assert "keep the header line" in content["warnings"][0]


def test_what_slows_or_breaks_a_gpu_is_a_warning_of_the_reply(tmp_path: Path) -> None:
    csv = tmp_path / "gpu.csv"
    csv.write_text(
        "index, utilization.gpu [%], clocks_throttle_reasons.active, ecc.errors.uncorrected.volatile.total,"
        " remapped_rows.pending, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max\n"
        "0, 99 %, 0x0000000000000004, 0, No, 5, 5, 16, 16\n"
        "1, 99 %, 0x0000000000000048, 2, Yes, 1, 5, 16, 16\n"
        "2, 0 %, 0x0000000000000001, 0, No, 1, 5, 16, 16\n"
        "3, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n"
    )
    content = told(csv)
    assert [len(gpu["warnings"]) for gpu in content["gpus"]] == [0, 4, 0, 0]
    assert content["gpus"][1]["throttle"] == ["hardware slowdown", "thermal slowdown (hardware)"]
    assert content["warnings"] == [
        "GPU 1: 2 uncorrectable ECC errors since the driver was loaded",
        "GPU 1: a memory repair is pending: it needs a reset of the GPU",
        "GPU 1: slowed down: too hot (hardware thermal slowdown)",
        "GPU 1: PCIe gen 1 x16 of gen 5 x16 under load",
    ]
    assert "warning: GPU 1: PCIe gen 1 x16 of gen 5 x16 under load" in inspect(csv).stdout


MIG_TABLE = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                   On |
| N/A   31C    P0             62W /  400W |      61MiB /  81920MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
| MIG devices:                                                                            |
|  0    2   0   0  |              37MiB / 40192MiB  | 42      0 |  3   0    2    0    0 |
|                  |               0MiB / 65536MiB  |           |                       |
|  0    9   0   1  |            9012MiB /  9728MiB  | 14      0 |  1   0    0    0    0 |
+-----------------------------------------------------------------------------------------+
|    0    9    0       4711      C   python3                                        9000MiB |
"""


def test_a_table_with_mig_tells_each_instance_and_its_memory(tmp_path: Path) -> None:
    table = tmp_path / "smi.txt"
    table.write_text(MIG_TABLE)
    content = told(table)
    assert content["gpus"][0]["utilization_percent"] is None
    assert [(each["index"], each["memory_used_mib"], each["memory_total_mib"]) for each in content["instances"]] == [
        (0, 37, 40192),
        (1, 9012, 9728),
    ]


def test_a_table_of_a_board_without_memory_of_its_own_keeps_its_row(tmp_path: Path) -> None:
    table = tmp_path / "smi.txt"
    table.write_text(
        "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |\n"
        "|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |\n"
        "| N/A   45C    P8              5W /  N/A  | Not Supported          |      8%      Default |\n"
    )
    (gpu,) = told(table)["gpus"]
    assert (gpu["name"], gpu["utilization_percent"], gpu["power_w"], gpu["bus_id"]) == (
        "NVIDIA GB10",
        8.0,
        5.0,
        "F:01:00.0",
    )
    assert gpu["unreadable"]["memory_total_mib"] == "Not Supported"


def test_a_table_with_a_gpu_in_error_keeps_both_rows_and_says_the_fault(tmp_path: Path) -> None:
    table = tmp_path / "smi.txt"
    table.write_text(
        "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
        "|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    2 |\n"
        "| N/A   31C    P0             62W /  400W |      61MiB /  81920MiB |      0%      Default |\n"
        "|   1  NVIDIA A100-SXM4-80GB         ERR! |   00000000:1B:00.0 Off |                 ERR! |\n"
        "|ERR!  ERR! ERR!             ERR! / ERR!  |       0MiB /  81920MiB |    ERR!      Default |\n"
    )
    content = told(table)
    assert [(gpu["index"], gpu["temperature_c"], gpu["memory_total_mib"]) for gpu in content["gpus"]] == [
        (0, 31.0, 81920),
        (1, None, 81920),
    ]
    assert content["warnings"] == [
        "GPU 0: 2 uncorrectable ECC errors since the driver was loaded",
        "GPU 1: nvidia-smi says ERR!",
    ]


def test_the_long_form_names_the_one_that_is_read(tmp_path: Path) -> None:
    long = tmp_path / "q.txt"
    long.write_text("==============NVSMI LOG==============\n\nTimestamp        : Sun Nov 29 13:57:09 2026\n")
    content = told(long)
    assert (content["kind"], content["gpus"]) == ("nvidia-smi", [])
    assert "nvidia-smi -q -x" in content["warnings"][0]


def test_a_lost_gpu_between_rows_is_a_warning_and_no_row_is_renumbered() -> None:
    content = told(CASES / "B15_gpu_lost/mixed.txt")
    assert [gpu["index"] for gpu in content["gpus"]] == [0, 2]
    assert content["warnings"] == ["GPU 1A:00.0 lost, reboot needed"]
