"""How many sessions one SSH connection may hold, and who waits: one slot stays free for the user's acts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from specdeck.errors import ChannelRefused

MOST_CHANNELS = 7
"""Scripts that go on, of the ten sessions that sshd allows unless told otherwise."""
MOST_RUNS = 2
"""One-shot scripts at a time."""


class Slots:
    """Counts the sessions of one connection and learns its limit from refusals."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._channels = 0
        self._runs = asyncio.Semaphore(MOST_RUNS)
        self._limit: int | None = None
        """What the host allows (MaxSessions), once it refused one; None: not known."""

    @property
    def allows_one_session_only(self) -> bool:
        """Nothing but one-shot scripts in turn is possible."""
        return self._limit == 1

    def learn_refusal(self) -> None:
        """The host refused a session while the channels that we hold were open."""
        self._limit = max(1, min(self._channels, self._limit or self._channels))

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

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold a slot for a one-shot script; waits for its turn."""
        async with self._runs:
            yield

    def _sentence(self, most: int) -> str:
        if self._limit == 1:
            return f"{self._place} allows one session at a time (MaxSessions 1); everything takes turns"
        return f"{self._place}: {most} sessions are in use and one is kept free for your acts"
