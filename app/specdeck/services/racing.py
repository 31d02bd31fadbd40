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


async def error_of(work: Coroutine[None, None, None]) -> BaseException | None:
    """Run `work` to its end; what it raised, also a CancelledError that nobody asked for.

    It runs in a task of its own: a task group that fails may leave its task counted as cancelled (Python 3.11 and 3.12).
    """
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait({working})
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return asyncio.CancelledError() if working.cancelled() else working.exception()


async def wait_at_most(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event with a limit; True if it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
