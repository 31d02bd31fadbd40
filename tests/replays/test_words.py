"""Whole lives of a real server on an H200: specdeck's word beside what the timeline shows, second by second."""

import pytest
from tests.replays.lives import LIVES
from tests.replays.observer import SAME_MEMORY_MIB, differences
from tests.replays.watching import Moment, said, told_events, watched, words_of

from specdeck.state.snapshot import Word

# Read in timeline.tsv, health.tsv and marks.json: the first 200 of the run's own socket, the signals, the last living process.
EXPECTED: dict[str, list[tuple[str, float]]] = {
    "baseline": [("starting", 0.0), ("ready", 94.17), ("stopping", 148.61), ("stopped", 153.6)],
    "eagle3_v1": [("starting", 0.0), ("ready", 50.85), ("stopping", 107.92), ("stopped", 108.58)],
    "eagle3_v1_b": [
        *(("starting", 0.0), ("ready", 56.59), ("stalled", 89.34), ("unhealthy", 113.34), ("ready", 113.65)),
        *(("stopping", 119.36), ("stopped", 124.0)),
    ],
    "eagle3_v2": [("starting", 0.0), ("ready", 54.36), ("stopping", 110.48), ("stopped", 126.1)],
    "fail_bad_flag": [("starting", 0.0), ("crashed", 8.94)],
    "fail_model_path": [("starting", 0.0), ("crashed", 10.36)],
    "fail_mem_fraction": [("starting", 0.0), ("crashed", 22.5)],
    "fail_port_in_use": [("blocked", 0.0), ("crashed", 36.47)],
    "fail_kill9_scheduler": [("starting", 0.0), ("ready", 36.34), ("unhealthy", 79.5), ("crashed", 80.1)],
    "fail_kill9_parent": [("starting", 0.0), ("ready", 47.64), ("unhealthy", 51.8), ("crashed", 52.0)],
    "fail_sigterm_loading": [("starting", 0.0), ("stopping", 19.67), ("stopped", 20.0)],
    "cpu_kill9_parent_spawning": [("starting", 0.0), ("crashed", 20.9)],
}
FIRST_CAUSES = {
    "fail_bad_flag": "exit 2: unrecognized arguments: --no-such-flag 3",
    "fail_model_path": "exit 1: huggingface_hub.errors.HFValidationError: Repo id must be in the form",
    "fail_mem_fraction": "exit 137, SIGKILL: RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "fail_port_in_use": "exit 1: [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000): address already in use",
    "fail_kill9_scheduler": "exit 137, SIGKILL: Subprocess scheduler_0 (pid=2403) crashed with exit code -9.",
    "fail_kill9_parent": "exit 137, SIGKILL: ended without an error message while it served",
    "cpu_kill9_parent_spawning": "exit 137, SIGKILL: ended without an error message in phase processes",
}
ASKED = [name for name, life in LIVES.items() if life.stop_asked_at is not None]


def between(moments: tuple[Moment, ...], begin: float, end: float) -> list[Moment]:
    return [moment for moment in moments if begin <= moment.row.at <= end]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_life_has_its_words_in_the_right_second(name: str) -> None:
    words = words_of(watched(name))
    assert [word for word, _ in words] == [word for word, _ in EXPECTED[name]]
    for (word, at), (_, expected) in zip(words, EXPECTED[name], strict=True):
        assert at == pytest.approx(expected, abs=0.55), word


@pytest.mark.parametrize("name", EXPECTED)
def test_no_second_differs_from_what_the_timeline_shows(name: str) -> None:
    assert list(differences(LIVES[name], said(watched(name)))) == []


def test_at_the_pace_of_the_monitor_a_thousandth_of_all_seconds_differs_at_most() -> None:
    """It looks once or twice in two seconds: what it sees late is still within the second of grace, nearly always."""
    found = [each for name, life in LIVES.items() for each in differences(life, said(watched(name, at_own_pace=True)))]
    whole = sum(life.rows[-1].at - life.rows[0].at for life in LIVES.values())
    assert sum(each.seconds for each in found) <= whole / 1000, found


@pytest.mark.parametrize("name", EXPECTED)
def test_none_is_ready_before_the_first_200_of_its_own(name: str) -> None:
    life = LIVES[name]
    own = [poll.at for poll in life.polls if poll.code == "200" and life.port_owner is None]
    ready = [moment.row.at for moment in watched(name) if moment.server.word is Word.READY]
    assert not ready or min(ready) >= min(own)


def test_a_server_whose_port_is_taken_is_never_ready_although_its_log_and_its_health_say_so() -> None:
    """It loaded for 36 s, every poll was answered 200 by the other server, and it printed its ready line."""
    moments = watched("fail_port_in_use")
    assert {poll.code for poll in LIVES["fail_port_in_use"].polls} == {"200"}
    assert b"The server is fired up and ready to roll!" in LIVES["fail_port_in_use"].log
    assert {str(moment.server.word) for moment in moments} == {"blocked", "crashed"}
    assert moments[0].server.because[0] == "port 30000 held by pid 2241 (python3), not by this server"


@pytest.mark.parametrize("name", FIRST_CAUSES)
def test_the_first_cause_is_named_and_becomes_a_line(name: str) -> None:
    last = watched(name)[-1].server
    assert last.because[0].startswith(FIRST_CAUSES[name])
    cause = FIRST_CAUSES[name].partition(": ")[2]
    assert any(text.startswith("crashed") and cause in text for text in told_events(watched(name)))


def test_a_start_that_has_failed_says_so_at_once_and_is_no_state_of_its_own_until_it_ends() -> None:
    dying = between(watched("fail_model_path"), 8.6, 10.3)
    assert {str(moment.server.word) for moment in dying} == {"starting"}
    assert all(moment.server.because[0].startswith("dying: huggingface_hub") for moment in dying)


@pytest.mark.parametrize("name", ASKED)
def test_a_stop_by_somebody_else_is_no_crash_where_the_log_tells_of_it(name: str) -> None:
    words = [word for word, _ in words_of(watched(name, is_told=False))]
    last = watched(name, is_told=False)[-1].server.because[0]
    if name == "fail_sigterm_loading":  # in the middle of a start nothing is logged: the signal is all there is
        assert words[-1] == "crashed"
        assert last.startswith("exit 143, SIGTERM: ended without an error message")
    else:
        assert words[-2:] == ["stopping", "stopped"]
        assert "told to stop, not by specdeck" in last


@pytest.mark.parametrize("name", ASKED)
def test_stopped_is_said_when_the_processes_the_port_and_the_memory_are_free(name: str) -> None:
    moments = watched(name)
    before = moments[0].row.memory_mib or 0
    at = next(moment.row.at for moment in moments if moment.server.word is Word.STOPPED)
    for moment in between(moments, at + 1.0, moments[-1].row.at):
        assert set(moment.row.processes.values()) <= {"Z"}
        assert not moment.row.listens
        assert (moment.row.memory_mib or 0) <= before + SAME_MEMORY_MIB


def test_a_hung_scheduler_is_stalled_with_its_pid_and_what_lets_it_go_on() -> None:
    """SIGSTOP at 89.3 s with two streams open: /v1/models and /metrics went on saying 200, /health took 20 s."""
    moments = watched("eagle3_v1_b")
    probes = (LIVES["eagle3_v1_b"].folder / "hang_probes.tsv").read_text()
    assert "v1/models\t200" in probes
    assert "v1/loads\ttimeout" in probes
    hung = between(moments, 90.4, 113.3)
    log = LIVES["eagle3_v1_b"].log
    assert b"Decode batch" not in log[hung[0].row.log_bytes : hung[-1].row.log_bytes]
    assert {str(moment.server.word) for moment in hung} == {"stalled"}
    assert {moment.server.requests_running for moment in hung} == {2}
    assert hung[0].server.because[0] == (
        "pid 1725 held still by a signal or a debugger (state T): `kill -CONT 1725` lets it go on"
    )


def test_orphans_of_a_killed_parent_are_named_and_what_they_log_is_no_further_step_of_its_start() -> None:
    """The parent was killed a second after its children were spawned; they loaded the model, one died of it 20 s later."""
    moments = watched("cpu_kill9_parent_spawning")
    soon, late = between(moments, 21.2, 40.0)[0].server, moments[-1].server
    assert soon.because[0] == (
        "exit 137, SIGKILL: ended without an error message in phase processes; 3 of its family still live"
    )
    assert soon.evidence.process.family == (31238, 31240, 31243)
    assert late.evidence.process.family == (31238, 31243)
    assert late.story is not None
    assert late.story.phase is not None
    assert late.story.phase.name == "processes"
