"""The one writer of state: applies events, keeps the newest snapshot, wakes those who wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from specdeck.state.snapshot import FleetState

if TYPE_CHECKING:
    from specdeck.state.events import Event

Clock = Callable[[], float]


class Store:
    """Holds the newest state. Newest wins: a slow reader skips, it never queues."""

    def __init__(
        self, state: FleetState, reduce: Callable[[FleetState, "Event", float], FleetState], clock: Clock
    ) -> None:
        self.state = state
        self._reduce = reduce
        self._clock = clock
        self._changed = asyncio.Event()

    def begin(self, state: FleetState) -> None:
        """Forget everything: a recording is watched from another moment."""
        self._tell(state)

    def apply(self, event: "Event") -> None:
        """Turn one fact into state."""
        self._tell(self._reduce(self.state, event, self._clock()))

    def _tell(self, state: FleetState) -> None:
        self.state = state
        self._changed.set()
        self._changed = asyncio.Event()

    async def changes(self, *, at_most_every_seconds: float) -> AsyncIterator[FleetState]:
        """The state now, then the newest each time it changed: at once after a rest, no more often than asked."""
        loop = asyncio.get_running_loop()
        while True:
            changed, told_at = self._changed, loop.time()
            yield self.state
            await changed.wait()
            await asyncio.sleep(told_at + at_most_every_seconds - loop.time())
