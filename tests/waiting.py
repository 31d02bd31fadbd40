"""Waiting for something true, with a limit: no test sleeps for a time that somebody guessed."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

_LISTEN = "0A"


async def until(claim: Callable[[], object], what: str, *, limit_seconds: float = 20.0) -> None:
    """Come back as soon as the claim holds; fail with `what` if it does not."""
    end = time.monotonic() + limit_seconds
    while not claim():
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit_seconds:g} s: {what}")
        await asyncio.sleep(0.02)


async def until_listened(*ports: int) -> None:
    """Somebody listens on all of these ports of this machine."""
    await until(lambda: set(ports) <= _listened(), f"ports {ports} are listened on", limit_seconds=90.0)


def _listened() -> set[int]:
    """From the kernel's tables: that costs no process, and no server sees a connection."""
    tables = [table for table in map(Path, ("/proc/net/tcp", "/proc/net/tcp6")) if table.exists()]
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    return {int(row[1].rsplit(":", 1)[1], 16) for row in rows if row[3] == _LISTEN}
