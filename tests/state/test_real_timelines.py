"""Whole lives of a real SGLang on an H200, replayed from what was seen beside its log every quarter of a second."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.engines.reader import LogReader
from specdeck.state.events import (
    Event,
    HealthAnswered,
    HostConnected,
    HostHeard,
    LogAdvanced,
    PortSeen,
    ProcessSeen,
    RunFound,
    Ticked,
)
from specdeck.state.reduce import initial_state, reduce
from specdeck.state.snapshot import FleetState, HttpWitness, PortWitness, ProcessWitness, RunIdentity, Word

CAPTURES = Path(__file__).parents[1] / "captures"
FLEET = Fleet(
    (Host("lab", "root@lab", servers=(Server("kimi", "lab", "/m", 30000, profiles=("p",)),)),),
    {"p": Profile("p", "sglang")},
)
ANSWERS: dict[str, HttpWitness] = {
    "refused": HttpWitness("refused"),
    "200": HttpWitness("ok", 200),
    "503": HttpWitness("unavailable", 503),
    "000": HttpWitness("timeout"),
}


@dataclass(frozen=True)
class Life:
    """One run: its files, when its end was asked for, how it ended."""

    log: str
    exit_status: int
    stop_asked_at: float | None = None
    has_stranger: bool = False


LIVES = {
    "baseline": Life("baseline/server.log", -9, stop_asked_at=148.61),
    "eagle3_v2": Life("eagle3_v2/server.log", -9, stop_asked_at=110.476),
    "fail_port_in_use": Life("fail_port_in_use/B_second.log", 1, has_stranger=True),
    "fail_kill9_scheduler": Life("fail_kill9_scheduler/A_first.log", -9),
    "fail_sigterm_loading": Life("fail_sigterm_loading/server.log", -15, stop_asked_at=19.669),
}


def events_of(name: str, *, is_told: bool = True) -> Iterator[tuple[float, Event]]:
    """The rows of a timeline as the monitors would report them; not told: the stop was somebody else's."""
    life = LIVES[name]
    log = (CAPTURES / "sglang_h200" / life.log).read_bytes()
    rows = [row.split("\t") for row in (CAPTURES / "h200" / "timelines" / f"{name}.tsv").read_text().splitlines()[1:]]
    reader, read, run = LogReader("sglang"), 0, RunIdentity("0001", int(rows[0][6].split(",")[0][:-1]), 1, "boot")
    rows.append(
        [str(float(rows[-1][0]) + 0.25), "", str(len(log)), "refused", "", "1" if life.has_stranger else "0", ""]
    )
    yield 0.0, HostConnected("lab")
    for seconds, _, log_bytes, health, _, listens, pids in rows:
        at = float(seconds)
        is_asked = is_told and life.stop_asked_at is not None and at >= life.stop_asked_at
        yield at, HostHeard("lab")
        yield at, RunFound("kimi", run, stop_asked=is_asked)
        yield at, PortSeen("kimi", port_of(listens, life))
        yield at, ProcessSeen("kimi", process_of(run.pid, pids, life.exit_status))
        if int(log_bytes) > read:
            reader.feed(log[read : int(log_bytes)], at)
            read = int(log_bytes)
            yield at, LogAdvanced("kimi", reader.story)
        if health in ANSWERS:
            yield at, HealthAnswered("kimi", ANSWERS[health])
        yield at, Ticked()


def process_of(pid: int, pids: str, exit_status: int) -> ProcessWitness:
    living = tuple(int(word[:-1]) for word in pids.split(",") if word and word[-1] != "Z")
    if pid in living:
        return ProcessWitness("alive", pid, living)
    return ProcessWitness("gone", pid, living, exit_status)


def port_of(listens: str, life: Life) -> PortWitness:
    if listens == "0":
        return PortWitness("closed")
    return PortWitness("stranger", 2241, "python3") if life.has_stranger else PortWitness("ours")


def lived(name: str, *, is_told: bool = True) -> tuple[list[tuple[float, Word]], FleetState]:
    """When each word began, by the clock of the capture, and the state at the end."""
    state, seen = initial_state(FLEET, 0.0), list[tuple[float, Word]]()
    for at, event in events_of(name, is_told=is_told):
        state = reduce(state, event, at)
        word = state.servers[0].word
        if word is not Word.UNKNOWN and (not seen or seen[-1][1] is not word):
            seen.append((at, word))
    return seen, state


def texts(state: FleetState) -> list[str]:
    return [line.text for line in state.happenings]


@pytest.mark.parametrize(
    ("name", "ready", "asked", "gone"),
    [
        ("baseline", 94.166, 148.61, 154.0),
        ("eagle3_v2", 54.363, 110.476, 126.4),
    ],
)
def test_a_real_life_is_starting_ready_stopping_stopped(name: str, ready: float, asked: float, gone: float) -> None:
    """Ready when the driver's own poll got its 200; the drain of 4 streams is stopping until the parent is gone."""
    words, state = lived(name)
    assert [word for _, word in words] == [Word.STARTING, Word.READY, Word.STOPPING, Word.STOPPED]
    for (at, _), expected in zip(words[1:], (ready, asked, gone), strict=True):
        assert at == pytest.approx(expected, abs=0.6)
    assert state.servers[0].because[0] == "stopped as asked (exit -9, SIGKILL)"
    assert not any("crashed" in text for text in texts(state))


def test_a_real_stop_by_somebody_else_is_no_crash_either() -> None:
    words, state = lived("baseline", is_told=False)
    assert [word for _, word in words] == [Word.STARTING, Word.READY, Word.STOPPING, Word.STOPPED]
    assert "told to stop, not by specdeck" in state.servers[0].because[0]


def test_a_real_server_whose_port_is_taken_is_never_ready_although_its_log_and_health_say_so() -> None:
    words, state = lived("fail_port_in_use")
    assert [word for _, word in words] == [Word.BLOCKED, Word.CRASHED]
    assert words[-1][0] == pytest.approx(36.56, abs=0.3)
    assert texts(state)[-1].startswith("crashed (exit 1): [Errno 98] error while attempting to bind on address")


def test_a_real_scheduler_that_is_killed_under_load_is_the_cause_of_a_crash() -> None:
    words, state = lived("fail_kill9_scheduler")
    assert [word for _, word in words if word is not Word.UNHEALTHY] == [Word.STARTING, Word.READY, Word.CRASHED]
    assert words[1][0] == pytest.approx(36.335, abs=0.6)
    assert words[-1][0] == pytest.approx(80.1, abs=0.6)
    assert "scheduler_0 (pid=2403) crashed with exit code -9" in state.servers[0].because[0]
    assert "scheduler_0 (pid=2403) crashed with exit code -9" in texts(state)[-1]


def test_a_real_start_that_is_told_to_stop_is_stopping_then_stopped() -> None:
    words, _ = lived("fail_sigterm_loading")
    assert [word for _, word in words] == [Word.STARTING, Word.STOPPING, Word.STOPPED]


def test_a_real_start_that_is_killed_by_somebody_names_the_signal_and_the_place() -> None:
    _, state = lived("fail_sigterm_loading", is_told=False)
    server = state.servers[0]
    assert server.word is Word.CRASHED
    assert server.because[0].startswith("exit -15, SIGTERM: ended without an error message")
