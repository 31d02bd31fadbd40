"""What GPUs explain of a slow or a dead server: lost ones, throttling, errors, links, strangers; and what is no alarm."""

from dataclasses import replace

import pytest

from specdeck.config.objects import Fleet, Group, Host, Server
from specdeck.parsing.gpu_check import GpuCheck, PcieLink
from specdeck.parsing.mig import MigInstance
from specdeck.parsing.nvlink import NvLinks
from specdeck.parsing.xid import Xid
from specdeck.state import events
from specdeck.state.events import Event
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess, LostGpu
from specdeck.state.gpu_warnings import ranges
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import (
    FleetState,
    HostState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
)
from specdeck.state.warnings import row_warning, warnings_of

FAST, SLOW = PcieLink(5, 16, 5, 16), PcieLink(1, 16, 5, 16)


def gpu(index: int, *, throttle: tuple[str, ...] = (), **rest: object) -> Gpu:
    """One of a host of H200s."""
    return replace(Gpu(index, f"GPU-{index}", "NVIDIA H200", bus_id=f"1{index}:00.0", throttle=throttle), **rest)  # type: ignore[arg-type]


def process(pid: int, index: int, mib: int | None = 70_000, **rest: object) -> GpuProcess:
    """One that the host's /proc knows."""
    return replace(GpuProcess(pid, "python3", f"GPU-{index}", mib, start_time=5, user="ana"), **rest)  # type: ignore[arg-type]


def after(*told: Event, gpus: int = 2, at: float = 100.0) -> FleetState:
    """A host whose server lives on all its GPUs (pid 41 and following), and then these events."""
    fleet = Fleet((Host("lab", "lab", servers=(Server("kimi", "lab", "/m", 30000),)),), {})
    family = tuple(range(41, 41 + gpus))
    begun: tuple[Event, ...] = (
        events.HostConnected("lab"),
        events.RunFound("kimi", RunIdentity("0001", 41, 1, "boot")),
        events.ProcessSeen("kimi", ProcessWitness("alive", 41, family)),
        events.PortSeen("kimi", PortWitness("ours", 41)),
        events.HealthAnswered("kimi", HttpWitness("ok", 200, at=at)),
        events.GpusSampled("lab", tuple(gpu(index) for index in range(gpus))),
        events.GpuProcessesSampled("lab", tuple(process(pid, place) for place, pid in enumerate(family))),
    )
    state = initial_state(fleet, 0.0)
    for event in (*begun, *told):
        state = reduce(state, event, at)
    return state


def kimi(state: FleetState) -> ServerState:
    server = state.server("kimi")
    assert server is not None
    return server


def lab(state: FleetState) -> HostState:
    host = state.host("lab")
    assert host is not None
    return host


def checked(*checks: GpuCheck, **rest: object) -> events.GpusChecked:
    return events.GpusChecked("lab", replace(CheckUp(100.0, checks), **rest))  # type: ignore[arg-type]


def check(index: int, **rest: object) -> GpuCheck:
    return replace(GpuCheck(index, f"GPU-{index}", f"1{index}:00.0", utilization_percent=99.0, link=FAST), **rest)  # type: ignore[arg-type]


def test_a_server_on_sound_gpus_has_no_warning() -> None:
    assert warnings_of(kimi(after(checked(check(0), check(1))))) == ()


def test_heat_stands_on_the_row_of_the_server_that_it_slows() -> None:
    hot = gpu(1, throttle=("hardware slowdown", "thermal slowdown (hardware)"))
    state = after(events.GpusSampled("lab", (gpu(0), hot)))
    assert row_warning(kimi(state)) == "GPU 1: slowed down: too hot (hardware thermal slowdown)"
    assert state.happenings[-1].text == "GPU 1: slowed down: too hot (hardware thermal slowdown)"


def test_the_same_on_several_gpus_is_one_warning() -> None:
    braked = events.GpusSampled("lab", tuple(gpu(index, throttle=("power brake",)) for index in range(4)))
    assert warnings_of(kimi(after(braked, gpus=4))) == ("GPUs 0-3: slowed down: power brake of the chassis",)


@pytest.mark.parametrize("reason", ["power cap", "applications clocks", "sync boost", "display clocks"])
def test_a_power_cap_and_clocks_that_somebody_set_are_no_alarm(reason: str) -> None:
    assert warnings_of(kimi(after(events.GpusSampled("lab", (gpu(0, throttle=(reason,)), gpu(1)))))) == ()


def test_throttling_that_flickers_is_one_line_and_goes_a_minute_after_its_end() -> None:
    hot, cool = gpu(0, throttle=("power brake",)), gpu(0)
    state = after(events.GpusSampled("lab", (hot, gpu(1))))
    for at in range(102, 150, 4):
        state = reduce(state, events.GpusSampled("lab", (cool, gpu(1))), float(at))
        assert warnings_of(kimi(state))
        state = reduce(state, events.GpusSampled("lab", (hot, gpu(1))), at + 2.0)
    assert len([line for line in state.happenings if "power brake" in line.text]) == 1
    state = reduce(state, events.GpusSampled("lab", (cool, gpu(1))), 215.0)
    assert warnings_of(kimi(state)) == ()


def test_a_lost_gpu_keeps_its_row_its_words_and_its_server_and_the_others_their_numbers() -> None:
    lost = LostGpu("11:00.0", "GPU 11:00.0 lost, reboot needed")
    state = after(events.GpusSampled("lab", (gpu(0, memory_used_mib=10), gpu(2, memory_used_mib=12)), (lost,)), gpus=3)
    assert [(each.index, each.memory_used_mib, each.lost) for each in lab(state).gpus] == [
        (0, 10, ""),
        (1, None, "GPU 11:00.0 lost, reboot needed"),
        (2, 12, ""),
    ]
    assert [each.pid for each in lab(state).gpus[1].processes] == [42]
    assert warnings_of(kimi(state)) == ("GPU 11:00.0 lost, reboot needed",)
    survey = events.GpuProcessesSampled(
        "lab", (process(41, 0), process(43, 2))
    )  # it can be asked of the living ones only
    assert warnings_of(kimi(reduce(state, survey, 101.0))) == ("GPU 11:00.0 lost, reboot needed",)


def test_who_was_on_a_lost_gpu_and_lives_no_more_is_on_it_no_more() -> None:
    lost = (LostGpu("11:00.0", "GPU 11:00.0 lost, reboot needed"),)
    state = after(events.GpusSampled("lab", (gpu(0),), lost))
    assert [each.pid for each in lab(state).gpus[1].processes] == [42]
    ended = reduce(state, events.ProcessSeen("kimi", ProcessWitness("gone", 41, exit_status=1)), 101.0)
    later = reduce(ended, events.GpuProcessesSampled("lab", ()), 102.0)
    assert lab(later).gpus[1].processes == ()


def test_a_gpu_that_was_lost_before_anybody_looked_gets_the_gap_in_the_numbers() -> None:
    state = initial_state(Fleet((Host("lab", "lab"),), {}), 0.0)
    lost = (LostGpu("1A:00.0", "GPU 1A:00.0 lost, reboot needed"),)
    one = reduce(state, events.GpusSampled("lab", (gpu(0), gpu(2)), lost), 1.0)
    assert [each.index for each in lab(one).gpus] == [0, 1, 2]
    unclear = reduce(state, events.GpusSampled("lab", (gpu(0), gpu(1)), lost), 1.0)
    assert [(each.index, each.bus_id) for each in lab(unclear).gpus][-1] == (-1, "1A:00.0")


def test_a_slow_link_counts_under_load_only_and_is_remembered_while_the_gpu_rests() -> None:
    idle = checked(check(0, link=SLOW, utilization_percent=0.0), check(1))
    assert warnings_of(kimi(after(idle))) == ()
    busy = checked(check(0, link=SLOW), check(1))
    assert warnings_of(kimi(after(busy))) == ("GPU 0: PCIe gen 1 x16 of gen 5 x16 under load",)
    assert warnings_of(kimi(after(busy, idle))) == ("GPU 0: PCIe gen 1 x16 of gen 5 x16 under load",)
    assert warnings_of(kimi(after(busy, checked(check(0), check(1))))) == ()


def test_errors_of_memory_and_what_the_driver_asks_for_are_warnings_the_worst_first() -> None:
    broken = checked(check(0, is_repair_pending=True), check(1, ecc_uncorrected=2, recovery="Reset"))
    assert warnings_of(kimi(after(broken))) == (
        "GPU 1: 2 uncorrectable ECC errors since the driver was loaded",
        "GPU 1: the driver asks for: Reset",
        "GPU 0: a memory repair is pending: it needs a reset of the GPU",
    )


def test_an_nvlink_that_is_down_shows_beside_a_gpu_whose_links_are_all_up() -> None:
    half = checked(check(0), check(1), links={0: NvLinks(18, 18), 1: NvLinks(17, 18)})
    assert warnings_of(kimi(after(half))) == ("GPU 1: 17 of 18 NVLinks up",)
    unused = checked(check(0), check(1), links={0: NvLinks(4, 12), 1: NvLinks(4, 12)})
    assert warnings_of(kimi(after(unused))) == ()


def test_an_xid_of_the_hardware_counts_for_a_day_and_one_of_a_program_never() -> None:
    def told(number: int, at: float) -> events.GpusChecked:
        return checked(check(0), xids=(Xid(number, "10:00", at=at),))

    assert warnings_of(kimi(after(told(79, 50.0)))) == ("GPU 0: Xid 79: GPU has fallen off the bus",)
    assert warnings_of(kimi(after(told(31, 50.0)))) == ()
    assert warnings_of(kimi(after(told(79, 100.0 - 90_000)))) == ()


def test_a_kernel_log_that_may_not_be_read_claims_nothing_and_takes_nothing_back() -> None:
    assert warnings_of(kimi(after(checked(check(0), xids=None)))) == ()
    seen = checked(check(0), xids=(Xid(79, "10:00", at=50.0),))
    assert len(warnings_of(kimi(after(seen, checked(check(0), xids=None))))) == 1


def test_a_stranger_with_memory_beside_the_server_is_named() -> None:
    both = events.GpuProcessesSampled("lab", (process(41, 0), process(42, 1), process(900, 1, 20_480)))
    assert warnings_of(kimi(after(both))) == ("GPU 1: pid 900 python3 of user ana holds 20.0 GiB beside it",)


@pytest.mark.parametrize(
    "other",
    [
        process(900, 1, 120),
        process(900, 1, None),
        process(900, 1, 20_480, start_time=None),
        process(900, 7, 20_480),
    ],
    ids=["a mere context", "memory not readable", "a pid of another namespace", "another GPU"],
)
def test_what_may_be_no_stranger_on_its_gpu_is_not_called_one(other: GpuProcess) -> None:
    processes = events.GpuProcessesSampled("lab", (process(41, 0), process(42, 1), other))
    assert warnings_of(kimi(after(processes))) == ()


def test_a_crash_is_explained_by_what_broke_its_gpus_not_by_who_came_after_it() -> None:
    gone = events.ProcessSeen("kimi", ProcessWitness("gone", 41, exit_status=1))
    lost = LostGpu("11:00.0", "GPU 11:00.0 lost, reboot needed")
    later = (
        events.PortSeen("kimi", PortWitness("closed")),
        gone,
        events.GpuProcessesSampled("lab", (process(900, 0, 60_000),)),
        events.GpusSampled("lab", (gpu(0, throttle=("power brake",)),), (lost,)),
    )
    state = after(*later)
    assert kimi(state).word == "crashed"
    assert warnings_of(kimi(state)) == ("GPU 11:00.0 lost, reboot needed",)


def test_processes_of_an_instance_are_those_of_its_gpu() -> None:
    instances = (MigInstance("GPU-0", 0, "3g.40gb", "MIG-c1"), MigInstance("GPU-0", 1, "1g.10gb", "MIG-c2"))
    inside = events.GpuProcessesSampled(
        "lab", (process(41, 0, gpu_uuid="MIG-c2"), process(42, 0, gpu_uuid="MIG-GPU-1/7/0"))
    )
    state = after(checked(check(0, is_mig=True), check(1), instances=instances), inside)
    assert [[each.pid for each in one.processes] for one in lab(state).gpus] == [[41], [42]]
    assert [each.name for each in lab(state).gpus[0].instances] == ["3g.40gb", "1g.10gb"]


def test_a_lone_board_without_a_uuid_has_all_processes() -> None:
    jetson = replace(gpu(0), uuid="", name="Orin (nvgpu)")
    state = after(
        events.GpusSampled("lab", (jetson,)), events.GpuProcessesSampled("lab", (process(41, 0, gpu_uuid="[N/A]"),))
    )
    assert [each.pid for each in lab(state).gpus[0].processes] == [41]


def test_since_when_nvidia_smi_fails_is_kept_while_it_goes_on_failing() -> None:
    state = after(events.GpusUnavailable("lab", "the NVIDIA driver does not answer"))
    later = reduce(state, events.GpusUnavailable("lab", "the NVIDIA driver does not answer"), 160.0)
    assert (lab(later).gpu_error_at, len(later.happenings)) == (100.0, len(state.happenings))
    back = reduce(later, events.GpusSampled("lab", (gpu(0), gpu(1))), 170.0)
    assert (lab(back).gpu_error, lab(back).gpu_error_at) == (None, None)


def test_numbers_of_gpus_are_written_as_ranges() -> None:
    assert ranges([0, 1, 2, 3, 5, 7, 6]) == "0-3,5-7"


def test_what_slows_a_rank_on_another_host_stands_on_the_heads_row() -> None:
    hosts = ("lab", "lab2")
    servers = [
        Server(f"kimi{'.1' * rank}", host, "m", 30000, group=Group("kimi", rank, hosts, "lab"))
        for rank, host in enumerate(hosts)
    ]
    state = initial_state(Fleet(tuple(Host(each.host, each.host, servers=(each,)) for each in servers), {}), 0.0)
    for server in servers:
        for event in (
            events.HostConnected(server.host),
            events.RunFound(server.name, RunIdentity("0001", 41, 1, "boot", started_at=90.0)),
            events.ProcessSeen(server.name, ProcessWitness("alive", 41, (41,))),
            events.GpusSampled(server.host, (gpu(0),)),
            events.GpuProcessesSampled(server.host, (process(41, 0),)),
        ):
            state = reduce(state, event, 100.0)
    slow = reduce(state, events.GpusSampled("lab2", (gpu(0, throttle=("power brake",)),)), 102.0)
    assert warnings_of(kimi(slow)) == ("lab2: GPU 0: slowed down: power brake of the chassis",)
    again = reduce(slow, events.GpusSampled("lab", (gpu(0),)), 104.0)
    assert warnings_of(kimi(again)) == ("lab2: GPU 0: slowed down: power brake of the chassis",)
    well = reduce(again, events.GpusSampled("lab2", (gpu(0),)), 170.0)
    assert warnings_of(kimi(well)) == ()
