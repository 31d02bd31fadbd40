"""Waiting until a deck says something of its fleet, with a limit."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from specdeck.services.store import Store
from specdeck.state.snapshot import FleetState, ServerState


class Deck(Protocol):
    """Whatever keeps a state of a fleet."""

    @property
    def store(self) -> Store:
        """Where the state comes in."""
        ...


async def until(deck: Deck, is_so: Callable[[FleetState], object], seconds: float = 90.0) -> FleetState:
    """Wait for a state."""
    async with asyncio.timeout(seconds):
        async for state in deck.store.changes(at_most_every_seconds=0.02):
            if is_so(state):
                return state
    raise AssertionError("unreachable")


def kimi(state: FleetState) -> ServerState:
    """The server of this name."""
    server = state.server("kimi")
    assert server is not None
    return server
