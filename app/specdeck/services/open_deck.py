"""Opens a deck: everything that watches a fleet runs inside its context and is gone after it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal

from specdeck.config.objects import Fleet, Host
from specdeck.config.settings import AlertSettings
from specdeck.services.alarm import keep_telling
from specdeck.services.front_desk import Ask, FrontDesk, HostQuestions
from specdeck.services.host_monitor import CONNECT_SECONDS
from specdeck.services.own_log import keep_own_log
from specdeck.services.store import Store
from specdeck.services.supervised import supervised
from specdeck.services.watching import WatchingDeck
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for
from specdeck.transport.questions import Memory, Patience, Questions

END_SECONDS = 5.0


@asynccontextmanager
async def open_deck(
    fleet: Fleet,
    *,
    read_only: bool = False,
    announced: bool = False,
    clock: Callable[[], float] = time.time,
    transport_of: Callable[[Host, Questions | None], Transport] = transport_for,
    store: Store | None = None,
    ask: Ask | Literal["screen"] | None = None,
    alerts: AlertSettings | None = None,
    finds: Collection[str] = (),
    remembers: bool = True,
) -> AsyncIterator[WatchingDeck]:
    """Start all monitors; on exit end them, close all connections, and leave no process of ours on any host.

    `announced`: everybody who watches the same hosts sees that somebody does, and who.
    A store that is given already holds the initial state of this fleet. `ask`: who answers what logins ask;
    `screen`: the answers come through `Deck.answer`; None: nobody, such a host says so. `alerts`: whom to tell of them.
    `finds`: hosts whose unknown servers are watched as well, as on every host without servers. `remembers`: how long
    starts took is kept on this machine; a recording is no host of it.
    """
    keep_own_log()
    store = store or Store(initial_state(fleet, clock()), reduce, clock)
    desk = FrontDesk()
    who, memory, post = desk.ask if ask == "screen" else ask, Memory(), store.apply

    def reached_by(host: Host) -> tuple[Transport, HostQuestions | None]:
        """All hosts share one memory: a key's passphrase is asked once."""
        questions = HostQuestions(host.name, memory, who, post, Patience(CONNECT_SECONDS)) if who is not None else None
        return transport_of(host, questions), questions

    deck = WatchingDeck(
        fleet,
        store,
        reached_by,
        clock,
        is_read_only=read_only,
        is_announced=announced,
        desk=desk,
        finds=finds,
        remembers=remembers,
    )
    running = {
        asyncio.create_task(deck.run()),
        asyncio.create_task(supervised("alerts", partial(keep_telling, alerts or AlertSettings(), store), post)),
    }
    try:
        yield deck
    finally:
        for task in running:
            task.cancel()
        try:
            await asyncio.wait(running, timeout=END_SECONDS)
        finally:
            await deck.close()
