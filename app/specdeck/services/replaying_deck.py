"""The deck of a recording that can go to any moment, also back: its core begins anew a little before and is fed up to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from specdeck.config.objects import Fleet
from specdeck.engines.recovery import Recovered
from specdeck.errors import Refused
from specdeck.parsing.lines import Line
from specdeck.services.deck import Deck, Plan
from specdeck.services.log_older import OlderLines
from specdeck.services.recordings import Recording, open_replay
from specdeck.services.store import Store
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import ActKind, Question
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

FED_SECONDS = 300.0
"""So much before a moment is fed at once, so that rates, plot and events are what they were then."""


class ReplayingDeck:
    """Implements `deck.Deck`; runs on a `ReplayLoop`."""

    def __init__(self, recording: Recording, clock: ReplayClock) -> None:
        self.recording = recording
        self.is_read_only = True
        self.store = Store(initial_state(recording.fleet, clock.now()), reduce, clock.now)
        self._clock = clock
        self.is_paused = False
        """Whether it stands still."""
        self._is_going = False
        self._in_sight: str | None = None
        self._deck: Deck | None = None
        self._stack = AsyncExitStack()

    def now(self) -> float:
        """The moment that is shown."""
        return self._clock.now()

    def pause(self, *, is_paused: bool) -> None:
        """Stand still, or go on; on the way to another moment: once it is there."""
        self.is_paused = is_paused
        if not self._is_going:
            self._clock.pause(is_paused=is_paused)

    async def go_to(self, at: float) -> None:
        """Show this moment; what lies before it is fed at once."""
        at = min(max(at, self.recording.began), self.recording.ended)
        self._is_going = True
        self._clock.pause(is_paused=False)
        try:
            if self._deck is None or not self.now() <= at <= self.now() + FED_SECONDS:
                await self._begin(max(self.recording.began, at - FED_SECONDS))
            await _hasten(at - self.now())
        finally:
            self._is_going = False
            self._clock.pause(is_paused=self.is_paused)

    async def close(self) -> None:
        """End the monitors."""
        await self._stack.aclose()

    async def _begin(self, at: float) -> None:
        self._deck = None
        await self._stack.aclose()
        self._clock.move(at)
        self.store.begin(initial_state(self.recording.fleet, at))
        self._stack = AsyncExitStack()
        deck = await self._stack.enter_async_context(open_replay(self.recording, self._clock, store=self.store))
        deck.look_at(self._in_sight)
        self._deck = deck

    @property
    def fleet(self) -> Fleet:
        """With the servers that were found by then."""
        return self.recording.fleet if self._deck is None else self._deck.fleet

    @property
    def strangers(self) -> Sequence[Recovered]:
        """There is no host behind a recording that could be adopted from."""
        return ()

    async def take(self, fleet: Fleet) -> None:
        """A recording shows what was recorded. Raises Refused."""
        raise Refused("a recording: its fleet stays as it was")

    def look_at(self, server: str | None) -> None:
        """Follow this server's log closely."""
        self._in_sight = server
        if self._deck is not None:
            self._deck.look_at(server)

    def log_lines(self, server: str, after: int) -> Sequence[Line]:
        """As far as the log was read then."""
        return () if self._deck is None else self._deck.log_lines(server, after)

    async def older_lines(self, server: str, before: Line) -> OlderLines:
        """What the recording did not read is not there. Raises Refused."""
        if self._deck is None:
            raise Refused("the recording is read anew; ask again")
        return await self._deck.older_lines(server, before)

    async def refresh(self) -> None:
        """Look again, now."""
        if self._deck is not None:
            await self._deck.refresh()

    def answer(self, question: Question, answer: str | None) -> None:
        """A recording asks nobody."""

    async def diagnose(self, server: str) -> Diagnosis:
        """Why it is as it is."""
        if self._deck is None:
            raise Refused("the recording is read anew; ask again")
        return await self._deck.diagnose(server)

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """There is no host behind a recording. Raises Refused."""
        raise Refused(f"a recording: no {act} of {server}")

    async def perform(self, plan: Plan) -> None:
        """There is no host behind a recording. Raises Refused."""
        raise Refused(f"a recording: no {plan.act} of {plan.server}")


@asynccontextmanager
async def open_replaying_deck(recording: Recording, clock: ReplayClock) -> AsyncIterator[ReplayingDeck]:
    """A deck that stands at the clock's moment."""
    deck = ReplayingDeck(recording, clock)
    try:
        yield deck
    finally:
        await deck.close()


async def _hasten(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    if isinstance(loop, ReplayLoop):
        loop.hasten(seconds)
    await asyncio.sleep(max(seconds, 0.0))
