"""Facts in their order become state: a start, a crash, a stop, a pivot, a lost host, GPUs, and lines for what happened."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.state.events import (
    ActAdvanced,
    Event,
    GpuProcessesSampled,
    GpusSampled,
    GpusUnavailable,
    HealthAnswered,
    HostConnected,
    HostHeard,
    HostLost,
    HostMemorySampled,
    LoadSampled,
    LogAdvanced,
    LogUnreadable,
    Noted,
    PortSeen,
    ProcessSeen,
    RunFound,
    ServerDiscovered,
    Ticked,
)
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.log_story import BatchReport, Cause, LogStory, Phase, Progress
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import (
    Act,
    FleetState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
    Word,
)

CASES = Path(__file__).parents[1] / "cases"
FLEET = Fleet(
    hosts=(
        Host(
            "lab", "root@gpu-a", servers=(Server("kimi", "lab", "/m/kimi", 30000, profiles=("eagle3-v1", "eagle3-v2")),)
        ),
        Host("old", "old-box", servers=(Server("llama", "old", "/m/llama", 8000),)),
    ),
    profiles={"eagle3-v1": Profile("eagle3-v1", "sglang")},
)
RUN = RunIdentity("0042", 41233, 777, "boot-1", profile="eagle3-v2", started_by="ana")
NEXT_RUN = RunIdentity("0043", 50000, 888, "boot-1", profile="eagle3-v1", started_by="ana")
ALIVE = ProcessWitness("alive", 41233, (41233, 41240))
LOADING = LogStory("sglang", phase=Phase("weights", 5, 11), progress=Progress("target weights", 22, 64, 34.4))
READY = LogStory("sglang", word="ready", engine_version="0.5.12", has_ready_line=True)
OK = HttpWitness("ok", 200, 1.0)
REFUSED = HttpWitness("refused")
CONNECTED: tuple[tuple[float, Event], ...] = ((0, HostConnected("lab")), (0, HostConnected("old")))
STARTED: tuple[tuple[float, Event], ...] = (
    *CONNECTED,
    (1, RunFound("kimi", RUN)),
    (1, ProcessSeen("kimi", ALIVE)),
    (1, PortSeen("kimi", PortWitness("closed"))),
    (2, LogAdvanced("kimi", LOADING)),
)
SERVING: tuple[tuple[float, Event], ...] = (
    *STARTED,
    (50, PortSeen("kimi", PortWitness("ours", 41233))),
    (52, LogAdvanced("kimi", READY)),
    (52, HealthAnswered("kimi", OK)),
)


def played(*steps: tuple[float, Event], state: FleetState | None = None) -> FleetState:
    state = initial_state(FLEET, 0) if state is None else state
    for at, event in steps:
        state = reduce(state, event, at)
    return state


def kimi(state: FleetState) -> ServerState:
    server = state.server("kimi")
    assert server is not None
    return server


def lines(state: FleetState) -> list[tuple[str, str, str]]:
    return [(line.source, line.text, line.severity) for line in state.happenings]


def test_at_first_the_fleet_is_named_and_nothing_is_known() -> None:
    state = initial_state(FLEET, 5.0)
    assert [(host.name, host.address, host.link) for host in state.hosts] == [
        ("lab", "root@gpu-a", "connecting"),
        ("old", "old-box", "connecting"),
    ]
    server = kimi(state)
    assert (server.engine, server.configured_profiles, server.word) == (
        "sglang",
        ("eagle3-v1", "eagle3-v2"),
        Word.UNKNOWN,
    )
    assert (server.throughput, server.requests_running, server.gpu_memory_mib) == (None, None, None)
    assert (state.at, state.happenings) == (5.0, ())


def test_a_start_whose_begin_nobody_saw_goes_from_starting_to_ready() -> None:
    assert kimi(played(*STARTED)).word is Word.STARTING
    state = played(*SERVING)
    server = kimi(state)
    assert (server.word, server.since, server.profile, server.engine_version) == (Word.READY, 52, "eagle3-v2", "0.5.12")
    assert lines(state) == [("kimi", "starting -> ready", "info")]


def test_a_start_that_began_before_anybody_looked_counts_from_its_run() -> None:
    run = replace(RUN, started_at=-40.0)
    state = played(*((at, RunFound("kimi", run) if isinstance(event, RunFound) else event) for at, event in SERVING))
    assert lines(state)[-1][1] == "starting -> ready after 1m32s"


def test_a_server_that_serves_already_is_found_ready() -> None:
    steps = [(at, event) for at, event in SERVING if not (isinstance(event, LogAdvanced) and event.story is LOADING)]
    first = [(0.0, event) for _, event in steps]
    ready_first = [step for step in first if not isinstance(step[1], PortSeen | ProcessSeen)]
    state = played(*ready_first, (0, PortSeen("kimi", PortWitness("ours", 41233))), (0, ProcessSeen("kimi", ALIVE)))
    assert lines(state) == [("kimi", "found ready", "info")]


def test_a_crash_names_exit_status_and_first_cause() -> None:
    story = replace(LOADING, word="crashed", cause=Cause("nccl", "NCCL timeout on TP5", line=12))
    state = played(
        *STARTED,
        (60, LogAdvanced("kimi", story)),
        (61, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 137))),
    )
    assert kimi(state).word is Word.CRASHED
    assert lines(state)[-1] == ("kimi", "crashed: NCCL timeout on TP5 (exit 137, SIGKILL)", "error")


def test_a_stop_by_an_act_is_no_crash_even_before_the_run_folder_says_so() -> None:
    term = Act("stop", "term", "kill_at=160", began=99, kill_at=160, profile="-", who="ana")
    state = played(
        *SERVING, (100, ActAdvanced("kimi", term)), (100, HealthAnswered("kimi", HttpWitness("unavailable", 503)))
    )
    assert (kimi(state).word, kimi(state).because[0]) == (Word.STOPPING, "a stop was asked, it has not ended yet")
    state = played(
        (101, RunFound("kimi", RUN, stop_asked=False)),
        (106.3, PortSeen("kimi", PortWitness("closed"))),
        (106.3, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 137))),
        (106.4, ActAdvanced("kimi", replace(term, step="done", detail="", is_over=True))),
        state=state,
    )
    assert kimi(state).word is Word.STOPPED
    assert [line[1] for line in lines(state)[1:]] == [
        "stop by ana",
        "stop: SIGTERM",
        "ready -> stopping",
        "stop: done after 7.4 s",
        "stopping -> stopped after 6.4 s",
    ]


def test_who_says_503_right_after_a_stop_was_asked_is_not_unhealthy() -> None:
    """SIGTERM was sent: the answer of the server was quicker than the journal's next step."""
    asked = Act("pivot", "asked", "ana eagle3-v2", began=99, profile="eagle3-v2", who="ana")
    sick = (100, HealthAnswered("kimi", HttpWitness("unavailable", 503)))
    state = played(*SERVING, (99, ActAdvanced("kimi", asked)), sick)
    assert (kimi(state).word, kimi(state).because[0]) == (Word.STOPPING, "a stop was asked, and now health 503")
    state = played((101, ActAdvanced("kimi", replace(asked, step="term", detail=""))), state=state)
    assert [line[1] for line in lines(state)[1:]] == [
        "pivot to eagle3-v2 by ana",
        "ready -> stopping",
        "pivot to eagle3-v2: SIGTERM",
    ]


@pytest.mark.parametrize("step", ["asked", "failed"])
def test_who_says_503_long_after_a_stop_was_asked_or_once_it_failed_is_unhealthy(step: str) -> None:
    act = Act("pivot", step, "", began=99, who="ana", is_over=step == "failed", is_failed=step == "failed")
    sick = HealthAnswered("kimi", HttpWitness("unavailable", 503))
    at = 100 if step == "failed" else 110
    state = played(*SERVING, (99, ActAdvanced("kimi", act)), (at, sick))
    assert kimi(state).word is Word.UNHEALTHY


def test_a_launch_that_was_asked_explains_no_503() -> None:
    act = Act("launch", "asked", "", began=99, who="ana")
    state = played(
        *SERVING, (99, ActAdvanced("kimi", act)), (100, HealthAnswered("kimi", HttpWitness("unavailable", 503)))
    )
    assert kimi(state).word is Word.UNHEALTHY


@pytest.mark.parametrize(
    ("step", "is_over", "word"),
    [("identified", False, Word.STOPPED), ("done", True, Word.STOPPED), ("asked", False, Word.CRASHED)],
)
def test_a_stop_whose_sigterm_fell_between_two_looks_is_no_crash(step: str, is_over: bool, word: Word) -> None:
    act = Act("stop", step, "", began=99, profile="-", who="ana", is_over=is_over)
    gone = (100.0, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), None)))
    told = (100.0, ActAdvanced("kimi", act))
    theirs = replace(RUN, run="", started_at=1.0)
    for steps in ((told, gone), (gone, told)):
        state = played(*SERVING, (60.0, RunFound("kimi", theirs)), (60.0, ProcessSeen("kimi", ALIVE)), *steps)
        state = played((101.0, RunFound("kimi", theirs)), state=state)
        assert kimi(state).word is word


def test_a_stop_that_was_done_before_the_run_began_explains_no_crash_of_it() -> None:
    act = Act("stop", "done", "", began=1, profile="-", who="ana", is_over=True)
    late = replace(RUN, run="", started_at=2.0)
    gone = (100.0, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), None)))
    alive = (60.0, ProcessSeen("kimi", ALIVE))
    state = played(*SERVING, (60.0, RunFound("kimi", late)), alive, (99.0, ActAdvanced("kimi", act)), gone)
    assert kimi(state).word is Word.CRASHED


def test_numbers_of_a_server_that_ended_are_unknown_not_zero() -> None:
    load = LoadReading(100, "s", running=3, queued=1, kv_usage=0.5, accept_length=2.4)
    later = replace(load, decode_tokens=300)
    state = played(*SERVING, (53, LoadSampled("kimi", load)), (55, LoadSampled("kimi", later)))
    assert (kimi(state).requests_running, kimi(state).throughput_history) == (3, ((55, 100.0),))
    server = kimi(played((56, ProcessSeen("kimi", ProcessWitness("gone", 41233))), state=state))
    assert (server.throughput, server.requests_running, server.requests_queued) == (None, None, None)
    assert (server.kv_usage, server.accept_length, server.gpu_memory_mib) == (None, None, None)
    assert server.throughput_history == ((55, 100.0),)


def test_another_run_is_another_life() -> None:
    gone = ProcessWitness("gone", 41233, (), 0)
    state = played(*SERVING, (60, ProcessSeen("kimi", gone)), (61, RunFound("kimi", NEXT_RUN)))
    server = kimi(state)
    assert (server.run, server.profile, server.story, server.evidence.was_ready) == (NEXT_RUN, "eagle3-v1", None, False)
    assert server.word is Word.UNKNOWN
    assert lines(state)[-1][1] == "started run 0043 (eagle3-v1) by ana"
    state = played(
        (61, ProcessSeen("kimi", replace(ALIVE, pid=50000))), (61, HealthAnswered("kimi", REFUSED)), state=state
    )
    assert (kimi(state).word, kimi(state).since) == (Word.STARTING, 61)


def test_a_closed_port_and_a_stranger_outlive_a_run_its_own_listener_does_not() -> None:
    ours, stranger, closed = PortWitness("ours", 41233), PortWitness("stranger", 7), PortWitness("closed")
    for port, after in ((closed, closed), (stranger, stranger), (ours, PortWitness())):
        state = played(*STARTED, (3, PortSeen("kimi", port)), (4, RunFound("kimi", NEXT_RUN)))
        assert kimi(state).evidence.port == after


def test_a_server_of_others_that_is_no_more_is_stopped_and_told() -> None:
    others = replace(RUN, run="", profile=None)
    steps = [(at, RunFound("kimi", others) if isinstance(event, RunFound) else event) for at, event in SERVING]
    state = played(*steps, (70, PortSeen("kimi", PortWitness("closed"))), (71, RunFound("kimi", None)))
    assert (kimi(state).word, kimi(state).run) == (Word.STOPPED, None)
    assert lines(state)[-1][1].startswith("unhealthy -> stopped")


def test_a_stop_of_a_server_of_others_stays_asked_without_a_run_folder() -> None:
    others = replace(RUN, run="", profile=None)
    term = Act("stop", "kill", "41233 python3", began=60)
    state = played(
        *((at, RunFound("kimi", others) if isinstance(event, RunFound) else event) for at, event in SERVING),
        (60, ActAdvanced("kimi", term)),
        (61, ActAdvanced("kimi", replace(term, step="gone"))),
        (61, RunFound("kimi", others)),
        (61, PortSeen("kimi", PortWitness("closed"))),
        (61, ProcessSeen("kimi", ProcessWitness("gone", 41233))),
        (62, ActAdvanced("kimi", replace(term, step="memory-back"))),
    )
    assert kimi(state).word is Word.STOPPED


def test_a_stop_is_over_when_the_memory_is_back_not_when_the_process_is_gone() -> None:
    term = Act("stop", "term", "", began=99, who="ana")
    state = played(
        *SERVING,
        (100, ActAdvanced("kimi", term)),
        (106, PortSeen("kimi", PortWitness("closed"))),
        (106, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 137))),
    )
    for step in ("waiting", "gone", "port-free", "port-of-others"):
        state = played((107, ActAdvanced("kimi", replace(term, step=step))), state=state)
        assert (kimi(state).word, kimi(state).requests_running) == (Word.STOPPING, None)
        assert kimi(state).because[0] == "the server's process is gone; its port and its GPU memory are waited for"
    for step, is_over in (("memory-back", False), ("memory-unknown", False), ("failed", True)):
        over = played((115, ActAdvanced("kimi", replace(term, step=step, is_over=is_over))), state=state)
        assert kimi(over).word is Word.STOPPED


def test_a_start_that_stalled_has_served_nobody() -> None:
    """Else a 200 before its ready line would be ready, and a 503 a fault."""
    still = replace(LOADING, progress=replace(LOADING.progress, rate=3.0) if LOADING.progress else None, spoke_at=50)
    state = played(*STARTED, (50, ProcessSeen("kimi", replace(ALIVE, is_busy=False))), (50, LogAdvanced("kimi", still)))
    state = played((120, HostHeard("lab")), (120, Ticked()), state=state)
    assert kimi(state).word is Word.STALLED
    assert not kimi(state).evidence.was_ready
    state = played(
        (121, LogAdvanced("kimi", replace(still, spoke_at=121))),
        (122, PortSeen("kimi", PortWitness("ours", 41233))),
        (122, HealthAnswered("kimi", HttpWitness("unavailable", 503))),
        state=state,
    )
    assert kimi(state).word is Word.STARTING
    assert kimi(played((123, HealthAnswered("kimi", HttpWitness("ok", 200))), state=state)).word is Word.STARTING


def test_a_start_that_failed_is_given_a_moment_to_end() -> None:
    dying = replace(LOADING, word="crashed", cause=Cause("nccl", "NCCL timeout on TP5", line=12))
    state = played(*STARTED, (3, LogAdvanced("kimi", LOADING)), (60, LogAdvanced("kimi", dying)))
    assert (kimi(state).word, kimi(state).because[0]) == (Word.STARTING, "dying: NCCL timeout on TP5")
    state = played((66, HostHeard("lab")), (66, Ticked()), state=state)
    assert (kimi(state).word, kimi(state).because[0]) == (Word.UNHEALTHY, "dying: NCCL timeout on TP5")


def test_a_failure_that_was_in_the_log_at_the_first_look_is_no_news() -> None:
    dying = replace(LOADING, word="crashed", cause=Cause("nccl", "NCCL timeout on TP5", line=12))
    state = played(
        (500, HostConnected("lab")),
        (500, RunFound("kimi", RUN)),
        (500, ProcessSeen("kimi", ALIVE)),
        (501, LogAdvanced("kimi", dying)),
    )
    assert kimi(state).word is Word.UNHEALTHY


def test_a_pivot_tells_who_asked_and_what_failed() -> None:
    act = Act("pivot", "asked", "ana eagle3-v2", began=60, profile="eagle3-v2", who="ana")
    failed = replace(act, step="failed", detail="the new run died", is_over=True, is_failed=True)
    state = played(
        *SERVING,
        (60, ActAdvanced("kimi", act)),
        (61, ActAdvanced("kimi", replace(act, step="waiting", detail="left=9"))),
        (62, ActAdvanced("kimi", replace(act, step="kill", detail="41240 python3 (S)"))),
        (62, ActAdvanced("kimi", replace(act, step="memory-back", detail="909128 MiB"))),
        (63, ActAdvanced("kimi", failed)),
        (64, ActAdvanced("kimi", failed)),
    )
    told = [line for line in lines(state) if "pivot" in line[1]]
    assert told == [
        ("kimi", "pivot to eagle3-v2 by ana", "info"),
        ("kimi", "pivot to eagle3-v2: SIGKILL, 41240 python3 (S)", "warning"),
        ("kimi", "pivot to eagle3-v2: memory back, 888 GiB", "info"),
        ("kimi", "pivot to eagle3-v2: failed, the new run died", "error"),
    ]


def test_an_act_that_was_over_before_anybody_looked_is_no_news() -> None:
    state = played(*SERVING, (60, ActAdvanced("kimi", Act("stop", "done", "", began=1, is_over=True))))
    assert len(state.happenings) == 1


def test_what_a_stop_left_behind_blocks_until_the_next_act() -> None:
    act = Act("stop", "blocked", "port 30000 is still listened on by pid 7", began=60, is_over=True, is_failed=True)
    state = played(*SERVING, (61, ActAdvanced("kimi", act, blocked=act.detail)))
    assert (kimi(state).word, kimi(state).because[0]) == (Word.BLOCKED, act.detail)
    state = played((70, ActAdvanced("kimi", Act("launch", "asked", "", began=70))), state=state)
    assert kimi(state).word is Word.READY


def test_a_lost_host_keeps_its_numbers_and_its_servers_last_words() -> None:
    gpu = Gpu(0, "GPU-0", "NVIDIA H200", utilization_percent=12.0)
    state = played(*SERVING, (53, GpusSampled("lab", (gpu,))), (60, HostLost("lab", "timed out", 4.0)))
    host, server = state.host("lab"), kimi(state)
    assert host is not None
    assert (host.link, host.error, host.retry_at, host.gpus_at) == ("down", "timed out", 64.0, 53)
    assert host.gpus[0].utilization_percent == 12.0
    assert (server.word, server.last_word, server.last_since) == (Word.UNREACHABLE, Word.READY, 52)
    assert server.because[0] == "no connection to the host for 7 s: timed out"
    assert lines(state)[-1] == ("lab", "no connection: timed out", "warning")


def test_hosts_do_not_touch_each_other() -> None:
    before = played(*SERVING)
    after = played((60, HostLost("old", "no route", None)), state=before)
    assert kimi(after).word is Word.READY
    assert after.host("lab") is before.host("lab")


def test_a_failure_that_repeats_is_told_once() -> None:
    state = played((0, HostLost("lab", "no route", 1.0)), (2, HostLost("lab", "no route", 2.0)))
    assert len(state.happenings) == 1
    assert len(played((5, HostLost("lab", "key refused", None)), state=state).happenings) == 2


def test_a_server_that_comes_back_with_the_same_word_has_lost_no_time() -> None:
    state = played(*SERVING, (60, HostLost("lab", "timed out", 4.0)), (100, HostConnected("lab")))
    assert kimi(state).word is Word.UNKNOWN
    state = played(
        (101, ProcessSeen("kimi", ALIVE)),
        (101, PortSeen("kimi", PortWitness("ours", 41233))),
        (102, HealthAnswered("kimi", OK)),
        state=state,
    )
    assert (kimi(state).word, kimi(state).since, kimi(state).last_word) == (Word.READY, 52, None)
    assert [line[1] for line in lines(state)[1:]] == ["no connection: timed out", "connection is back after 50 s"]


def test_a_server_that_crashed_while_nobody_could_look_is_told() -> None:
    state = played(
        *SERVING,
        (60, HostLost("lab", "timed out", 4.0)),
        (100, HostConnected("lab")),
        (101, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 1))),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.CRASHED, None)
    assert lines(state)[-1] == ("kimi", "crashed: ended without an error message while it served (exit 1)", "error")


def test_the_logs_last_words_take_the_place_of_what_was_guessed_before_they_came() -> None:
    story = replace(READY, word="crashed", cause=Cause("out-of-memory", "CUDA out of memory", line=12))
    gone = ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 1))
    state = played(*SERVING, (60, gone))
    assert lines(state)[-1][1] == "crashed: ended without an error message while it served (exit 1)"
    count = len(lines(state))
    soon = played((62, LogAdvanced("kimi", story)), state=state)
    assert lines(soon)[-1][1] == "crashed: CUDA out of memory (exit 1)"
    assert len(lines(soon)) == count
    late = played((80, LogAdvanced("kimi", story)), state=state)
    assert len(lines(late)) == count + 1


def test_a_host_whose_data_stops_is_stale_by_our_own_clock() -> None:
    state = played(*SERVING, (54, HostHeard("lab")), (60, Ticked()))
    assert (state.hosts[0].link, kimi(state).word) == ("up", Word.READY)
    state = played((60.1, Ticked()), state=state)
    assert (state.hosts[0].link, kimi(state).word, kimi(state).because[0]) == (
        "stale",
        Word.UNREACHABLE,
        "no data from the host for 6.1 s",
    )
    state = played((61, HostHeard("lab")), state=state)
    assert (state.hosts[0].link, kimi(state).word, kimi(state).since) == ("up", Word.READY, 52)


def test_what_was_on_the_way_when_the_connection_broke_does_not_bring_a_host_back() -> None:
    state = played(*SERVING, (60, HostLost("lab", "timed out", None)), (60, GpusSampled("lab", ())))
    assert (state.hosts[0].link, kimi(state).word) == ("down", Word.UNREACHABLE)


def test_gpu_processes_follow_a_family_that_changes() -> None:
    gpu = Gpu(0, "GPU-0", "NVIDIA H200")
    processes = (GpuProcess(41240, "sglang::scheduler", "GPU-0", 134000), GpuProcess(41250, "tp1", "GPU-0", 1000))
    state = played(*SERVING, (53, GpusSampled("lab", (gpu,))), (54, GpuProcessesSampled("lab", processes)))
    assert kimi(state).gpu_memory_mib == 134000
    family = replace(ALIVE, family=(41233, 41240, 41250))
    state = played((55, ProcessSeen("kimi", family)), state=state)
    assert kimi(state).gpu_memory_mib == 135000
    assert [process.server for process in state.hosts[0].gpus[0].processes] == ["kimi", "kimi"]


def test_gpu_trouble_is_told_once_and_the_last_rows_stay() -> None:
    gpu = Gpu(5, "GPU-5", "NVIDIA H200", unreadable={"power_w": "[GPU requires reset]"})
    reason = "GPU 1A:00.0 lost, reboot needed"
    state = played(*CONNECTED, (1, GpusSampled("lab", (gpu,))), (2, GpusSampled("lab", (gpu,))))
    state = played((3, GpusUnavailable("lab", reason)), (5, GpusUnavailable("lab", reason)), state=state)
    host = state.hosts[0]
    assert (len(host.gpus), host.gpus_at, host.gpu_error, host.link) == (1, 2, reason, "up")
    assert lines(state) == [("lab", "GPU 5: GPU requires reset", "error"), ("lab", reason, "warning")]
    assert played((6, GpusSampled("lab", (gpu,))), state=state).hosts[0].gpu_error is None


def test_the_hosts_memory_reaches_its_unified_gpus() -> None:
    gpu = Gpu(0, "GPU-0", "GB10", unreadable={"memory_used_mib": "[N/A]", "memory_total_mib": "[N/A]"})
    state = played(*CONNECTED, (1, GpusSampled("lab", (gpu,))), (2, HostMemorySampled("lab", 124610, 60123)))
    assert state.hosts[0].gpus[0].memory_total_mib == 124610


def test_the_log_tells_load_and_rate_where_endpoints_do_not() -> None:
    story = replace(READY, batch=BatchReport(640.25, 2, 1, 0.1, 3.1), batch_at=60.0)
    server = kimi(played(*SERVING, (60, LogAdvanced("kimi", story))))
    assert server.throughput is not None
    assert (server.throughput.tok_s, server.throughput.source) == (640.25, "log")
    assert (server.requests_running, server.requests_queued, server.kv_usage, server.accept_length) == (2, 1, 0.1, 3.1)
    later = kimi(played(*SERVING, (60, LogAdvanced("kimi", story)), (71, HostHeard("lab")), (71, Ticked())))
    assert (later.throughput, later.requests_running) == (None, None)
    assert later.throughput_history == ((60.0, 640.25),)


def test_that_metrics_are_off_is_said_once_and_forgotten_when_they_come() -> None:
    off = LoadSampled("kimi", LoadReading(running=0), note="metrics are off (--enable-metrics)")
    state = played(*SERVING, (53, off), (55, off))
    assert kimi(state).metrics_note == "metrics are off (--enable-metrics)"
    assert [line[1] for line in lines(state)].count("metrics are off (--enable-metrics)") == 1
    assert kimi(played((57, LoadSampled("kimi", LoadReading(5, "s"))), state=state)).metrics_note is None


def test_a_log_that_cannot_be_read_is_told_once_until_it_can() -> None:
    state = played(
        *STARTED, (3, LogUnreadable("kimi", "no log file at /x")), (4, LogUnreadable("kimi", "no log file at /x"))
    )
    assert lines(state) == [("kimi", "log: no log file at /x", "warning")]
    assert kimi(played((5, LogAdvanced("kimi", LOADING)), state=state)).evidence.log_error is None


def test_histories_and_lines_are_bounded() -> None:
    state = played(*SERVING, *((53.0 + at, LoadSampled("kimi", LoadReading(at * 10.0, "s"))) for at in range(700)))
    assert len(kimi(state).throughput_history) == 600
    state = played(*((800.0, Noted("lab", f"line {number}")) for number in range(600)), state=state)
    assert (len(state.happenings), state.happenings[-1].text) == (500, "line 599")


def test_a_discovered_server_joins_once() -> None:
    found = ServerDiscovered("lab", "gpu-a:30001", 30001, "vllm")
    state = played(
        *CONNECTED, (1, found), (2, replace(found, engine="other")), (3, ServerDiscovered("nowhere", "x", 1))
    )
    assert [(server.name, server.engine, server.evidence.link) for server in state.servers][2:] == [
        ("gpu-a:30001", "vllm", "up")
    ]


@pytest.mark.parametrize(
    "event",
    [
        HostHeard("nowhere"),
        HostConnected("nowhere"),
        HostLost("nowhere", "x", None),
        GpusSampled("nowhere", ()),
        GpuProcessesSampled("nowhere", ()),
        GpusUnavailable("nowhere", "x"),
        HostMemorySampled("nowhere", 1, 1),
        RunFound("nobody", RUN),
        ProcessSeen("nobody", ALIVE),
        PortSeen("nobody", PortWitness("ours")),
        HealthAnswered("nobody", OK),
        LogAdvanced("nobody", READY),
        LogUnreadable("nobody", "x"),
        LoadSampled("nobody", LoadReading(1.0)),
        ActAdvanced("nobody", Act("stop", "term", "", began=0)),
    ],
)
def test_a_fact_about_somebody_unknown_changes_nothing(event: Event) -> None:
    before = played(*SERVING)
    after = reduce(before, event, 99)
    assert (after.at, after.hosts, after.servers, after.happenings) == (
        99,
        before.hosts,
        before.servers,
        before.happenings,
    )


def test_hostile_text_reaches_no_line() -> None:
    nasty = "x\x1b[31m\n\x07"
    state = played(
        *CONNECTED,
        (1, HostLost("lab", nasty, None)),
        (1, Noted("lab", nasty)),
        (1, LogUnreadable("kimi", nasty)),
        (1, GpusUnavailable("lab", nasty)),
        (1, ActAdvanced("kimi", Act("stop", "term", nasty, began=0, who=nasty))),
        (1, LoadSampled("kimi", note=nasty)),
    )
    assert len(state.happenings) == 7
    assert all(line.text.isprintable() for line in state.happenings)


def played_case(name: str) -> list[tuple[float, Word, str]]:
    """A case's moments: what the server is called at each, and the first reason."""
    moments = cast("list[dict[str, int]]", json.loads((CASES / "B47_healthy_but_hung" / f"{name}.json").read_text()))
    state, seen, log_bytes, begun = played(*SERVING), [], -1, 1000.0
    for moment in moments:
        at = begun + moment["t"]
        load = LoadSampled(
            "kimi", LoadReading(moment["gen_tokens_total"], "s", running=moment["running"], queued=moment["queued"])
        )
        grown: list[Event] = [LogAdvanced("kimi", READY)] if moment["log_bytes"] != log_bytes else []
        log_bytes = moment["log_bytes"]
        for event in (HostHeard("lab"), *grown, load, HealthAnswered("kimi", OK), Ticked()):
            state = reduce(state, event, at)
        seen.append((at - begun, kimi(state).word, kimi(state).because[0]))
    return seen


def test_a_server_that_answers_while_nothing_moves_is_stalled() -> None:
    seen = played_case("hung")
    assert [(at, word) for at, word, _ in seen] == [
        (0, Word.READY),
        (10, Word.READY),
        (20, Word.READY),
        (60, Word.READY),
        (90, Word.STALLED),
        (130, Word.STALLED),
    ]
    assert seen[-1][2] == "3 running, 20 waiting, 0 tok/s for 1m50s"


@pytest.mark.parametrize("name", ["idle", "prefill"])
def test_an_idle_server_and_a_long_prefill_are_ready(name: str) -> None:
    assert {word for _, word, _ in played_case(name)} == {Word.READY}
