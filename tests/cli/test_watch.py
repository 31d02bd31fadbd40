"""`status --watch` between two of its lines."""

import asyncio

import pytest
from tests.ui import fleets

from specdeck.cli.verbs import status
from specdeck.services.store import Store
from specdeck.state.events import HostConnected, HostLost
from specdeck.state.reduce import reduce


async def test_a_word_that_changes_is_told_at_once_and_nothing_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "WATCH_SECONDS", 3600.0)
    store = Store(fleets.fleet(), reduce, lambda: fleets.NOW)
    host = store.state.hosts[0].name
    waiting = asyncio.create_task(status.another_word(store))
    store.apply(HostConnected(host))
    _, still = await asyncio.wait([waiting], timeout=3 * status.CHANGE_SECONDS)
    assert still
    store.apply(HostLost(host, "no route", None))
    await asyncio.wait_for(waiting, 30)


async def test_where_no_word_changes_a_line_comes_each_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "WATCH_SECONDS", 0.01)
    await asyncio.wait_for(status.another_word(Store(fleets.fleet(), reduce, lambda: fleets.NOW)), 30)
