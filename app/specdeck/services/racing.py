"""Run something until something else happens, leaving no task behind."""

import asyncio
from collections.abc import Coroutine


async def run_until(event: asyncio.Event, work: Coroutine[None, None, None]) -> bool:
    """Run `work` to its end, or cancel it when `event` is set; True if it ended by itself. Its error is raised."""
    working = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
            return True
        return False
    finally:
        for task in (working, waiting):
            task.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)


async def wait_at_most(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event with a limit; True if it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
