"""A demo host for each test, fast enough that nobody waits."""

from collections.abc import AsyncIterator

import pytest_asyncio

from specdeck.demo.host import DemoHost


@pytest_asyncio.fixture
async def demo() -> AsyncIterator[DemoHost]:
    """Loads a thousand times as fast as a large model."""
    async with DemoHost(speed=1000) as host:
        yield host
