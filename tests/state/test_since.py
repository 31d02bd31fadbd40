"""Since when a word holds: only a change that was seen has a time, a start has that of its run, and the first look has none."""

from dataclasses import replace

from specdeck.cli.state_words import since
from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.state.events import (
    Event,
    HealthAnswered,
    HostConnected,
    HostLost,
    LogAdvanced,
    PortSeen,
    ProcessSeen,
    RunFound,
    Ticked,
)
from specdeck.state.initial import initial_state
from specdeck.state.log_story import LogStory, Phase
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import (
    FleetState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
    Word,
)
from specdeck.ui.drawing.hero import big_word
from specdeck.ui.drawing.state_words import word_for

FLEET = Fleet(
    (Host("lab", "lab", servers=(Server("kimi", "lab", "/m", 30000, profiles=("p",)),)),), {"p": Profile("p", "sglang")}
)
HOURS_OLD = RunIdentity("0042", 41233, 777, "boot-1", started_at=1_000_000.0 - 11_520)
ALIVE = ProcessWitness("alive", 41233, (41233,))
LOADING = LogStory("sglang", phase=Phase("weights", 5, 11))
READY = LogStory("sglang", word="ready", has_ready_line=True)
NOW = 1_000_000.0


def played(*steps: tuple[float, Event], state: FleetState | None = None) -> FleetState:
    state = initial_state(FLEET, NOW) if state is None else state
    for seconds, event in steps:
        state = reduce(state, event, NOW + seconds)
    return state


def kimi(state: FleetState) -> ServerState:
    server = state.server("kimi")
    assert server is not None
    return server


def first_look(run: RunIdentity) -> FleetState:
    """Evidence arrives piece by piece, as it does: the log before the port, health last."""
    return played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", run)),
        (0.1, ProcessSeen("kimi", ALIVE)),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
        (0.5, LogAdvanced("kimi", READY)),
        (1.5, PortSeen("kimi", PortWitness("ours", 41233))),
        (3.0, HealthAnswered("kimi", HttpWitness("ok", 200, 1.0))),
    )


def test_a_server_that_was_ready_before_anybody_looked_has_no_time_but_the_age_of_its_run() -> None:
    server = kimi(first_look(HOURS_OLD))
    assert (server.word, server.since) == (Word.READY, None)
    assert word_for(server, NOW + 4) == "ready, run 3h12"
    assert big_word(server, NOW + 4) == "READY, run 3h12"
    assert since(server, NOW + 4) == "run 3h12m"


def test_on_a_slow_host_a_ready_server_is_not_called_starting_until_somebody_asked_it() -> None:
    steps: list[tuple[float, Event]] = [
        (0, HostConnected("lab")),
        (14, RunFound("kimi", HOURS_OLD)),
        (14, ProcessSeen("kimi", ALIVE)),
        (15, PortSeen("kimi", PortWitness("ours", 41233))),
        (22, LogAdvanced("kimi", READY)),
        (30, HealthAnswered("kimi", HttpWitness("ok", 200, 4.0))),
    ]
    states = [played(*steps[:number]) for number in range(1, 7)]
    assert [kimi(state).word for state in states] == [*[Word.UNKNOWN] * 5, Word.READY]
    assert (kimi(states[-1]).since, states[-1].alerts.told) == (None, 0)
    assert [line.text for line in states[-1].happenings] == ["found ready"]


def test_a_start_that_is_watched_is_one_before_its_log_its_port_and_its_health_tell_anything() -> None:
    state = played(
        (60, RunFound("kimi", replace(HOURS_OLD, run="0043", pid=50_000, started_at=NOW + 60))),
        (60, ProcessSeen("kimi", replace(ALIVE, pid=50_000, family=(50_000,)))),
        state=first_look(HOURS_OLD),
    )
    assert (kimi(state).evidence.port.state, kimi(state).word) == ("unknown", Word.STARTING)


def test_where_the_age_of_the_run_is_unknown_too_only_the_word_is_shown() -> None:
    server = kimi(first_look(replace(HOURS_OLD, started_at=None)))
    assert (word_for(server, NOW + 4), since(server, NOW + 4)) == ("ready", "-")


def test_a_run_of_others_found_by_the_first_survey_did_not_just_start() -> None:
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", None)),
        (0.1, ProcessSeen("kimi", ProcessWitness("none"))),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
        (2, RunFound("kimi", replace(HOURS_OLD, run="", started_at=None))),
        (2, ProcessSeen("kimi", ALIVE)),
        (2, LogAdvanced("kimi", LOADING)),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.STARTING, None)
    assert [line.text for line in state.happenings] == []


def test_a_start_found_in_the_middle_counts_from_its_run() -> None:
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", replace(HOURS_OLD, started_at=NOW - 40))),
        (0.1, ProcessSeen("kimi", ALIVE)),
        (0.5, LogAdvanced("kimi", LOADING)),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.STARTING, NOW - 40)


def test_a_change_that_was_seen_later_has_its_time() -> None:
    state = played(
        (60, HealthAnswered("kimi", HttpWitness("unavailable", 503, 20.0))),
        (100, HealthAnswered("kimi", HttpWitness("ok", 200, 1.0))),
        state=first_look(HOURS_OLD),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.READY, NOW + 100)
    assert word_for(kimi(state), NOW + 102) == "ready 2s"


def test_a_start_that_comes_to_its_end_in_sight_is_news_also_right_after_the_first_look() -> None:
    """As in the demo: opened seconds before the server was ready."""
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", HOURS_OLD)),
        (0.1, ProcessSeen("kimi", ALIVE)),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
        (0.5, LogAdvanced("kimi", LOADING)),
        (1, Ticked()),
        (6, LogAdvanced("kimi", READY)),
        (6.1, PortSeen("kimi", PortWitness("ours", 41233))),
        (7, HealthAnswered("kimi", HttpWitness("ok", 200, 1.0))),
        (8, Ticked()),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.READY, NOW + 7)
    assert [(alert.subject, alert.kind) for alert in state.alerts.recent] == [("kimi", "ready")]


def test_a_run_that_begins_in_sight_has_times_at_once() -> None:
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", None)),
        (0.1, ProcessSeen("kimi", ProcessWitness("none"))),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
        (3, RunFound("kimi", replace(HOURS_OLD, started_at=NOW + 2))),
        (3, ProcessSeen("kimi", ALIVE)),
        (3, LogAdvanced("kimi", LOADING)),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.STARTING, NOW + 2)
    state = played((5, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 1))), state=state)
    assert (kimi(state).word, kimi(state).since) == (Word.CRASHED, NOW + 5)


def test_a_start_that_was_watched_goes_on_until_its_health_was_asked_for() -> None:
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", None)),
        (0.1, ProcessSeen("kimi", ProcessWitness("none"))),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
        (3, RunFound("kimi", replace(HOURS_OLD, started_at=NOW + 2))),
        (3, ProcessSeen("kimi", ALIVE)),
        (3, LogAdvanced("kimi", LOADING)),
    )
    state = played((60, LogAdvanced("kimi", READY)), (60.1, PortSeen("kimi", PortWitness("ours", 41233))), state=state)
    assert (kimi(state).word, kimi(state).since) == (Word.STARTING, NOW + 2)
    assert kimi(state).because[0] == "the log says ready; port and health do not confirm it yet"
    state = played((60.4, HealthAnswered("kimi", HttpWitness("ok", 200, 0.1))), state=state)
    assert (kimi(state).word, kimi(state).since) == (Word.READY, NOW + 60.4)


def test_what_changed_while_the_host_was_away_was_not_seen() -> None:
    state = played(
        (60, HostLost("lab", "timed out", 4.0)),
        (100, HostConnected("lab")),
        (101, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 1))),
        state=first_look(HOURS_OLD),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.CRASHED, None)
    assert word_for(kimi(state), NOW + 102) == "crashed"


def test_an_end_that_its_wrapper_wrote_down_has_a_time_although_nobody_looked() -> None:
    ended = ProcessWitness("gone", 41233, (), 1, ended_at=NOW - 720)
    state = played(
        (0, HostConnected("lab")),
        (0.1, RunFound("kimi", HOURS_OLD)),
        (0.1, ProcessSeen("kimi", ended)),
        (0.1, PortSeen("kimi", PortWitness("closed"))),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.CRASHED, NOW - 720)
    assert word_for(kimi(state), NOW + 0.5) == "crashed, 12m ago"
    assert since(kimi(state), NOW + 0.5) == "12m00s"


def test_an_end_that_was_seen_has_the_time_at_which_it_was_seen() -> None:
    state = played(
        (100, ProcessSeen("kimi", ProcessWitness("gone", 41233, (), 1, ended_at=NOW + 99))),
        state=first_look(HOURS_OLD),
    )
    assert (kimi(state).word, kimi(state).since) == (Word.CRASHED, NOW + 100)
