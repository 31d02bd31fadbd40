"""The dashboard on a recording: its keys go back and ahead, its time stands still on Space and at the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.engines.reading import CAPTURES
from textual.pilot import Pilot

from specdeck.services.recordings import read_recording
from specdeck.services.replaying_deck import open_replaying_deck
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop
from specdeck.ui.replay_app import ReplayApp
from specdeck.ui.widgets.rows import Rows

SGLANG = CAPTURES / "recordings" / "sglang_baseline.rec.gz"
"""251 s long; ready at 169 s, stopped at 247 s."""


@asynccontextmanager
async def replaying(*, begin_seconds: float) -> AsyncIterator[tuple[ReplayApp, Pilot[None]]]:
    """The dashboard, its time stopped at that moment."""
    recording = read_recording(SGLANG)
    clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
    async with open_replaying_deck(recording, clock) as deck:
        deck.pause(is_paused=True)
        app = ReplayApp(deck, begin_at=recording.began + begin_seconds)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.fleet is not None and not app.is_going)
            yield app, pilot


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    """Wait in the time of the recording, which only passes where nothing else is to be done."""
    async with asyncio.timeout(3600):
        while not is_so():  # noqa: ASYNC110 - what a screen shows has no event
            await asyncio.sleep(0.1)
    await pilot.pause()


def word(app: ReplayApp) -> str:
    server = app.fleet.server("sglang") if app.fleet is not None else None
    return str(server.word) if server is not None else ""


def on_replay_loop(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await work()

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(1.0)) as runner:
        runner.run(run())


def shown(app: ReplayApp) -> str:
    return "\n".join(rows.plain for rows in app.screen.query(Rows))


def test_keys_go_back_and_ahead_in_a_recording_that_stands_still() -> None:
    async def work() -> None:
        async with replaying(begin_seconds=190) as (app, pilot):
            await until(pilot, lambda: word(app) == "ready")
            await pilot.press("left_square_bracket")
            await until(pilot, lambda: app.place == "replay 2:40 of 4:11, paused")
            assert word(app) == "starting"
            await pilot.press("right_square_bracket", "right_square_bracket")
            await until(pilot, lambda: app.place == "replay 3:40 of 4:11, paused")
            assert word(app) == "ready"
            await pilot.press("right_curly_bracket")
            await until(pilot, lambda: app.place == "replay 4:11 of 4:11, end")
            assert word(app) == "stopped"
            await pilot.press("left_curly_bracket")
            await until(pilot, lambda: app.place == "replay 0:00 of 4:11, paused")
            await until(pilot, lambda: "replay 0:00 of 4:11, paused" in shown(app))

    on_replay_loop(work)


def test_space_lets_the_time_go_on_and_the_help_names_the_keys() -> None:
    async def work() -> None:
        async with replaying(begin_seconds=190) as (app, pilot):
            await pilot.press("space")
            assert "paused" not in app.place
            await pilot.press("space", "question_mark")
            await until(pilot, lambda: "Go 30 seconds back in the recording" in shown(app))
            assert "Pivot" not in shown(app)

    on_replay_loop(work)


def test_the_palette_has_the_same_and_a_new_begin() -> None:
    async def work() -> None:
        async with replaying(begin_seconds=190) as (app, pilot):
            commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
            commands["Replay: 30 s back"]()
            await until(pilot, lambda: app.place == "replay 2:40 of 4:11, paused")
            commands["Replay: begin anew"]()
            await until(pilot, lambda: app.place == "replay 0:00 of 4:11, paused")
            assert "Replay: go on" in commands

    on_replay_loop(work)
