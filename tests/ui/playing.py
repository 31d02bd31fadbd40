"""Runs the dashboard on a fake deck with a hand that types slowly, unless told to be fast."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.pictures.scenes import themes
from tests.ui.fake_deck import Clock, FakeDeck
from textual.pilot import Pilot

from specdeck.config.settings import Settings
from specdeck.state.snapshot import FleetState
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.widgets.rows import Rows


class Hand:
    """The time between two keys."""

    def __init__(self) -> None:
        self.gap = 0.5
        self._at = 0.0

    def __call__(self, _: object) -> float:
        self._at += self.gap
        return self._at


@dataclass
class Play:
    """A running dashboard."""

    app: SpecdeckApp
    deck: FakeDeck
    pilot: Pilot[None]
    hand: Hand
    stopwatch: Clock = field(default_factory=lambda: Clock(1_000.0))

    async def press(self, *keys: str) -> None:
        """Type keys, one after the other."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Let the dashboard work until something is so; many frames later it has to be."""
        for _ in range(100):
            if is_so():
                return
            await self.pilot.pause()
        raise AssertionError("it did not become so")

    async def publish(self, state: FleetState) -> None:
        """A new state reaches the screen."""
        self.deck.publish(state)
        self.app.fleet = self.deck.store.state
        await self.pilot.pause()

    def text(self, selector: str) -> str:
        """What a pane shows."""
        return self.app.screen.query_one(selector, Rows).plain

    @property
    def screen_text(self) -> str:
        """All rows of the screen."""
        return "\n".join(rows.plain for rows in self.app.screen.query(Rows))

    @property
    def toasts(self) -> Sequence[str]:
        """The messages in the corner."""
        return [toast.message for toast in self.app._notifications]


@asynccontextmanager
async def playing(
    deck: FakeDeck | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    is_worst_first: bool = False,
    settings: Settings | None = None,
) -> AsyncIterator[Play]:
    """The dashboard after its first frame, its servers as in the fleet unless told otherwise."""
    deck = deck or FakeDeck()
    hand, stopwatch = Hand(), Clock(1_000.0)
    app = SpecdeckApp(deck, themes=themes(), settings=settings, clock=deck.clock, key_time=hand, monotonic=stopwatch)
    app.arrangement.is_worst_first = is_worst_first
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        app.fleet = deck.store.state
        await pilot.pause()
        yield Play(app, deck, pilot, hand, stopwatch)
    for fault in app.faults.own:
        raise fault
