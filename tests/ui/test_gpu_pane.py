"""The GPUs of a host in every width: numbers that line up, lost and throttled ones in sight, nothing claimed that is not known."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.fleets import NOW, gpu
from tests.ui.playing import playing

from specdeck.parsing.gpu_check import GpuCheck, PcieLink
from specdeck.parsing.mig import MigInstance
from specdeck.parsing.xid import Xid
from specdeck.state.gpu_snapshot import Gpu, GpuProcess, Trouble
from specdeck.state.gpu_warnings import with_gpu_warnings
from specdeck.state.snapshot import FleetState, HostState, Word
from specdeck.ui.drawing.gpu_row import gpu_row
from specdeck.ui.drawing.gpus import compact_rows, detailed_rows, gpu_rows, heading
from specdeck.ui.drawing.hero import hero
from specdeck.ui.drawing.server_table import server_row
from specdeck.ui.drawing.spans import Row, width_of
from specdeck.ui.view import View

HOT = ("hardware slowdown", "thermal slowdown (hardware)")


def plain(row: Row) -> str:
    return "".join(text for text, _ in row)


def roles(row: Row, word: str) -> set[str]:
    """How this word looks."""
    return {role for text, role in row if word in text}


def h200s(number: int) -> tuple[Gpu, ...]:
    """So many busy ones, all of one server."""
    return tuple(
        replace(
            gpu(
                index,
                name="NVIDIA H200",
                load=90.0,
                used=118_000,
                total=143_771,
                watts=612.0,
                celsius=58.0,
                server="kimi",
            ),
            bus_id=f"1{index:X}:00.0",
            clock_mhz=1785,
        )
        for index in range(number)
    )


def host(*gpus: Gpu, **rest: object) -> HostState:
    return replace(fleets.blackwell(), gpus=gpus, gpus_at=NOW - 1, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 8, 16])
@pytest.mark.parametrize("width", [18, 27, 40, 58, 62, 78, 98, 109, 196])
def test_every_row_fills_its_width_and_no_gpu_is_left_out(number: int, width: int) -> None:
    rows = gpu_rows(host(*h200s(number)), width, 10, NOW)
    assert {width_of(row) for row in rows} == {width}
    assert len(rows) <= 10
    text = "\n".join(map(plain, rows))
    assert text.count("90%") == number or text.startswith(f"GPU 0-{number - 1}")


def test_sixteen_gpus_stand_two_abreast_and_their_owner_below() -> None:
    rows = gpu_rows(host(*h200s(16)), 62, 10, NOW)
    assert [plain(row)[:2] for row in rows[:8]] == [f" {index}" for index in range(8)]
    assert " │  8 " in plain(rows[0])
    assert plain(rows[8]).strip() == "kimi on 0-15"


def test_the_clock_stands_beside_the_power_where_there_is_room() -> None:
    (one,) = h200s(1)
    assert "612/600W 1785MHz  kimi TP0" in plain(gpu_row(one, 109, NOW))
    assert "MHz" not in plain(gpu_row(one, 62, NOW))


def test_a_lost_gpu_is_a_row_of_words_beside_good_rows() -> None:
    first, second, third = h200s(3)
    gone = replace(Gpu(1, second.uuid, second.name), lost="GPU 11:00.0 lost, reboot needed", processes=second.processes)
    rows = gpu_rows(host(first, gone, third), 62, 10, NOW)
    assert plain(rows[1]).startswith(" 1✖11:00.0 lost, reboot needed  kimi TP1")
    assert roles(rows[1], "lost") == {"error"}
    assert " 90% " in plain(rows[0]) + plain(rows[2])
    small = [plain(row).strip() for row in compact_rows(host(first, gone, third), 78, 2, NOW)]
    assert small[0].startswith("GPU 0,2 ")
    assert small[1] == "✖ GPU 11:00.0 lost, reboot needed"


def test_a_throttled_gpu_is_marked_in_the_narrowest_cell_and_explained_below() -> None:
    gpus = h200s(16)
    hot = replace(gpus[3], slowed=HOT, temperature_c=91.0)
    rows = gpu_rows(host(*gpus[:3], hot, *gpus[4:]), 62, 10, NOW)
    assert plain(rows[3]).startswith(" 3▲")
    assert plain(rows[8]).strip() == "▲ GPU 3: slowed down: too hot (hardware thermal slowdown)"
    assert "too hot  kimi TP3" in plain(gpu_row(hot, 62, NOW))


def test_heat_that_hardware_and_driver_tell_is_one_trouble() -> None:
    (one,) = h200s(1)
    both = replace(one, slowed=(*HOT, "thermal slowdown (software)"))
    rows = [plain(row) for row in gpu_rows(host(both), 90, 10, NOW)]
    assert rows[0].count("too hot") == 1
    assert [row.strip() for row in rows[1:]] == [
        "▲ GPU 0: slowed down: too hot (hardware thermal slowdown, software thermal slowdown)"
    ]


def test_a_power_cap_is_no_mark() -> None:
    (one,) = h200s(1)
    assert plain(gpu_row(replace(one, throttle=("power cap",), slowed=("power cap",)), 62, NOW)).startswith(" 0 ")


@pytest.mark.parametrize("word", ["[GPU requires reset]", "ERR!"])
def test_a_faulty_gpu_shows_a_dash_where_its_number_was_and_the_word_as_its_fault(word: str) -> None:
    (one,) = h200s(1)
    faulty = replace(one, power_w=None, unreadable={"power_w": word})
    rows = gpu_rows(host(faulty), 62, 10, NOW)
    assert plain(rows[0]).startswith(" 0✖")
    assert word.strip("[]") in plain(rows[1])


def test_a_gap_is_a_dash_and_no_fault() -> None:
    (one,) = h200s(1)
    rows = gpu_rows(
        host(replace(one, memory_used_mib=None, unreadable={"memory_used_mib": "[Not Supported]"})), 109, 10, NOW
    )
    assert len(rows) == 1
    assert "-/140G" in plain(rows[0])
    assert "░" not in plain(rows[0])  # an empty bar would say 0 %


def test_unified_memory_and_a_virtual_gpu_are_named() -> None:
    (one,) = h200s(1)
    board = replace(
        one,
        name="NVIDIA GB10",
        memory_used_mib=60_095,
        memory_total_mib=124_610,
        is_memory_unified=True,
        power_limit_w=None,
    )
    assert "59/122G  58°      612W  unified  kimi TP0" in plain(gpu_row(board, 62, NOW))
    assert not {"█", "░"} & set(plain(gpu_row(board, 109, NOW)).split("%")[1])  # a bar would be of the host's memory
    assert "vGPU  kimi TP0" in plain(gpu_row(replace(one, name="GRID A100D-40C"), 62, NOW))
    assert "vGPU" not in plain(gpu_row(replace(one, name="NVIDIA A100-SXM4-80GB"), 62, NOW))


def test_instances_have_rows_of_their_own_and_the_missing_utilisation_is_explained() -> None:
    (one,) = h200s(1)
    parts = (
        MigInstance(one.uuid, 0, "3g.40gb", "MIG-c1", 1, 0, 37_000, 40_192, (41_300,)),
        MigInstance(one.uuid, 1, "1g.10gb", "MIG-c2", 9, 0, 12, 9_728),
    )
    cut = replace(one, utilization_percent=None, check=GpuCheck(0, one.uuid, is_mig=True), instances=parts)
    rows = [plain(row).rstrip() for row in gpu_rows(host(cut), 78, 10, NOW)]
    assert "MIG: no utilisation" in rows[0]
    assert rows[1] == "   0.0 3g.40gb    ███████▎    36/39G  kimi"
    assert rows[2] == "   0.1 1g.10gb    ░░░░░░░░  0.0/9.5G"


def test_a_stranger_beside_a_server_is_named_by_its_user_and_one_alone_is_no_warning() -> None:
    (one,) = h200s(1)
    ana = GpuProcess(900, "python3", one.uuid, 20_480, None, "ana", start_time=5)
    beside = gpu_row(replace(one, processes=(*one.processes, ana)), 109, NOW)
    assert "kimi TP0  +ana 20G python3 900" in plain(beside)
    assert roles(beside, "ana") == {"warning"}
    alone = gpu_row(replace(one, processes=(ana,)), 109, NOW)
    assert "python3 900 20G ana" in plain(alone)
    assert roles(alone, "ana") == {"dim"}


def test_of_hundreds_of_processes_the_largest_are_named_and_the_rest_counted() -> None:
    (one,) = h200s(1)
    many = tuple(GpuProcess(1000 + step, "job", one.uuid, 100 + step, user="ana", start_time=5) for step in range(300))
    text = plain(gpu_row(replace(one, processes=many), 140, NOW))
    assert "job 1299 399M ana  +ana 398M job 1298  +298 more 72G" in text


def test_a_pid_of_another_namespace_says_so() -> None:
    (one,) = h200s(1)
    inside = GpuProcess(4711, "[Not Found]", one.uuid, 20_480)
    assert "pid 4711 20G (not in this /proc)" in plain(gpu_row(replace(one, processes=(inside,)), 109, NOW))


def test_rows_of_a_stuck_nvidia_smi_are_dimmed_with_their_age_and_the_reason() -> None:
    words = "nvidia-smi hangs; no second one is started beside it"
    stuck = replace(host(*h200s(8)), gpu_error=words, gpu_error_at=NOW - 180, gpus_at=NOW - 200)
    rows = gpu_rows(stuck, 80, 10, NOW)
    assert plain(rows[0]).strip() == f"▲ {words}, for 3m"
    assert {role for row in rows[1:] for _, role in row} == {"dim"}
    assert heading(stuck, NOW) == "GPUs blackwell, 8 x NVIDIA H200, 3m old"


def test_rows_of_a_slow_nvidia_smi_have_their_age_and_are_not_dimmed() -> None:
    slow = replace(host(*h200s(1)), gpus_at=NOW - 9)
    assert heading(slow, NOW).endswith(", 9s old")
    assert roles(gpu_rows(slow, 62, 10, NOW)[0], "90%") == {""}
    assert heading(host(*h200s(1)), NOW) == "GPUs blackwell, 1 x NVIDIA H200"


def test_a_first_answer_that_takes_its_time_is_waited_for_with_its_age() -> None:
    assert plain(gpu_rows(replace(host(), connected_at=NOW - 3), 62, 10, NOW)[0]).strip() == "waiting for nvidia-smi"
    assert (
        plain(gpu_rows(replace(host(), connected_at=NOW - 34), 62, 10, NOW)[0]).strip() == "waiting for nvidia-smi, 34s"
    )


def test_memory_of_gpus_that_do_not_tell_it_is_left_out_of_the_sum_and_that_is_said() -> None:
    first, second = h200s(2)
    unknown = replace(second, memory_used_mib=None)
    (row,) = compact_rows(host(first, unknown, *h200s(8)[2:]), 78, 2, NOW)
    assert "807/983G of 7" in plain(row)


def test_the_pane_alone_tells_link_errors_and_processes_of_each_gpu() -> None:
    (one,) = h200s(1)
    check = GpuCheck(0, one.uuid, one.bus_id, 95.0, PcieLink(1, 16, 5, 16), 1980, 2)
    xids = (Xid(79, "10:00", at=NOW - 190),)
    rows = [plain(row) for row in detailed_rows(host(replace(one, check=check, xids=xids)), 140, 20, NOW)]
    assert "Xid 79  ECC  PCIe  3m ago  kimi TP0" in rows[0]
    assert "PCIe gen 1 x16 of gen 5 x16   ECC 2   at most 1980 MHz" in rows[1]
    assert rows[2].strip() == "kimi  sglang::scheduler_TP0 41300 115G"


def with_hot_gpu() -> FleetState:
    """A ready server one of whose GPUs is too hot."""
    gpus = h200s(8)
    hot = host(*gpus[:3], replace(gpus[3], slowed=HOT), *gpus[4:])
    state = fleets.fleet()
    servers = tuple(replace(each, word=Word.READY) if each.name == "kimi" else each for each in state.servers)
    hosts = tuple(hot if each.name == "blackwell" else each for each in state.hosts)
    return with_gpu_warnings(replace(state, servers=servers, hosts=hosts), "blackwell", NOW)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_what_slows_a_server_stands_beside_its_word(width: int) -> None:
    state = with_hot_gpu()
    kimi = state.server("kimi")
    assert kimi is not None
    row = server_row(kimi, View(state, NOW), width)
    assert "ready 42s ▲ too hot" in plain(row)
    assert roles(row, "too hot") == {"warning"}
    lost = replace(kimi, gpu_troubles=(Trouble("lost", "GPU 11:00.0 lost, reboot needed", is_error=True),))
    assert "✖ GPU lost" in plain(server_row(lost, View(state, NOW), width))


async def test_the_server_view_says_what_slows_it() -> None:
    async with playing(FakeDeck()) as play:
        await play.press("enter")
        await play.publish(with_hot_gpu())
        assert "▲ GPU 3: slowed down: too hot (hardware thermal slowdown)" in play.text("#hero")
        assert "too hot" in play.text("#gpus")


@pytest.mark.parametrize("word", [Word.STARTING, Word.CRASHED])
def test_a_start_and_a_crash_are_explained_by_a_lost_gpu_too(word: Word) -> None:
    state = with_hot_gpu()
    kimi = state.server("kimi")
    assert kimi is not None
    lost = (Trouble("lost", "GPU 11:00.0 lost, reboot needed", is_error=True),)
    rows = hero(replace(kimi, word=word, gpu_troubles=lost), View(state, NOW, "kimi"), 80)
    assert " ✖ GPU 11:00.0 lost, reboot needed" in [plain(row).rstrip() for row in rows]
