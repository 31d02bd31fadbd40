"""Every screen in its states as text, at three sizes, and some with their colours: read the difference, look at a picture.

`python -m tests.ui.test_snapshots` writes them anew; `python -m tests.pictures FOLDER` makes pictures of them.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.color import ColorSystem
from tests.pictures.scenes import crashed_log, serving_log
from tests.ui import fleets
from tests.ui.album import Album, album_of
from tests.ui.fake_deck import FakeDeck, lines, pivot_plan
from tests.ui.fleets import NOW
from tests.ui.states import STATES
from tests.ui.test_plots import long_served

from specdeck.services.deck import Check
from specdeck.state.history import Mark
from specdeck.state.snapshot import Act, FleetState, HostState, Question

FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((80, 24), (120, 40), (200, 50))
LOG = ("[2026-11-29 14:02:04 TP0] Load weight begin. avail mem=94.20 GB",)
WHOLE = ("starting", "busy", "crashed")
"""Of the other states only what tells them apart: the row, the head, the evidence, the keys."""
PAGES = (*WHOLE, *(state for state in STATES if state not in WHOLE))
LOOKS = (
    ("specdeck-light", ColorSystem.TRUECOLOR),
    ("specdeck-dark", ColorSystem.EIGHT_BIT),
    ("specdeck-light", ColorSystem.EIGHT_BIT),
    ("specdeck-dark", ColorSystem.STANDARD),
)


async def states(size: tuple[int, int]) -> str:
    """All states at one size."""
    deck = FakeDeck(STATES["starting"])
    deck.logs = {"kimi": lines(LOG)}
    async with album_of(deck, size) as pages:
        for state in PAGES:
            await pages.show(STATES[state])
            if state in WHOLE:
                pages.keep(f"{state}: overview")
            else:
                pages.keep_row(f"{state}: overview")
        await pages.press("1")
        for state in PAGES:
            await pages.show(STATES[state])
            if state in WHOLE:
                pages.keep(f"{state}: server")
            else:
                pages.keep_parts(f"{state}: server", "#identity", "#hero", "#evidence", "KeyLine")
        await pages.press("tab", "z")
        for state in WHOLE[:2]:
            await pages.show(STATES[state])
            pages.keep(f"{state}: the start alone")
    return pages.text


async def screens(size: tuple[int, int]) -> str:
    """All that keys open over the overview and the view of a server, and a fleet of nothing."""
    deck = FakeDeck(STATES["starting"])
    deck.logs = {"kimi": lines(serving_log()), "glm": lines(crashed_log())}
    async with album_of(deck, size) as pages:
        await _opened(pages)
        await _sheets(pages, deck)
        await _log(pages)
        await _plots(pages)
        for name, fleet in _EMPTY.items():
            await pages.press("escape", "escape")
            await pages.show(fleet)
            pages.keep(name)
    return pages.text


_OPENED = {
    "help": "question_mark",
    "profile picker": "p",
    "what can be added": "plus",
    "theme picker": "ctrl+t",
    "silence": "exclamation_mark",
    "palette": "ctrl+p",
}
_EMPTY = {
    "no host": FleetState(NOW, (), (), ()),
    "a host that connects": FleetState(NOW, (HostState("gpu-a", "root@gpu-a", "connecting"),), (), ()),
    "a host without a server": FleetState(NOW, (fleets.blackwell(),), (), ()),
}
_QUESTIONS = {
    "a new host": Question(
        "host-key", "blackwell (192.0.2.7:22)", f"its host key is in no known_hosts file; fingerprint SHA256:{'a1B2' * 10}",
        is_secret=False,
    ),
    "a password": Question("password", "root@blackwell", "password of root"),
}  # fmt: skip


async def _opened(pages: Album) -> None:
    for name, key in _OPENED.items():
        await pages.press(key)
        pages.keep_box(name)
        await pages.press("escape")
    for name, question in _QUESTIONS.items():
        first, *others = STATES["starting"].hosts
        await pages.show(replace(STATES["starting"], hosts=(replace(first, question=question), *others)))
        pages.keep_box(name)
        await pages.press("escape")
        await pages.show(STATES["starting"])
    pages.focus("#events")
    await pages.press("z")
    pages.keep_region("events alone", "#events")
    await pages.press("z", "slash", "q", "enter", "space")
    pages.keep_region("filtered and paused", "#title")
    await pages.press("space", "escape")


async def _sheets(pages: Album, deck: FakeDeck) -> None:
    await pages.press("1")
    for name, key in {"pivot": "v", "stop": "K", "relaunch": "R"}.items():
        await pages.press(key)
        pages.keep_box(name)
        await pages.press("escape")
    failed = Check("version", "failed", "0.5.13 has no v1 worker: pick eagle3-v2 or baseline")
    deck.next_plan = pivot_plan(checks=(Check("paths", "passed"), failed, Check("flags", "unknown", "not asked")))
    await pages.press("v")
    pages.keep_box("pivot that cannot be")
    await pages.press("escape")
    for name, act in {
        "pivot, its memory comes back": Act("pivot", "memory-back", "3 GPUs, 12,400 MiB", NOW - 12, NOW + 48, "eagle3-v1", "ana"),
        "pivot that failed": Act("pivot", "failed", "port 30000 is held by pid 7", NOW - 40, None, "eagle3-v1", "ana", True, True),
    }.items():  # fmt: skip
        server = replace(STATES["stopping" if not act.is_over else "stopped"].servers[0], act=act)
        await pages.show(fleets.with_server(STATES["starting"], server))
        pages.keep_parts(name, "#identity", "#hero")


async def _log(pages: Album) -> None:
    await pages.show(STATES["busy"])
    pages.focus("LogTail")
    await pages.press("z", "slash")
    pages.keep_region("log: a search is asked", "AskLine")
    await pages.press(*"30,", "enter", "N")
    pages.keep_region("log: found", "#log")
    await pages.press("escape", "ampersand", *"31,", "enter", "m")
    pages.keep_region("log: filtered and marked", "#log")
    await pages.press("escape", "w")
    pages.keep_region("log: wrapped", "#log")
    await pages.press("w", "z", "4", "d")
    pages.keep_region("log: the cause", "#log")
    await pages.show(STATES["crashed"])
    await pages.press("1", "d")
    pages.keep_box("diagnosis, its cause is far above the log")
    await pages.press("escape")
    await pages.show(STATES["busy"])


async def _plots(pages: Album) -> None:
    served = long_served(marks=(Mark(NOW - 150, "pivot"), Mark(NOW - 5_000, "pivot")))
    await pages.show(fleets.with_server(STATES["busy"], replace(served, name="kimi", host="blackwell")))
    await pages.press("1")
    pages.focus("LogTail")
    await pages.press("z", "tab", "tab", "tab")
    for name, key in {"tok/s": "c", "KV": "C", "KV of an hour": "C", "KV of the whole run": "z"}.items():
        pages.keep_region(f"plot: {name}", "#throughput")
        await pages.press(key)


async def colours() -> str:
    """What matters from across the room, in the light, in 256 and in 16 colours."""
    deck = FakeDeck(STATES["starting"])
    deck.logs = {"kimi": lines(LOG)}
    async with album_of(deck, (80, 24)) as pages:
        for theme, system in LOOKS:
            await pages.wear(theme, system)
            title = f"{theme} in {system.name.lower()}"
            pages.keep_colours(f"{title}: overview", system, rows=11)
            await pages.press("1")
            for state in WHOLE:
                await pages.show(STATES[state])
                pages.keep_colours(f"{title}: {state}", system, rows=9)
            await pages.press("escape")
            await pages.show(STATES["starting"])
    return pages.text


ALBUMS: dict[str, Callable[[], Awaitable[str]]] = {
    **{f"{width}x{height}": partial(states, (width, height)) for width, height in SIZES},
    **{f"{width}x{height}-opened": partial(screens, (width, height)) for width, height in SIZES},
    "colours": colours,
}


QUICK = [name for name in ALBUMS if name not in ("120x40-opened", "200x50-opened")]


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in ALBUMS if name not in QUICK)]
)
async def test_the_screens_are_as_they_were_looked_at(name: str) -> None:
    assert await ALBUMS[name]() == (FOLDER / f"{name}.txt").read_text("utf-8")


async def _write() -> None:
    for name, album in ALBUMS.items():
        (FOLDER / f"{name}.txt").write_text(await album(), "utf-8")


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    asyncio.run(_write())
