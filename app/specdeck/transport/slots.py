"""How many sessions one SSH connection may hold, and who waits: one slot stays free for the user's acts."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from specdeck.errors import ChannelRefused

MOST_CHANNELS = 7
"""Scripts that go on, of the ten sessions that sshd allows unless told otherwise."""
MOST_RUNS = 3
"""One-shot scripts at a time; one of them is of the user's acts."""


class Slots:
    """Counts the sessions of one connection and learns its limit from refusals."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._channels = 0
        self._running = 0
        self._runs = asyncio.Semaphore(MOST_RUNS - 1)
        self._urgent_runs = asyncio.Semaphore(1)
        self._acts_waiting = 0
        self.is_tight = False
        """The host has refused a session: it allows few, or is slow to give one back."""
        self._limit: int | None = None
        """What the host allows (MaxSessions), once it refused one; None: not known."""

    @property
    def allows_one_session_only(self) -> bool:
        """Nothing but one-shot scripts in turn is possible."""
        return self._limit == 1

    def learn_refusal(self, *, waiting_channels: int = 0) -> None:
        """The host refuses one more session than we hold."""
        held = self._channels + self._running - waiting_channels
        self._limit = max(1, min(held, self._limit or held))

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[None]:
        """Hold a slot for a script that goes on. Raises ChannelRefused at once where none is left."""
        most = MOST_CHANNELS if self._limit is None else min(MOST_CHANNELS, self._limit - 1)
        if self._channels >= most:
            raise ChannelRefused(self._sentence(most))
        self._channels += 1
        try:
            yield
        finally:
            self._channels -= 1

    @property
    def is_running(self) -> bool:
        """A one-shot script holds a session, and will give it back."""
        return self._running > 0

    @property
    def has_an_act_waiting(self) -> bool:
        """On a host that allows few sessions: what watches takes none before it."""
        return self.is_tight and self._acts_waiting > 0

    @contextmanager
    def waiting(self, *, is_urgent: bool) -> Iterator[None]:
        """A one-shot script waits for its session."""
        self._acts_waiting += is_urgent
        try:
            yield
        finally:
            self._acts_waiting -= is_urgent

    @asynccontextmanager
    async def turn(self, *, is_urgent: bool) -> AsyncIterator[None]:
        """Wait for the turn of a one-shot script; an act waits for other acts only."""
        async with self._urgent_runs if is_urgent else self._runs:
            yield

    @contextmanager
    def running(self) -> Iterator[None]:
        """A one-shot script holds a session."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def _sentence(self, most: int) -> str:
        if self._limit == 1:
            return f"{self._place} allows one session at a time (MaxSessions 1); everything takes turns"
        return f"{self._place}: {most} of the sessions that it allows are in use, and one is kept free for your acts"
