"""What is asked of GPUs every few minutes, by eye from a real H200 (driver 580) and from the documents of NVIDIA."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.gpu_check import CHECK_FIELDS, GpuCheck, PcieLink, check_row
from specdeck.parsing.nvidia_smi_answer import read_answer
from specdeck.parsing.nvlink import NvLinks, nvlinks
from specdeck.parsing.xid import xids

H200 = Path(__file__).parents[1] / "captures" / "h200"
ROW = "2, GPU-1, 00000000:1A:00.0, 97, 5, 5, 16, 16, 1980, 0, [N/A], Disabled, No, No, None"


def with_words(**words: str) -> GpuCheck:
    """The row of a sound GPU, with other words in some places."""
    cells = dict(zip(CHECK_FIELDS, ROW.split(", "), strict=True))
    check = check_row(", ".join({**cells, **{name.replace("__", "."): word for name, word in words.items()}}.values()))
    assert check is not None
    return check


def test_a_real_gpu_under_load_has_nothing_wrong() -> None:
    (check,) = read_answer((H200 / "all_load.csv").read_text()).checks
    assert (check.index, check.bus_id, check.utilization_percent) == (0, "00:06.0", 100.0)
    assert check.link == PcieLink(5, 16, 5, 16)
    assert (check.clock_max_mhz, check.ecc_uncorrected, check.is_repair_pending) == (1980, 0, False)
    assert (check.is_worn_out, check.is_mig, check.recovery) == (False, False, None)


def test_a_link_is_reduced_by_its_generation_or_its_width() -> None:
    slow = with_words(pcie__link__gen__current="1").link
    narrow = with_words(pcie__link__width__current="8").link
    assert slow is not None
    assert narrow is not None
    assert (slow.is_reduced, slow.words) == (True, "gen 1 x16 of gen 5 x16")
    assert (narrow.is_reduced, narrow.words) == (True, "gen 5 x8 of gen 5 x16")
    assert with_words(pcie__link__gen__max="[N/A]").link is None


@pytest.mark.parametrize(
    ("words", "pending"),
    [
        ({"remapped_rows__pending": "Yes"}, True),
        ({"remapped_rows__pending": "1"}, True),
        ({"remapped_rows__pending": "[N/A]", "retired_pages__pending": "Yes"}, True),
        ({"remapped_rows__pending": "[N/A]", "retired_pages__pending": "No"}, False),
        ({"remapped_rows__pending": "[N/A]"}, None),
    ],
)
def test_a_repair_is_pending_by_rows_or_by_pages_and_not_known_without_either(
    words: dict[str, str], pending: bool | None
) -> None:
    assert with_words(**words).is_repair_pending is pending


def test_what_cannot_be_read_claims_nothing() -> None:
    check = check_row("3, GPU-1, " + ", ".join(["[N/A]"] * 13))
    assert check == GpuCheck(3, "GPU-1")
    assert check_row("No devices were found") is None


def test_the_driver_says_itself_what_brings_a_gpu_back() -> None:
    assert with_words(gpu_recovery_action="Drain and Reset").recovery == "Drain and Reset"
    assert with_words(gpu_recovery_action="[Unknown Error]").recovery is None


def test_links_that_are_down_are_counted_by_gpu() -> None:
    text = (
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n"
        "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
        "GPU 2: NVIDIA L4 (UUID: GPU-3)\n"
    )
    assert nvlinks(text) == {0: NvLinks(2, 2), 1: NvLinks(1, 2)}


KERNEL = """\
[  100.000001] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05
[ 4711.123456] NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[ 4800.5] NVRM: Xid (PCI:0000:ba:00): 31, pid=41233, name=python3, Ch 00000008, intr 00000000. MMU Fault
[Sun Nov 29 13:57:09 2026] NVRM: Xid (PCI:0008:01:00): 94, pid=7, name=sglang::schedul, Contained: CE User Channel
[ 4900.000000] gpu-a kernel: NVRM: Xid (PCI:0000:1a:00): 777, pid=1, name=x
"""


def test_xids_have_their_number_their_gpu_their_time_and_their_process() -> None:
    first, second, third, fourth = xids(KERNEL)
    assert (first.number, first.bus_id, first.seconds, first.pid) == (79, "1A:00", 4711.123456, None)
    assert (first.words, first.is_of_hardware) == ("Xid 79: GPU has fallen off the bus", True)
    assert (second.number, second.pid, second.name, second.is_of_hardware) == (31, 41233, "python3", False)
    assert (third.bus_id, third.seconds, third.is_of_hardware) == ("8:01:00", None, True)
    assert (fourth.words, fourth.is_of_hardware) == ("Xid 777", False)
    assert first.is_on("1A:00.0")
    assert not first.is_on("BA:00.0")
    assert not first.is_on("")


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    check_row(text)
    nvlinks(f"GPU 0: {text}\n\t Link 0: {text}\n")
    xids(f"NVRM: Xid (PCI:{text}): {text}")
