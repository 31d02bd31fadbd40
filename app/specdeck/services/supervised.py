"""A part of the watching that never ends: what it raises is told and tried again, and no other part notices."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from specdeck.parsing.plain import plain
from specdeck.services.back_off import BackOff
from specdeck.services.racing import error_of
from specdeck.state.events import Event, Noted

FIRST_PAUSE_SECONDS = 2.0
CALM_SECONDS = 30.0
"""A part that worked so long starts over with short pauses."""

_log = logging.getLogger(__name__)


async def supervised(
    part: str, work: Callable[[], Coroutine[None, None, None]], post: Callable[[Event], object]
) -> None:
    """Run it again and again until it ends by itself; the same fault is one line."""
    back_off = BackOff(first_seconds=FIRST_PAUSE_SECONDS)
    loop = asyncio.get_running_loop()
    told = ""
    while True:
        began = loop.time()
        error = await error_of(work())
        if error is None:
            return
        _log.error("%s failed", part, exc_info=error)
        words = plain(f"{part}: {type(error).__name__}: {error}; trying again")
        if words != told:
            post(Noted("specdeck", words, "error"))
        told = words
        if loop.time() - began > CALM_SECONDS:
            back_off.reset()
        await asyncio.sleep(back_off.next_seconds())
