"""`python -m tests.ui.staged FILE`: the dashboard on a fake deck; FILE names the state of `states.STATES` that it shows now."""

import asyncio
import contextlib
import sys
from pathlib import Path

from tests.pictures.scenes import serving_log, starting_log
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.states import STATES

from specdeck.ui.app import SpecdeckApp

LOOK_SECONDS = 0.03


async def follow(deck: FakeDeck, file: Path) -> None:
    """Publish whatever state is named."""
    shown = ""
    while True:
        wanted = file.read_text("utf-8").strip()  # noqa: ASYNC240 - a few bytes
        if wanted != shown and wanted in STATES:
            shown = wanted
            deck.publish(STATES[wanted])
        await asyncio.sleep(LOOK_SECONDS)


async def main(file: Path) -> None:
    """Until `q`."""
    deck = FakeDeck(STATES["starting"])
    deck.logs = {"kimi": lines(starting_log()), "qwen": lines(serving_log())}
    following = asyncio.create_task(follow(deck, file))
    await SpecdeckApp(deck, clock=deck.clock).run_async()
    following.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await following


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
