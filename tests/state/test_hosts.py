"""Facts about a host that decide no server's word: its login, who else watches, spans of time in its sentences."""

import pytest

from specdeck.config.objects import Fleet, Host
from specdeck.state.durations import span
from specdeck.state.events import Event, GpusUnavailable, HostConnected, HostLost, LoginAsked, Ticked, WatchersSeen
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
        (9.0, HostConnected("lab")),
        (10.0, WatchersSeen("lab", (ANN,))),
        (11.0, WatchersSeen("lab", (ANN, BOB))),
        (11.5, Ticked()),
        (12.0, Ticked()),
        (13.0, Ticked()),
        (14.0, WatchersSeen("lab", (BOB,))),
    )
    assert host.watchers == (BOB,)
    assert [(line.at, line.text) for line in state.happenings if "@" in line.text] == [
        (10.0, "ann@laptop watches too"),
        (12.0, "bob@desk (read-only) watches too"),
        (14.0, "ann@laptop left"),
    ]


def test_who_looks_for_a_moment_is_no_line_though_it_is_shown_meanwhile() -> None:
    came = (1.0, HostConnected("lab")), (6.0, WatchersSeen("lab", (ANN,))), (9.0, Ticked())
    host, _ = played(*came)
    assert host.watchers == (ANN,)
    gone, state = played(*came, (9.5, WatchersSeen("lab", ())), (30.0, Ticked()))
    assert gone.watchers == ()
    assert not [line for line in state.happenings if "ann" in line.text]


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
