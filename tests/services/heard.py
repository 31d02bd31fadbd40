"""Collects events and waits for conditions, with a limit instead of sleeps."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from specdeck.state.events import Event

T = TypeVar("T")


class Heard:
    """Stands where the store stands."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()

    def post(self, event: Event) -> None:
        """Keep an event and wake whoever waits."""
        self.events.append(event)
        self._news.set()

    def of(self, kind: type[T]) -> list[T]:
        """All events of a kind, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, is_so: Callable[[], object], seconds: float = 10.0) -> None:
        """Wait for a condition that an event brings about."""
        async with asyncio.timeout(seconds):
            while not is_so():
                self._news.clear()
                await self._news.wait()
