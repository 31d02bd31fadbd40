"""`specdeck replay FILE`: what a recording saw, in the dashboard or as JSON, at its own pace or another."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import Number
from specdeck.cli.options import Options, options_of
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from specdeck.services.recordings import Recording
    from specdeck.transport.replay_clock import ReplayClock

_MAX = "max"


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--speed", default="1", metavar="N|max", help="How many times as fast (1); max: as fast as it can be read."
)
@click.option("--from", "skipped", type=Number(0), default=0.0, metavar="SECONDS", help="Begin so far in.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a second of the recording, to its end.")
@click.option("--theme", metavar="NAME", help="Colour theme.")
@click.pass_context
def command(ctx: click.Context, file: Path, speed: str, skipped: float, as_json: bool, theme: str | None) -> int:
    """Watch a recording that `--record FILE` made.

    In the dashboard: Space stops its time, `[` and `]` go 30 seconds back and ahead, `{` and `}` five minutes.
    """
    from specdeck.services.recordings import read_recording
    from specdeck.transport.replay_clock import ReplayLoop

    times = _times(speed)
    recording = read_recording(file)
    is_shown = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if not (is_shown or as_json):
        raise UsageError("the dashboard needs a terminal; for scripts there is `specdeck replay --json FILE`")
    if is_shown and times is None:
        raise UsageError("--speed max is for --json: nobody could see it")
    with asyncio.Runner(loop_factory=lambda: ReplayLoop(times)) as runner:
        return runner.run(_show(recording, skipped, theme, options_of(ctx)) if is_shown else _print(recording, skipped))


def _times(speed: str) -> float | None:
    if speed == _MAX:
        return None
    try:
        times = float(speed)
    except ValueError:
        times = 0.0
    if not 0.01 <= times <= 1000:
        raise UsageError(f"--speed {speed}: a number from 0.01 to 1000, or max")
    return times


def _clock(recording: "Recording", skipped: float) -> "ReplayClock":
    from specdeck.transport.replay_clock import ReplayClock

    return ReplayClock(recording.began + skipped, asyncio.get_running_loop().time)


async def _print(recording: "Recording", skipped: float) -> int:
    from specdeck.cli.output import print_json
    from specdeck.cli.state_json import fleet_json
    from specdeck.services.recordings import open_replay

    clock = _clock(recording, skipped)
    async with open_replay(recording, clock) as deck:
        while clock.now() < recording.ended + 1.0:
            await asyncio.sleep(1.0)
            print_json(fleet_json(deck.store.state, clock.now()), is_line=True)
    return 0


async def _show(recording: "Recording", skipped: float, theme: str | None, options: Options) -> int:
    from specdeck.services.replaying_deck import open_replaying_deck
    from specdeck.ui.replay_app import ReplayApp
    from specdeck.ui.wishes import wishes

    wanted = wishes(theme, is_ascii=options.is_ascii)
    async with open_replaying_deck(recording, _clock(recording, 0.0)) as deck:
        app = ReplayApp(deck, **wanted, begin_at=recording.began + skipped)
        await app.run_async()
    return app.return_code or 0
