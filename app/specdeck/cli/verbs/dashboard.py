"""`specdeck [TARGET]...`: the dashboard."""

import asyncio
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import Options, fleet_of, options_of
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet
    from specdeck.services.opening_deck import OpeningDeck
    from specdeck.ui.app import SpecdeckApp


@click.command("dashboard")
@click.argument("targets", nargs=-1)
@click.option("--theme", metavar="NAME", help="Colour theme (else $SPECDECK_THEME); `specdeck themes` lists them.")
@click.option("--record", metavar="FILE", type=click.Path(path_type=Path), help="Write down what the hosts give.")
@click.pass_context
def command(ctx: click.Context, targets: tuple[str, ...], theme: str | None, record: Path | None) -> int:
    """Watch the servers of a fleet, or of the hosts that are named."""
    gc.disable()  # while all is imported: each collection looks through it again, a tenth of the time until the first frame
    try:
        return _command(ctx, targets, theme, record)
    finally:
        gc.enable()


def _command(ctx: click.Context, targets: tuple[str, ...], theme: str | None, record: Path | None) -> int:
    fleet = fleet_of(ctx, targets)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts there is `specdeck status --json`")
    options = options_of(ctx)
    return asyncio.run(_show(fleet, options, theme=theme, record=record))


async def _show(fleet: "Fleet", options: Options, *, theme: str | None, record: Path | None) -> int:
    """The first frame comes before the monitors are imported; the terminal is restored before they are ended."""
    from specdeck.services.opening_deck import OpeningDeck
    from specdeck.ui.app import SpecdeckApp
    from specdeck.ui.wishes import wishes

    wanted = wishes(theme, is_ascii=options.is_ascii)
    deck = OpeningDeck(fleet, is_read_only=options.is_read_only, record=record, alerts=wanted["settings"].alerts)
    app = SpecdeckApp(deck, **wanted)
    opening = asyncio.create_task(_open_after_first_frame(app, deck))
    opening.add_done_callback(lambda _: app.exit())
    try:
        await app.run_async()
    finally:
        is_failed, code = opening.done(), app.return_code or 0
        opening.cancel()
        await asyncio.wait({opening})
    if is_failed:
        opening.result()
    return code


async def _open_after_first_frame(app: "SpecdeckApp", deck: "OpeningDeck") -> None:
    await app.drawn.wait()
    from specdeck.ui.widgets.chart import warm_up

    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(deck.keep_open())
            await deck.opened.wait()
            warm_up()
            gc.freeze()
            gc.enable()
    except BaseExceptionGroup as errors:
        raise _alone(errors) from None


def _alone(error: BaseException) -> BaseException:
    """What a task group has wrapped: `--record` of a file that cannot be written is a sentence, not a fault of ours."""
    return _alone(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
