"""The dashboard as it is, with a picture at each change of word or phase: `python -m tests.gpu.screens FLEET FOLDER`."""

import asyncio
import sys
import time
from pathlib import Path

from specdeck.config.fleet import load_fleet
from specdeck.services.open_deck import open_deck
from specdeck.ui.app import SpecdeckApp


async def _take_pictures(app: SpecdeckApp, folder: Path) -> None:
    last = ""
    while True:
        await asyncio.sleep(1.0)
        server = next(iter(app.deck.store.state.servers), None)
        phase = server.story.phase if server is not None and server.story is not None else None
        key = f"{server.word}-{server.profile or ''}-{phase.name if phase else ''}" if server is not None else "none"
        if key != last and app.is_running:
            last = key
            app.save_screenshot(f"{time.strftime('%H%M%S')}-{key}.svg", str(folder))


async def main(fleet: Path, folder: Path) -> None:
    """Until `q`."""
    async with open_deck(load_fleet(fleet), ask=None) as deck:
        app = SpecdeckApp(deck)
        pictures = asyncio.create_task(_take_pictures(app, folder))
        try:
            await app.run_async()
        finally:
            pictures.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
