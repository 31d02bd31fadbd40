"""Waiting for something true, with a limit: no test sleeps for a time that somebody guessed."""

import asyncio
import time
from collections.abc import Callable


async def until(claim: Callable[[], object], what: str, *, limit_seconds: float = 20.0) -> None:
    """Come back as soon as the claim holds; fail with `what` if it does not."""
    end = time.monotonic() + limit_seconds
    while not claim():
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit_seconds:g} s: {what}")
        await asyncio.sleep(0.02)
