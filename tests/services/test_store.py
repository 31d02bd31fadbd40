"""The store: the one writer, and readers that skip rather than queue."""

import asyncio

from specdeck.config.objects import Fleet, Host
from specdeck.services.store import Store
from specdeck.state.events import HostConnected, HostLost
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce


def store() -> Store:
    return Store(initial_state(Fleet((Host("lab", "gpu-a"),), {}), 1.0), reduce, lambda: 2.0)


async def test_a_reader_gets_the_state_at_once_and_then_only_the_newest() -> None:
    deck = store()
    changes = deck.changes(at_most_every_seconds=0)
    assert (await anext(changes)).hosts[0].link == "connecting"
    deck.apply(HostLost("lab", "no route", 1.0))
    deck.apply(HostConnected("lab"))
    assert (await asyncio.wait_for(anext(changes), 30)).hosts[0].link == "up"
    await changes.aclose()  # type: ignore[attr-defined]


async def test_a_change_while_the_reader_is_busy_is_not_lost() -> None:
    deck = store()
    changes = deck.changes(at_most_every_seconds=0)
    await anext(changes)
    deck.apply(HostConnected("lab"))
    await asyncio.wait_for(anext(changes), 30)
    deck.apply(HostLost("lab", "no route", None))
    assert (await asyncio.wait_for(anext(changes), 30)).hosts[0].error == "no route"
    await changes.aclose()  # type: ignore[attr-defined]
