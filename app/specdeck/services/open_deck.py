"""Opens a deck: everything that watches a fleet runs inside its context and is gone after it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from specdeck.config.objects import Fleet, Host
from specdeck.services.own_log import keep_own_log
from specdeck.services.store import Store
from specdeck.services.watching import WatchingDeck
from specdeck.state.reduce import initial_state, reduce
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for

END_SECONDS = 5.0


@asynccontextmanager
async def open_deck(
    fleet: Fleet,
    *,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
    transport_of: Callable[[Host], Transport] = transport_for,
) -> AsyncIterator[WatchingDeck]:
    """Start all monitors; on exit end them, close all connections, and leave no process of ours on any host."""
    keep_own_log()
    store = Store(initial_state(fleet, clock()), reduce, clock)
    transports = {host.name: transport_of(host) for host in fleet.hosts}
    deck = WatchingDeck(fleet, store, transports, clock, is_read_only=read_only)
    running = asyncio.create_task(deck.run())
    try:
        yield deck
    finally:
        running.cancel()
        try:
            await asyncio.wait({running}, timeout=END_SECONDS)
        finally:
            await deck.close()
