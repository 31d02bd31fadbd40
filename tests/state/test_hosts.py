"""Facts about a host that decide no server's word: its login, who else watches, spans of time in its sentences."""

import pytest

from specdeck.config.objects import Fleet, Host
from specdeck.state.durations import span
from specdeck.state.events import Event, GpusUnavailable, HostConnected, HostLost, LoginAsked, WatchersSeen
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, HostState, Question, Watcher

FLEET = Fleet((Host("lab", "root@lab"),), {})
ANN, BOB = Watcher("ann@laptop", 5.0, is_read_only=False), Watcher("bob@desk", 7.0, is_read_only=True)


def played(*steps: tuple[float, Event]) -> tuple[HostState, FleetState]:
    state = initial_state(FLEET, 0.0)
    for at, event in steps:
        state = reduce(state, event, at)
    return state.hosts[0], state


def test_a_login_that_asks_is_a_line_and_stands_beside_the_host_until_it_is_answered() -> None:
    question = Question("password", "root@lab", "password of root@lab")
    host, state = played((1.0, LoginAsked("lab", question)))
    assert host.question is question
    assert [(line.text, line.severity) for line in state.happenings] == [
        ("the login asks: password of root@lab", "warning")
    ]
    answered, state = played((1.0, LoginAsked("lab", question)), (2.0, LoginAsked("lab", None)))
    assert answered.question is None
    assert len(state.happenings) == 1


def test_who_comes_and_who_leaves_is_a_line() -> None:
    host, state = played(
        (1.0, WatchersSeen("lab", (ANN,))), (2.0, WatchersSeen("lab", (ANN, BOB))), (3.0, WatchersSeen("lab", (BOB,)))
    )
    assert host.watchers == (BOB,)
    assert [line.text for line in state.happenings] == [
        "ann@laptop watches too",
        "bob@desk (read-only) watches too",
        "ann@laptop left",
    ]


@pytest.mark.parametrize(
    "event",
    [
        LoginAsked("nowhere", None),
        WatchersSeen("nowhere", (ANN,)),
        HostConnected("nowhere"),
        HostLost("nowhere", "timed out", None),
        GpusUnavailable("nowhere", "no nvidia-smi"),
    ],
)
def test_a_fact_about_a_host_that_nobody_knows_changes_nothing(event: Event) -> None:
    host, state = played((1.0, event))
    assert host.link == "connecting"
    assert state.happenings == ()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (0.34, "0.3 s"),
        (3.0, "3 s"),
        (51.4, "51 s"),
        (110.0, "1m50s"),
        (7500.0, "2h05m"),
        (266_400.0, "3d02h"),
        (-5.0, "0 s"),
    ],
)
def test_a_span_is_told_in_two_units_at_most(seconds: float, words: str) -> None:
    assert span(seconds) == words
