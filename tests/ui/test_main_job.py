"""The main job by keys alone: launch, load, serve, pivot, stop, through a real OpenSSH server, with real processes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.pictures.scenes import Typist
from textual.pilot import Pilot

from specdeck.config.fleet import load_fleet
from specdeck.demo.host import DemoHost
from specdeck.demo.traffic import Traffic
from specdeck.services import host_monitor
from specdeck.services.deck import Deck
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import ServerState, Word
from specdeck.ui.app import SpecdeckApp

pytestmark = pytest.mark.sshd


def is_alive(pid: int) -> bool:
    """There is such a process and it is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def shown(app: SpecdeckApp) -> str:
    """The whole screen as text, as the terminal would have it."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


class Player:
    """Somebody at the keys, who looks at the screen and at what the deck knows."""

    def __init__(self, deck: Deck, app: SpecdeckApp, pilot: Pilot[None]) -> None:
        self.deck = deck
        self.app = app
        self.pilot = pilot

    @property
    def kimi(self) -> ServerState:
        server = self.deck.store.state.server("kimi")
        assert server is not None
        return server

    async def until(self, is_so: Callable[[ServerState], object], what: str, seconds: float = 40) -> ServerState:
        """Wait until the state is so."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in self.deck.store.changes(at_most_every_seconds=0.01):
                    if is_so(self.kimi):
                        return self.kimi
        except TimeoutError:
            pytest.fail(
                f"not within {seconds} s: {what}; it is {self.kimi.word}: {self.kimi.because}\n{shown(self.app)}"
            )
        raise AssertionError

    async def until_shown(self, text: str, seconds: float = 20) -> str:
        """Wait until the screen has a text."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while text not in shown(self.app):
                    await self.pilot.pause()
        screen = shown(self.app)
        assert text in screen, screen
        return screen


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter ticks."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.2)


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    """The demo host's tree and processes; its own SSH server is not used here."""
    async with DemoHost(speed=120) as host:
        yield host


async def test_launch_load_serve_pivot_and_stop_by_keys_over_openssh(openssh: OpenSsh, demo: DemoHost) -> None:
    fleet = load_fleet(demo.fleet_path)
    kimi = replace(fleet.hosts[0].servers[0], host="lab")
    host = replace(openssh.host(name="lab"), env=demo.environment(), servers=(kimi,))
    async with open_deck(replace(fleet, hosts=(host,))) as deck, Traffic((kimi.port,), 6):
        app = SpecdeckApp(deck, key_time=Typist())
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            player = Player(deck, app, pilot)
            await player.until(lambda server: server.word is Word.STOPPED, "nothing runs yet")
            await player.until_shown("STOPPED")

            await pilot.press("L")
            await player.until_shown("Launch kimi")
            await player.until_shown("Enter does it")
            await pilot.press("enter")
            loading = await player.until(
                lambda server: server.story and server.story.progress and 0 < server.story.progress.done < 64,
                "the bar moves",
            )
            assert loading.word is Word.STARTING
            ready = await player.until(lambda server: server.word is Word.READY, "ready")
            assert ready.run is not None
            assert ready.run.run == "0001"
            assert ready.story is not None
            assert ready.story.speculation == "v1"
            await player.until(
                lambda server: server.throughput and server.throughput.tok_s > 0, "tok/s while a load runs"
            )
            await player.until_shown("tok/s (")
            await player.until(lambda server: len(server.evidence.process.family) > 8, "the whole family is known")
            family = player.kimi.evidence.process.family
            assert ready.run.pid in family

            await player.until_shown("READY")
            await pilot.press("v")
            sheet = await player.until_shown("any other key cancels")
            assert "--speculative-num-draft-tokens" in sheet
            await pilot.press("enter")
            await player.until(lambda server: server.word is Word.STOPPING, "the old server stops")
            await player.until(lambda server: server.run and server.run.run == "0002", "the new run")
            assert not [pid for pid in family if is_alive(pid)]
            journal = (demo.tree.home / ".local/state/specdeck/kimi/act").read_text()
            steps = [line.split("\t")[2] for line in journal.splitlines()]
            assert "memory-back" in steps  # before there was a new run
            await player.until(
                lambda server: server.word is Word.READY and server.profile == "eagle3-v2", "ready with v2"
            )
            assert player.kimi.story is not None
            assert player.kimi.story.speculation == "v2"

            await player.until_shown("eagle3-v2")
            await player.until_shown("READY")
            await pilot.press("K")
            await player.until_shown("Enter does it")
            await pilot.press("enter")
            await player.until(lambda server: server.word is Word.STOPPED, "stopped")
            await player.until_shown("STOPPED")
