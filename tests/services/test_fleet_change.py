"""A fleet file that is written while the dashboard runs: what is new is watched, what stays goes on, what left is let go."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import free_port
from tests.services.lab import Lab
from tests.services.waiting import until

from specdeck.config.objects import Fleet, Host, Profile
from specdeck.errors import ConfigError
from specdeck.services import host_monitor
from specdeck.services.fleet_change import change_of, read_again
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import FleetState, Word


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers."""
    return Lab(tmp_path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks as the deck takes them while something changes, and shorter."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)


def word(state: FleetState, name: str) -> Word | None:
    server = state.server(name)
    return server.word if server else None


async def test_a_new_server_and_a_new_host_are_watched_and_the_old_ones_go_on(lab: Lab) -> None:
    fleet = lab.local()
    kimi = lab.server()
    other = replace(kimi, name="other", port=free_port())
    far = Host("far", "localhost", env=lab.env, servers=(replace(other, name="far-one", host="far"),))
    with lab.serving() as process:
        async with open_deck(fleet) as deck:
            before = await until(deck, lambda state: (s := state.server("kimi")) and s.run and s.story)
            grown = replace(fleet.hosts[0], servers=(kimi, other))
            await deck.take(replace(fleet, hosts=(grown, far)))
            state = await until(
                deck, lambda state: word(state, "other") == Word.STOPPED and word(state, "far-one") == Word.STOPPED
            )
            known, was = state.server("kimi"), before.server("kimi")
            assert known is not None
            assert was is not None
            assert known.run is not None
            assert (known.run.pid, state.host("lab").connected_at) == (process.pid, before.host("lab").connected_at)  # type: ignore[union-attr]
            assert len(deck.log_lines("kimi", 0)) >= 1
            assert [server.name for server in state.servers] == ["kimi", "other", "far-one"]
            plan = await deck.plan("stop", "kimi")
            assert plan.pid == process.pid


async def test_a_host_that_left_is_let_go_and_one_that_is_otherwise_begins_anew(lab: Lab) -> None:
    fleet = lab.local()
    second = Host(
        "second",
        "localhost",
        env=lab.env,
        servers=(replace(lab.server(), name="two", host="second", port=free_port()),),
    )
    async with open_deck(replace(fleet, hosts=(*fleet.hosts, second))) as deck:
        await until(deck, lambda state: word(state, "two") == Word.STOPPED)
        moved = replace(lab.server(), port=free_port())
        await deck.take(replace(fleet, hosts=(replace(fleet.hosts[0], servers=(moved,)),)))
        state = await until(deck, lambda state: word(state, "kimi") == Word.STOPPED)
        assert [(server.name, server.port) for server in state.servers] == [("kimi", moved.port)]
        assert [host.name for host in state.hosts] == ["lab"]
        await deck.refresh()


async def test_a_found_server_that_was_adopted_is_the_one_of_the_file(lab: Lab) -> None:
    host = Host("lab", "localhost", env=lab.env)
    with lab.serving() as process:
        async with open_deck(Fleet((host,), {"baseline": Profile("baseline", "sglang")})) as deck:
            await until(deck, lambda state: [s for s in state.servers if s.port == lab.port and s.run])
            seen = next(each for each in deck.strangers if each.server.port == lab.port)
            named = replace(seen.server, name="mine", profiles=("baseline",))
            await deck.take(replace(deck.fleet, hosts=(replace(host, servers=(named,)),)))
            state = await until(deck, lambda state: (s := state.server("mine")) and s.run)
            server = state.server("mine")
            assert server is not None
            assert server.run is not None
            assert server.run.pid == process.pid
            assert [each for each in state.servers if each.port == lab.port] == [server]


def test_only_what_is_otherwise_is_touched() -> None:
    a, b = Host("a", "a", servers=()), Host("b", "b")
    old = Fleet((a, b), {})
    assert change_of(old, old, old).begun == ()
    moved = change_of(old, Fleet((a, replace(b, ssh="c")), {}), old)
    assert (moved.ended, [host.name for host in moved.begun], moved.joined) == (("b",), ["b"], ())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A fleet of two hosts."""
    file = tmp_path / "fleet.yaml"
    file.write_text("hosts:\n  a: {ssh: a}\n  b: {ssh: b}\n")
    return file


def fleet_of(*names: str) -> Fleet:
    return Fleet(tuple(Host(name, name) for name in names), {})


@pytest.mark.parametrize(
    ("shown", "before", "after"),
    [
        (("a",), ("a",), ["a", "b"]),
        (("a",), ("a", "b"), ["a"]),
        (("a", "adhoc"), ("a",), ["a", "b", "adhoc"]),
        (("b",), (), ["a", "b"]),
    ],
)
def test_a_dashboard_of_some_hosts_gets_only_those_that_are_new(
    path: Path, shown: tuple[str, ...], before: tuple[str, ...], after: list[str]
) -> None:
    assert [host.name for host in read_again(path, fleet_of(*shown), fleet_of(*before)).hosts] == after


def test_without_a_file_the_profiles_are_read_and_the_hosts_stay(path: Path) -> None:
    path.unlink()
    fleet = read_again(path, fleet_of("adhoc"), None)
    assert [host.name for host in fleet.hosts] == ["adhoc"]
    assert "baseline" in fleet.profiles


def test_a_file_with_problems_is_told_by_its_places(path: Path) -> None:
    path.write_text("hosts:\n  a: {shs: a}\n")
    with pytest.raises(ConfigError, match=r"fleet.yaml:2:7: hosts.a.shs: unknown key, did you mean ssh\?"):
        read_again(path, fleet_of("a"), None)
