"""Rows of a real H200 (driver 580) and of boards that hide fields."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.nvidia_smi import (
    EMPTY,
    GPU_FIELDS,
    PROCESS_FIELDS,
    ProcessRow,
    earlier_row,
    gpu_row,
    process_query_args,
    process_row,
    query_args,
    short_bus_id,
    without_field,
)
from specdeck.parsing.throttle import slowing, throttle_words

TESTS = Path(__file__).parents[1]
H200 = TESTS / "captures" / "h200"
CASES = TESTS / "cases"
CORE_FIELDS = [
    "index",
    "uuid",
    "name",
    "driver_version",
    "utilization.gpu",
    "utilization.memory",
    "memory.used",
    "memory.total",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "clocks.sm",
    "clocks.mem",
    "fan.speed",
    "pstate",
    "clocks_event_reasons.active",
    "ecc.errors.uncorrected.volatile.total",
    "pcie.link.gen.current",
    "pcie.link.width.current",
    "mig.mode.current",
]
ROW = (
    "0, GPU-00000003-1111-2222-3333-444455556663, NVIDIA H200, 100, 39171, 143771, 54, 692.53, 700.00,"
    " 0x0000000000000004, 1470, 00000000:00:06.0"
)


def test_the_request_names_every_field_once_and_asks_for_bare_numbers() -> None:
    assert query_args(("index", "name")) == ("--query-gpu=index,name", "--format=csv,noheader,nounits")
    assert process_query_args()[0] == "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory"
    assert len(set(GPU_FIELDS)) == len(GPU_FIELDS)


def test_a_real_row_under_load_is_read_by_position() -> None:
    row = gpu_row((H200 / "core_load.csv").read_text(), CORE_FIELDS)
    assert row is not None
    assert (row.index, row.uuid, row.name) == (0, "GPU-00000003-1111-2222-3333-444455556663", "NVIDIA H200")
    assert (row.utilization_percent, row.memory_used_mib, row.memory_total_mib) == (100.0, 39171, 143771)
    assert (row.temperature_c, row.power_w, row.power_limit_w) == (54.0, 692.53, 700.0)
    assert (row.throttle, row.clock_mhz) == (("power cap",), 1470)
    assert row.unreadable == {}


def test_a_real_idle_gpu_is_not_throttled() -> None:
    row = gpu_row((H200 / "core_idle.csv").read_text(), CORE_FIELDS)
    assert row is not None
    assert (row.utilization_percent, row.memory_used_mib, row.power_w, row.throttle) == (0.0, 0, 126.66, ())


def test_a_gpu_name_with_commas_shifts_no_column() -> None:
    row = gpu_row(ROW.replace("NVIDIA H200", "Quadro, RTX, 8000"))
    assert row is not None
    assert (row.name, row.utilization_percent, row.power_limit_w) == ("Quadro, RTX, 8000", 100.0, 700.0)


@pytest.mark.parametrize(
    "line", ["", "   ", "No devices were found", "index, name", ROW.rsplit(",", 1)[0], ROW[3:], ", ".join(GPU_FIELDS)]
)
def test_what_is_no_row_is_none(line: str) -> None:
    assert gpu_row(line) is None


@pytest.mark.parametrize("word", ["[N/A]", "[Not Supported]", "[Unknown Error]", "ERR!", "N/A", "[GPU requires reset]"])
def test_a_word_in_place_of_a_number_is_kept_and_hides_only_itself(word: str) -> None:
    row = gpu_row(ROW.replace("39171", word))
    assert row is not None
    assert row.memory_used_mib is None
    assert row.unreadable == {"memory_used_mib": word}
    assert (row.utilization_percent, row.memory_total_mib) == (100.0, 143771)


def test_nothing_in_place_of_a_number_is_unreadable_too() -> None:
    row = gpu_row(ROW.replace("54", ""))
    assert row is not None
    assert (row.temperature_c, row.unreadable) == (None, {"temperature_c": EMPTY})


def test_a_field_that_was_not_asked_is_unknown_without_a_word() -> None:
    row = gpu_row("3, 5", ("index", "utilization.gpu"))
    assert row is not None
    assert (row.utilization_percent, row.memory_used_mib, row.unreadable) == (5.0, None, {})


def test_a_row_of_an_earlier_recording_is_read_unless_it_is_cut_off() -> None:
    earlier = ROW.rsplit(", ", 2)[0]
    row = earlier_row(earlier)
    assert row is not None
    assert (row.power_limit_w, row.throttle, row.clock_mhz, row.unreadable) == (700.0, ("power cap",), None, {})
    for cut in (1, 2, 16, 25):
        assert earlier_row(earlier[:-cut]) is None
    assert earlier_row(ROW) is None


def test_throttle_that_cannot_be_read_is_no_throttle_and_says_so() -> None:
    row = gpu_row(ROW.replace("0x0000000000000004", "[N/A]"))
    assert row is not None
    assert (row.throttle, row.unreadable) == ((), {"throttle": "[N/A]"})


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x4, ("power cap",)),
        (0x20, ("thermal slowdown (software)",)),
        (0x48, ("hardware slowdown", "thermal slowdown (hardware)")),
        (0x88, ("hardware slowdown", "power brake")),
        (0x2001, ("reason 0x2000",)),
    ],
)
def test_the_throttle_mask_becomes_words(mask: int, words: tuple[str, ...]) -> None:
    assert throttle_words(mask) == words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("applications clocks", "power cap", "sync boost", "display clocks", "reason 0x2000"), ()),
        (
            ("hardware slowdown", "thermal slowdown (hardware)"),
            ("too hot (hardware thermal slowdown)",),
        ),
        (("hardware slowdown", "power brake"), ("power brake of the chassis",)),
        (("hardware slowdown",), ("hardware slowdown",)),
        (("thermal slowdown (software)",), ("too hot (software thermal slowdown)",)),
    ],
)
def test_only_heat_brakes_and_the_hardware_slow_a_gpu_down_and_the_umbrella_bit_says_nothing_of_its_own(
    words: tuple[str, ...], told: tuple[str, ...]
) -> None:
    assert slowing(words) == told


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("00000000:1A:00.0", "1A:00.0"),
        ("0000:ba:80.0", "BA:80.0"),
        ("00000008:01:00.0", "8:01:00.0"),
        ("1A:00.0", "1A:00.0"),
        ("[N/A]", ""),
        ("", ""),
    ],
)
def test_a_bus_id_is_short_and_keeps_a_domain_that_tells_two_gpus_apart(cell: str, shown: str) -> None:
    assert short_bus_id(cell) == shown


def test_an_unknown_field_gives_way_to_its_older_name_and_then_to_nothing() -> None:
    asked = ("index", "clocks_event_reasons.active", "pci.bus_id")
    first = without_field(asked, "clocks_event_reasons.active")
    assert first == ("index", "clocks_throttle_reasons.active", "pci.bus_id")
    assert without_field(first, "clocks_throttle_reasons.active") == ("index", "pci.bus_id")
    assert without_field(GPU_FIELDS, "never.asked") == GPU_FIELDS


def test_a_real_process_row_is_read_in_the_order_of_the_request() -> None:
    fields = ("pid", "process_name", "used_gpu_memory", "gpu_uuid")
    line = (H200 / "apps_serving.csv").read_text().splitlines()[1]
    expected = ProcessRow("GPU-00000001-1111-2222-3333-444455556661", 1175, "sglang::scheduler", 134336)
    assert process_row(line, fields) == expected


def test_process_rows_are_read_from_both_ends() -> None:
    folder = CASES / "B18_process_name_commas"
    rows = [process_row(line) for line in (folder / "apps.csv").read_text("utf-8").splitlines()]
    found = [[row.pid, row.name, row.memory_mib] for row in rows if row]
    assert found == json.loads((folder / "expected.json").read_text("utf-8"))


def test_escape_sequences_in_a_process_name_are_dropped() -> None:
    row = process_row("GPU-1, 7, \x1b[31mred\x07, 5")
    assert row == ProcessRow("GPU-1", 7, "red", 5)


def test_every_bad_field_of_eight_gpus_is_alone() -> None:
    lines = (CASES / "B14_na_words" / "gpu.csv").read_text().splitlines()[1:]
    fields = [
        "index",
        "name",
        "uuid",
        "memory.used",
        "memory.total",
        "utilization.gpu",
        "temperature.gpu",
        "power.draw",
        "power.limit",
    ]
    rows = [row for line in lines if (row := gpu_row(line, fields))]
    assert [dict(row.unreadable) for row in rows] == [
        {},
        {"memory_used_mib": "[N/A]"},
        {"utilization_percent": "[Not Supported]"},
        {"temperature_c": "[Unknown Error]"},
        {"memory_used_mib": "[Insufficient Permissions]"},
        {"power_w": "[GPU requires reset]"},
        {"temperature_c": "ERR!", "power_limit_w": "[N/A]"},
        {"utilization_percent": EMPTY},
    ]
    assert {row.memory_total_mib for row in rows} == {81559}
    assert [row.power_w for row in rows].count(640.12) == 7


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    gpu_row(text)
    process_row(text)
    gpu_row(f"0, {text}", ("index", "utilization.gpu", "name"))


@given(st.lists(st.text(alphabet="0123456789-.xXeE[]NA/ %WMiB,_"), min_size=9, max_size=12))
def test_any_near_row_is_read_without_an_error(cells: list[str]) -> None:
    gpu_row(", ".join(["0", *cells]))
    process_row(", ".join(["GPU-1", "7", *cells]), PROCESS_FIELDS)
