"""Every screen in its states as text, at three sizes: what changed is read in the difference and looked at as a picture.

`python -m tests.ui.test_snapshots` writes them anew; `python -m tests.pictures FOLDER` makes pictures of them.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.pictures.scenes import Typist, themes
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.states import STATES
from textual.pilot import Pilot

from specdeck.ui.app import SpecdeckApp
from specdeck.ui.widgets.rows import Rows

FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((80, 24), (120, 40), (200, 50))
LOG = ("[2026-11-29 14:02:04 TP0] Load weight begin. avail mem=94.20 GB",)
WHOLE = ("starting", "busy", "crashed")
"""Of the other states only what tells them apart: the row, the head, the evidence, the keys."""
PAGES = (*WHOLE, *(state for state in STATES if state not in WHOLE))


class Album:
    """A running dashboard, and what it showed."""

    def __init__(self, app: SpecdeckApp, deck: FakeDeck, pilot: Pilot[None]) -> None:
        self._app = app
        self._deck = deck
        self._pilot = pilot
        self.pages: list[str] = []

    async def show(self, state: str) -> None:
        """This is the newest state."""
        self._deck.publish(STATES[state])
        self._app.fleet = self._deck.store.state
        await self._settle()

    async def press(self, *keys: str) -> None:
        """Type, and wait for the layout, then for what the panes make of their new sizes."""
        await self._pilot.press(*keys)
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(2):
            await self._pilot.pause()
            self._app.tick()
        await self._pilot.pause()

    def keep(self, title: str) -> None:
        """The whole screen."""
        rows = [strip.text.rstrip() for strip in self._app.screen._compositor.render_strips()]
        self.pages.append("\n".join([f"=== {title}", *_without_repeats(rows)]))

    def keep_row(self, title: str) -> None:
        """The first row of the table."""
        row = self._app.screen.query_one("#servers", Rows).plain.splitlines()[1]
        self.pages.append(f"=== {title}\n{row}")

    def keep_parts(self, title: str, *selectors: str) -> None:
        """Only these panes."""
        texts = [self._app.screen.query_one(selector, Rows).plain for selector in selectors]
        self.pages.append("\n".join([f"=== {title}", *texts]))


def _without_repeats(rows: Sequence[str]) -> list[str]:
    """A row that stands there several times, as inside of an empty frame, once with how often."""
    kept: list[str] = []
    count = 0
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        count += 1
        if row != following:
            kept.append(row if count == 1 else f"{row}   (x {count})")
            count = 0
    return kept


async def album(size: tuple[int, int]) -> str:
    """All states at one size."""
    deck = FakeDeck(STATES["starting"])
    deck.logs = {"kimi": lines(LOG)}
    app = SpecdeckApp(deck, themes=themes(), clock=deck.clock, key_time=Typist())
    app.arrangement.is_worst_first = False
    async with app.run_test(size=size) as pilot:
        pages = Album(app, deck, pilot)
        for state in PAGES:
            await pages.show(state)
            if state in WHOLE:
                pages.keep(f"{state}: overview")
            else:
                pages.keep_row(f"{state}: overview")
        await pages.press("1")
        for state in PAGES:
            await pages.show(state)
            if state in WHOLE:
                pages.keep(f"{state}: server")
            else:
                pages.keep_parts(f"{state}: server", "#identity", "#hero", "#evidence", "KeyLine")
        await pages.press("tab", "z")
        for state in WHOLE[:2]:
            await pages.show(state)
            pages.keep(f"{state}: the start alone")
    return "\n".join(pages.pages) + "\n"


def place(size: tuple[int, int]) -> Path:
    """Of an album."""
    return FOLDER / f"{size[0]}x{size[1]}.txt"


@pytest.mark.parametrize("size", SIZES)
async def test_the_screens_are_as_they_were_looked_at(size: tuple[int, int]) -> None:
    assert await album(size) == place(size).read_text("utf-8")


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    FOLDER.mkdir(exist_ok=True)
    for each in SIZES:
        place(each).write_text(asyncio.run(album(each)), "utf-8")
