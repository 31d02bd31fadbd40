"""The one word of a server that spans several hosts, and its one row."""

import pytest

from specdeck.config.objects import Fleet, Group, Host, Server
from specdeck.state.events import HostConnected, PortSeen, ProcessSeen, RunFound
from specdeck.state.groups import group_word, memory_of_group
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, PortWitness, ProcessWitness, RankWitness, RunIdentity, Word


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((Word.READY, Word.READY), Word.READY),
        ((Word.STARTING, Word.READY), Word.STARTING),
        ((Word.READY, Word.CRASHED), Word.CRASHED),
        ((Word.STOPPED, Word.STOPPED), Word.STOPPED),
        ((Word.STOPPED, Word.CRASHED), Word.CRASHED),
        ((Word.STOPPED, Word.STOPPING), Word.STOPPING),
        ((Word.STOPPED, Word.READY), Word.UNHEALTHY),
        ((Word.STARTING, Word.STOPPED), Word.UNHEALTHY),
        ((Word.READY, Word.UNREACHABLE), Word.UNREACHABLE),
        ((Word.READY, Word.UNKNOWN), Word.UNKNOWN),
        ((Word.STOPPED, Word.UNKNOWN), Word.UNKNOWN),
        ((Word.BLOCKED, Word.STOPPED), Word.BLOCKED),
    ],
)
def test_the_worst_rank_gives_the_word(words: tuple[Word, ...], expected: Word) -> None:
    assert group_word(words) == expected
    assert group_word(reversed(words)) == expected


def test_half_a_group_in_the_middle_of_an_act_is_starting() -> None:
    assert group_word((Word.STARTING, Word.STOPPED), is_acted_on=True) == Word.STARTING


def test_memory_is_the_sum_of_what_is_known() -> None:
    ranks = (RankWitness(1, "lab2", Word.READY, "", 30), RankWitness(2, "lab3", Word.READY, "", None))
    assert memory_of_group(12, ranks) == 42
    assert memory_of_group(None, ranks[1:]) is None


def _group() -> FleetState:
    """Two hosts that answer, with rank 0 and 1 of kimi, both of which run since 100."""
    hosts = ("lab", "lab2")
    servers = [
        Server(f"kimi{'.1' * rank}", host, "m", 30000, group=Group("kimi", rank, hosts, "lab"))
        for rank, host in enumerate(hosts)
    ]
    fleet = Fleet(tuple(Host(server.host, server.host, servers=(server,)) for server in servers), {})
    state = initial_state(fleet, 90)
    for server in servers:
        state = reduce(state, HostConnected(server.host), 95)
        run = RunIdentity("0001", 7, 70, "boot", started_at=100)
        state = reduce(state, RunFound(server.name, run), 100)
        state = reduce(state, ProcessSeen(server.name, ProcessWitness("alive", 7, (7,))), 100)
        state = reduce(state, PortSeen(server.name, PortWitness("closed")), 100)
    return state


def test_only_the_head_is_a_row_and_the_others_are_its_witnesses() -> None:
    state = _group()
    assert [server.name for server in state.servers] == ["kimi"]
    (rank,) = state.servers[0].evidence.ranks
    assert (rank.rank, rank.host, rank.word) == (1, "lab2", Word.READY)
    assert state.servers[0].word == Word.STARTING


def test_a_rank_that_crashes_is_the_group_s_crash_with_its_place() -> None:
    state = reduce(_group(), ProcessSeen("kimi.1", ProcessWitness("gone", 7, (), exit_status=1)), 130)
    (row,) = state.servers
    assert row.word == Word.CRASHED
    assert row.because[0].startswith("rank 1 on lab2: crashed, exit")
    assert [line.source for line in state.happenings if line.severity == "error"] == ["kimi.1", "kimi"]


def test_a_rank_needs_no_port_to_run() -> None:
    state = reduce(_group(), PortSeen("kimi.1", PortWitness("closed")), 130)
    rank = state.server("kimi.1")
    assert rank is not None
    assert (rank.word, rank.because[0]) == (Word.READY, "runs as rank 1")


def test_half_a_group_is_told_by_rank_and_host() -> None:
    """What runs serves nobody without the rest."""
    stopped = RunFound("kimi.1", RunIdentity("0001", 7, 70, "boot", started_at=100), stop_asked=True)
    state = reduce(_group(), stopped, 130)
    state = reduce(state, ProcessSeen("kimi.1", ProcessWitness("gone", 7, (), 0)), 130)
    head = state.servers[0]
    assert head.word is Word.UNHEALTHY
    assert head.because[0] == "rank 0 of 2 runs on lab, rank 1 on lab2 does not"
