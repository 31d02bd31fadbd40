"""Faults of the network, really made between the whole deck and a real sshd: what the user sees, and what is left behind."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.lab import Lab, is_alive, processes_below
from tests.services.test_deck_over_ssh import fleet, texts
from tests.services.waiting import kimi, until
from tests.transport.relay import Relay, running_relay
from tests.transport.test_half_open import go_through

from specdeck.services import back_off, host_monitor
from specdeck.services.open_deck import open_deck
from specdeck.services.watching import WatchingDeck
from specdeck.state import host_events
from specdeck.state.snapshot import Word

pytestmark = pytest.mark.sshd
LOG_SECONDS = 0.03


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything ten times as fast as it is."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "ANSWER_SECONDS", 2.0)
    monkeypatch.setattr(host_events, "STALE_AFTER_SECONDS", 0.6)
    monkeypatch.setattr("specdeck.transport.login.KEEPALIVE_SECONDS", 0.5)
    monkeypatch.setattr(back_off.BackOff, "next_seconds", lambda self: 0.1)


@dataclass
class Clock:
    """The machine's clock, which may jump."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Watched:
    """A deck that watches a server through a relay, while the server's log grows all the time."""

    deck: WatchingDeck
    relay: Relay
    lab: Lab
    sshd: OpenSsh
    clock: Clock
    seen: set[int] = field(default_factory=set)
    written: list[str] = field(default_factory=list)

    async def until_link(self, link: str) -> str:
        """Wait for the host's link; why it is so."""
        return (await until(self.deck, lambda state: state.hosts[0].link == link, 15)).hosts[0].error or ""

    async def until_ready(self) -> None:
        """Live, with the server's word."""
        await until(self.deck, lambda state: state.hosts[0].link == "up" and kimi(state).word == Word.READY, 15)

    async def until_one_set(self) -> None:
        """Wait until the host runs one monitor and one tail of ours, and every process recorded before is gone."""
        end = time.monotonic() + 20
        while True:
            now = processes_below(self.sshd.sessions())
            left = [f"{pid} {_role(pid)}" for pid in self.seen if is_alive(pid)]
            roles = sorted(_role(pid) for pid in now if _role(pid) != "sh")
            if not left and roles == ["cat", "cat", "tail"]:
                self.seen = now
                return
            assert time.monotonic() < end, f"left of before: {left}; there now: {roles}"
            await asyncio.sleep(0.1)  # each look goes through all processes of the machine

    async def until_log_is_whole(self) -> None:
        """Everything that was written so far is there, in order, once."""
        expected = list(self.written)
        await until(self.deck, lambda _: expected[-1] in texts(self.deck))
        assert [text for text in texts(self.deck) if text in set(expected)] == expected

    async def write_log(self, path: Path) -> None:
        """A line now and then, for ever."""
        while True:
            self.written.append(f"line {len(self.written)} of a log that nobody may lose")
            with path.open("a") as log:
                log.write(f"{self.written[-1]}\n")
            await asyncio.sleep(LOG_SECONDS)


def _role(pid: int) -> str:
    """`sh`, `tail`, and `cat`, which waits in each channel for the end of the connection."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "gone"


@asynccontextmanager
async def watched(tmp_path: Path, sshd: OpenSsh) -> AsyncIterator[Watched]:
    """Live, with its log read."""
    lab, clock = Lab(tmp_path), Clock()
    async with running_relay(sshd.port) as relay:
        go_through(sshd, relay.port)
        with lab.run():
            async with open_deck(fleet(lab, sshd), clock=clock) as deck:
                deck.look_at("kimi")
                it = Watched(deck, relay, lab, sshd, clock)
                writing = asyncio.create_task(it.write_log(lab.runs / "0001" / "log"))
                try:
                    await it.until_ready()
                    await it.until_one_set()
                    await it.until_log_is_whole()  # so the tail is heard, and its processes are known
                    yield it
                finally:
                    writing.cancel()
                    await asyncio.wait([writing])


async def test_a_line_that_swallows_everything_is_stale_then_down_then_live_again(
    tmp_path: Path, own_openssh: OpenSsh
) -> None:
    async with watched(tmp_path, own_openssh) as it:
        it.relay.swallow()
        await it.until_link("stale")
        assert kimi(it.deck.store.state).last_word == Word.READY, "its last word stays, to be shown dimmed"
        reason = await it.until_link("down")
        assert "no answer from the host" in reason or "keepalive" in reason.lower()
        await it.until_ready()
        await it.until_one_set()
        await it.until_log_is_whole()


async def test_a_line_that_freezes_for_a_moment_goes_on_without_a_new_login(
    tmp_path: Path, own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_monitor, "ANSWER_SECONDS", 20.0)
    monkeypatch.setattr("specdeck.transport.login.KEEPALIVE_SECONDS", 10.0)
    async with watched(tmp_path, own_openssh) as it:
        tails = [pid for pid in it.seen if _role(pid) == "tail"]
        it.relay.freeze()
        await it.until_link("stale")
        it.relay.thaw()
        await it.until_ready()
        await it.until_log_is_whole()
        assert it.relay.connections == 1
        assert tails
        assert all(map(is_alive, tails))


async def test_three_cuts_leave_one_set_of_processes_and_a_whole_log(tmp_path: Path, own_openssh: OpenSsh) -> None:
    async with watched(tmp_path, own_openssh) as it:
        for number in range(3):
            it.relay.cut()
            await it.until_link("down")
            await it.until_ready()
            await it.until_one_set()
            await it.until_log_is_whole()
            assert it.relay.connections >= number + 2


async def test_sshd_that_restarts_is_found_again(tmp_path: Path, own_openssh: OpenSsh) -> None:
    async with watched(tmp_path, own_openssh) as it:
        own_openssh.restart()
        await it.until_ready()
        await it.until_one_set()
        await it.until_log_is_whole()


async def test_a_slow_line_is_slow_and_nothing_else(
    tmp_path: Path, own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_events, "STALE_AFTER_SECONDS", 6.0)
    async with watched(tmp_path, own_openssh) as it:
        it.relay.delay_seconds = 0.15
        await it.until_log_is_whole()
        await it.until_log_is_whole()
        assert [host.link for host in it.deck.store.state.hosts] == ["up"]
        assert it.relay.connections == 1


async def test_a_night_without_network_is_one_line_with_its_length(tmp_path: Path, own_openssh: OpenSsh) -> None:
    async with watched(tmp_path, own_openssh) as it:
        it.relay.is_gone = True
        it.relay.cut()
        await it.until_link("down")
        it.clock.ahead = 8 * 3600
        it.relay.is_gone = False
        await it.until_ready()
        await it.until_log_is_whole()
        state = it.deck.store.state
        lines = [each.text for each in state.happenings if each.source == "lab"]
        assert any(line.startswith("connection is back after 8h00m") for line in lines)
        rate = kimi(state).throughput
        assert rate is None or rate.at > state.at - 60, "no rate since yesterday"
