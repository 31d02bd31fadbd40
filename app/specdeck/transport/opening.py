"""Waiting for a channel to open, such that a waiter who gives up leaves no channel behind."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


async def opened(opening: Coroutine[object, object, T], close: Callable[[T], None]) -> T:
    """What `opening` gives. If the waiter is cancelled, the host may open the channel still: then it is closed.

    asyncssh forgets a channel whose opening was cancelled; the host would count it as a session for ever.
    """
    task = asyncio.ensure_future(opening)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: _close(done, close))
        raise


def _close(done: "asyncio.Future[T]", close: Callable[[T], None]) -> None:
    if not done.cancelled() and done.exception() is None:
        close(done.result())
