"""The whole deck through a real sshd: lost connections, few sessions, a watcher that is killed, and no process in steady state."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import waiting
from tests.openssh import OpenSsh
from tests.services.lab import Lab, is_alive, processes_below
from tests.services.waiting import kimi, until

from specdeck.config.objects import Fleet, Host, Server
from specdeck.services import births, host_monitor
from specdeck.services.open_deck import open_deck
from specdeck.services.watching import WatchingDeck
from specdeck.state import host_events
from specdeck.state.snapshot import Word

pytestmark = pytest.mark.sshd


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter ticks."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers."""
    return Lab(tmp_path)


def fleet(lab: Lab, sshd: OpenSsh, *servers: Server) -> Fleet:
    return lab.fleet(sshd.host("lab", servers or (lab.server(),), lab.env))


def texts(deck: WatchingDeck) -> list[str]:
    return [line.text for line in deck.log_lines("kimi", 0)]


async def test_a_broken_connection_comes_back_by_itself_and_the_log_goes_on_where_it_was(
    lab: Lab, own_openssh: OpenSsh
) -> None:
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY and len(texts(deck)) == 3)
            seen = texts(deck)
            own_openssh.kill_sessions()
            await until(deck, lambda state: state.hosts[0].link == "down")
            with (lab.runs / "0001" / "log").open("a") as log:
                log.write("said while nobody listened\n")
            await until(deck, lambda state: kimi(state).word == Word.READY)
            await until(deck, lambda _: "said while nobody listened" in texts(deck))
    assert texts(deck) == [*seen, "said while nobody listened"]


async def test_a_line_that_is_silent_is_stale_by_our_own_clock_then_made_anew(
    lab: Lab, own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_events, "STALE_AFTER_SECONDS", 1.0)
    monkeypatch.setattr(host_monitor, "ANSWER_SECONDS", 3.0)
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY and len(texts(deck)) == 3)
            seen = texts(deck)
            silent = own_openssh.sessions()
            for pid in silent:
                os.kill(pid, signal.SIGSTOP)
            try:
                await until(deck, lambda state: state.hosts[0].link == "stale")
                state = await until(deck, lambda state: state.hosts[0].link == "down")
                assert "no answer from the host" in (state.hosts[0].error or "")
                await until(deck, lambda state: kimi(state).word == Word.READY)
            finally:
                for pid in silent:
                    os.kill(pid, signal.SIGCONT)
            with (lab.runs / "0001" / "log").open("a") as log:
                log.write("after the silence\n")
            await until(deck, lambda _: texts(deck)[-1] == "after the silence")
    assert texts(deck) == [*seen, "after the silence"]


async def test_a_host_that_is_away_is_tried_again_while_another_is_watched(lab: Lab, own_openssh: OpenSsh) -> None:
    away = Host("away", "gpu-a", ssh_config=own_openssh.ssh_config, env=lab.env)
    here = Host("lab", "localhost", env=lab.env, servers=(lab.server(),))
    own_openssh.stop()
    with lab.run():
        async with open_deck(Fleet((away, here), {})) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.READY and state.hosts[0].link == "down")
            assert state.hosts[0].retry_at is not None
            own_openssh.start()
            await until(deck, lambda state: state.hosts[0].link == "up")


async def test_a_refused_key_is_not_tried_again_until_the_user_asks(lab: Lab, own_openssh: OpenSsh) -> None:
    keys = own_openssh.folder / "authorized_keys"
    allowed = keys.read_text()
    keys.write_text("")
    async with open_deck(fleet(lab, own_openssh)) as deck:
        state = await until(deck, lambda state: state.hosts[0].link == "down")
        assert state.hosts[0].retry_at is None
        keys.write_text(allowed)
        await deck.refresh()
        await until(deck, lambda state: state.hosts[0].link == "up")


@pytest.mark.parametrize("sessions", ["1", "2"])
async def test_few_sessions_are_slower_but_everything_is_seen(lab: Lab, own_openssh: OpenSsh, sessions: str) -> None:
    own_openssh.reconfigure(MaxSessions=sessions)
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY, 60)
            await until(deck, lambda state: kimi(state).story and kimi(state).evidence.port.state == "ours", 60)
            plan = await asyncio.wait_for(deck.plan("stop", "kimi"), 10)
    assert plan.pid is not None
    assert not [each for each in deck.store.state.happenings if "no connection" in each.text]


WATCHER = """
import asyncio, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from specdeck.config.objects import Fleet, Host, Server
from specdeck.services.open_deck import open_deck

async def main():
    server = Server(name="kimi", host="lab", model="/m", port={port})
    host = Host("lab", "gpu-a", ssh_config=Path({config!r}), env={env!r}, servers=(server,))
    async with open_deck(Fleet((host,), {{}})) as deck:
        async for state in deck.store.changes(at_most_every_seconds=0.05):
            if state.servers[0].story:
                print("watching", flush=True)
                await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_watcher_that_is_killed_leaves_no_process_on_the_host(lab: Lab, own_openssh: OpenSsh) -> None:
    root = str(Path(__file__).parents[2])
    script = WATCHER.format(root=root, port=lab.port, config=str(own_openssh.ssh_config), env=lab.env)
    with lab.run():
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as watcher:  # noqa: ASYNC220
            try:
                assert watcher.stdout is not None
                assert await asyncio.to_thread(watcher.stdout.readline) == b"watching\n"
                ours = processes_below(own_openssh.sessions())
                assert len(ours) >= 4, "two channels, each with a shell and what it runs"
            finally:
                watcher.send_signal(signal.SIGKILL)
        await waiting.until(lambda: not any(map(is_alive, ours)), "nothing of ours is left", limit_seconds=90)


async def test_no_process_is_started_on_the_host_in_steady_state(
    lab: Lab, own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(births, "COMMAND_WORDS", "no-server-of-another-test")
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).story and kimi(state).evidence.port.state == "ours")
            await until(deck, lambda state: state.hosts[0].gpu_error)
            settled = await settled_processes(deck, own_openssh)
            seen: set[int] = set()
            for _ in range(40):
                await next_change(deck)
                seen |= processes_below(own_openssh.sessions())
    assert seen == settled


async def settled_processes(deck: WatchingDeck, sshd: OpenSsh) -> set[int]:
    """Those that are there once the first survey is over."""
    async with asyncio.timeout(90):
        known, same = processes_below(sshd.sessions()), 0
        while same < 10:
            await next_change(deck)
            now = processes_below(sshd.sessions())
            known, same = now, same + 1 if now == known else 0
    return known


async def next_change(deck: WatchingDeck) -> None:
    """At least one more answer of the host arrives."""
    before = deck.store.state
    await until(deck, lambda state: state is not before)
