"""A server that spans two hosts: launched, watched and stopped as one, with real processes."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services import way
from tests.services.bench import is_alive
from tests.services.group_bench import Pair, end_all, make_pair
from tests.services.waiting import kimi, until

from specdeck.cli.server_words import Wanted
from specdeck.cli.state_json import fleet_json
from specdeck.cli.verbs.acts import Wish, _act
from specdeck.errors import Refused
from specdeck.services import group_watch, host_monitor
from specdeck.services.group_steps import Progress, new_group_act, see_through, words_to_give
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import Word
from specdeck.transport.connect import transport_for


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks as the deck takes them while something changes, and shorter."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)
    monkeypatch.setattr(group_watch, "LOOK_SECONDS", 0.1)


async def opened(pair: Pair) -> AsyncIterator[Pair]:
    for host in pair.fleet.hosts:
        pair.transports[host.name] = transport_for(host)
        await pair.transports[host.name].connect()
    yield pair
    for transport in pair.transports.values():
        await transport.close()
    end_all(pair)


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    """Two hosts on this machine."""
    async for each in opened(make_pair(tmp_path, (way.host("lab"), way.host("lab2")))):
        yield each


@pytest.fixture
async def ssh_pair(tmp_path: Path, openssh: OpenSsh, own_openssh: OpenSsh) -> AsyncIterator[Pair]:
    """Two hosts, each behind an OpenSSH server of its own."""
    async for each in opened(make_pair(tmp_path, (openssh.host(name="lab"), own_openssh.host(name="lab2")))):
        yield each


@pytest.mark.sshd
async def test_a_group_is_launched_and_stopped_as_one_over_two_openssh_servers(ssh_pair: Pair) -> None:
    steps = await ssh_pair.do("launch")
    assert [step for step in steps if step[1] == "launched"] == [(0, "launched"), (1, "launched")]
    assert [step for step in steps if step[1] == "done"] == [(0, "done"), (1, "done")]
    await ssh_pair.until_all_listen()
    for rank in (0, 1):
        words = ssh_pair.argv(rank)
        assert words[words.index("--nnodes") + 1] == "2"
        assert words[words.index("--node-rank") + 1] == str(rank)
        assert words[words.index("--dist-init-addr") + 1] == "head.example:5000"
    await ssh_pair.do("stop")
    assert [ssh_pair.holders(rank) for rank in (0, 1)] == [[], []]
    assert not is_alive(ssh_pair.pid(0))
    assert not is_alive(ssh_pair.pid(1))


async def test_no_rank_is_launched_before_all_are_gone(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    old = [*pair.holders(0), *pair.holders(1), pair.pid(0), pair.pid(1)]
    steps = await pair.do("pivot")
    names = [name for _, name in steps]
    assert names.count("free") == 2
    assert max(at for at, name in enumerate(names) if name == "memory-back") < names.index("launched")
    assert [rank for rank, name in steps if name == "launched"] == [0, 1]
    assert not any(map(is_alive, old))
    assert [(pair.runs(rank) / "0002" / "profile").read_text() for rank in (0, 1)] == ["two\n", "two\n"]


async def test_a_node_that_fails_its_check_leaves_all_nodes_as_they_are(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    (pair.trees[1].folder / "model").rmdir()
    plan = await pair.launcher.plan("pivot", "kimi")
    failed = [check for check in plan.checks if check.state == "failed"]
    assert [check.name.partition(":")[0] for check in failed] == ["lab2"]
    with pytest.raises(Refused):
        await pair.launcher.perform(plan)
    assert is_alive(pair.pid(0))
    assert is_alive(pair.pid(1))
    assert not (pair.runs(0) / "0002").exists()


async def test_a_node_that_refuses_when_asked_leaves_the_others_untouched(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    plan = await pair.launcher.plan("relaunch", "kimi")
    stale = replace(plan, nodes=(plan.nodes[0], replace(plan.nodes[1], start_time=1)))
    with pytest.raises(Refused, match="has changed"):
        await pair.launcher.perform(stale)
    async with asyncio.timeout(90):
        while (await pair.look(0)).journal.is_actor_alive:
            pass
    last = (await pair.look(0)).journal.steps[-1]
    assert last.name == "failed"
    assert last.detail.startswith("nothing was touched: lab2 did not take it")
    assert is_alive(pair.pid(0))
    assert is_alive(pair.pid(1))


async def test_a_pivot_whose_asker_died_is_finished_by_the_next_dashboard(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    plan = await pair.launcher.plan("pivot", "kimi")
    await pair.launcher.perform(plan)  # and nobody sees it through
    assert is_alive(pair.pid(0))
    async with open_deck(pair.fleet) as deck:
        await until(deck, lambda _: all((pair.runs(rank) / "0002" / "pid").exists() for rank in (0, 1)))
        await until(deck, lambda state: kimi(state).word == Word.READY)
    assert not is_alive(pair.pid(0))
    assert not is_alive(pair.pid(1))


async def test_an_asker_that_dies_after_the_first_rank_is_free_is_replaced_by_any_other(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    plan = await pair.launcher.plan("relaunch", "kimi")
    await pair.launcher.perform(plan)
    group_act = plan.nodes[0].group_act or ""
    members = [pair.member(0), pair.member(1)]
    async for each in see_through(pair.transports, members, group_act):
        if each.step.name == "free":
            break
    assert not (pair.runs(0) / "0002" / "pid").exists()
    async with asyncio.timeout(90):
        last = {each.server.name: each.step.name async for each in see_through(pair.transports, members, group_act)}
    assert last == {"kimi": "done", "kimi.1": "done"}
    assert [len(list(pair.runs(rank).glob("[0-9]*"))) for rank in (0, 1)] == [2, 2]


async def test_the_command_line_tells_each_step_with_its_host_and_rank(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        await _act(
            Wanted(pair.fleet, "lab", "kimi", is_known=True), Wish("launch", "kimi", is_agreed=True, as_json=True)
        )
        == 0
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["host"] == "lab, lab2"
    launched = [line for line in lines if line.get("step") == "launched"]
    assert [(each["server"], each["host"], each["rank"]) for each in launched] == [
        ("kimi", "lab", 0),
        ("kimi.1", "lab2", 1),
    ]


async def test_one_row_tells_the_whole_and_names_the_ranks(pair: Pair) -> None:
    await pair.do("launch")
    async with open_deck(pair.fleet, read_only=True) as deck:
        state = await until(deck, lambda state: kimi(state).word == Word.READY)
        assert [each.name for each in state.servers] == ["kimi"]
        (told,) = json.loads(json.dumps(fleet_json(state, state.at)))["servers"]
        assert [(each["rank"], each["host"], each["state"]) for each in told["nodes"]] == [(1, "lab2", "ready")]
        os.kill(pair.pid(1), signal.SIGKILL)
        state = await until(deck, lambda state: kimi(state).word == Word.CRASHED)
        (row,) = state.servers
        assert row.because[0].startswith("rank 1 on lab2: crashed")
    assert is_alive(pair.pid(0))  # a dashboard that may not act does not


async def test_one_dead_rank_stops_the_others_with_the_reason_in_the_journal(pair: Pair) -> None:
    await pair.do("launch")
    async with open_deck(pair.fleet) as deck:
        await until(deck, lambda state: kimi(state).word == Word.READY)
        os.kill(pair.pid(1), signal.SIGKILL)
        await until(deck, lambda _: not is_alive(pair.pid(0)))
        await until(deck, lambda state: all(each.act and each.act.is_over for each in state.everyone))
    told = {step.name: step.detail for step in (await pair.look(0)).journal.steps}
    assert told["because"].startswith("rank 1 on lab2 has ended")
    assert pair.holders(0) == []


async def test_half_a_group_is_named_and_finished_by_the_same_key(pair: Pair) -> None:
    await pair.do("launch")
    await pair.until_all_listen()
    head = replace(pair.fleet.hosts[0], servers=(replace(pair.member(0), group=None),))
    alone = replace(pair, fleet=replace(pair.fleet, hosts=(head,)))
    await alone.do("stop")
    async with open_deck(pair.fleet, read_only=True) as deck:
        state = await until(deck, lambda state: kimi(state).word == Word.UNHEALTHY)
        (row,) = state.servers
        assert row.because[0] == "rank 1 of 2 runs on lab2, rank 0 on lab does not"
    with pytest.raises(Refused, match=r"rank 1 of 2 on lab2: kimi.1 runs already"):
        await pair.launcher.plan("launch", "kimi")
    old = pair.pid(1)
    await pair.do("relaunch")
    assert not is_alive(old)
    assert is_alive(pair.pid(0, "0002"))
    assert is_alive(pair.pid(1, "0002"))


def test_words_are_given_only_when_all_are_as_far() -> None:
    locked, free, launched = ("asked", "locked"), ("asked", "locked", "free"), ("asked", "locked", "free", "launched")

    def words(*steps: tuple[str, ...], ranks: int = 2) -> dict[int, str]:
        return words_to_give([Progress(rank, f"host{rank}", each) for rank, each in enumerate(steps)], ranks)

    assert words(locked, ()) == {}
    assert words(locked, locked) == {0: "begin", 1: "begin"}
    assert words((*locked, "term"), locked) == {1: "begin"}
    assert words(free, (*locked, "term")) == {}
    assert words(free, free) == {0: "launch"}
    assert words(launched, free) == {1: "launch"}
    assert words(launched, launched) == {}
    assert words(locked, ranks=1) == {0: "begin"}


def test_a_rank_that_failed_stops_the_rest_where_they_are() -> None:
    failed = Progress(1, "lab2", ("asked", "locked", "blocked"), is_over=True, is_failed=True, why="port 5 is in use")
    assert words_to_give([Progress(0, "lab", ("asked", "locked", "free")), failed], 2) == {
        0: "no rank 1 on lab2: port 5 is in use"
    }


def test_the_name_of_a_common_act_tells_how_many_take_part() -> None:
    assert new_group_act("kimi", 2).startswith("kimi-")
    assert new_group_act("kimi", 2).endswith("-2")
