"""`specdeck demo`: a GPU host on this machine, and the dashboard on it."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import Number, WholeNumber
from specdeck.cli.options import Options, options_of
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet
    from specdeck.demo.host import DemoHost
    from specdeck.services.deck import Deck

_FIRST = "kimi"
_PAGE = """\
The demo host runs. In other terminals:

    specdeck --fleet {fleet} status
    specdeck --fleet {fleet} pivot kimi --profile eagle3-v2
    ssh -F {config} demo-gpu

Ctrl-C ends it, and everything that runs on it."""

_WELCOME = (
    "to see failures: p, then a profile that begins with demo-",
    "other terminals: specdeck --fleet {fleet} status",
    "q ends this demo, with its servers",
)
"""In the events pane, the last one on top."""


@click.command()
@click.option("--speed", type=Number(0.5, 1000), default=25.0, show_default=True, help="How much faster models load.")
@click.option(
    "--traffic", type=WholeNumber(0, 64), default=6, show_default=True, help="Clients of each server, at most."
)
@click.option("--dashboard/--no-dashboard", "is_shown", default=True, help="Open the dashboard, or just run the host.")
@click.option("--record", metavar="FILE", type=click.Path(path_type=Path), help="Write down what the host gives.")
@click.pass_context
def command(ctx: click.Context, speed: float, traffic: int, is_shown: bool, record: Path | None) -> int:
    """A GPU host to try everything on, on this machine.

    Eight GPUs and an inference engine that really runs as processes, loads, serves, crashes and can be killed. Only the GPUs
    and the models are pretended; specdeck reaches the host over SSH as any other, and nobody else can reach it.
    """
    if not sys.platform.startswith("linux"):
        raise UsageError("the demo host needs Linux; the dashboard runs here too: specdeck HOST")
    return asyncio.run(_demo(speed, traffic, options_of(ctx), is_shown=is_shown, record=record))


async def _demo(speed: float, traffic: int, options: Options, *, is_shown: bool, record: Path | None) -> int:
    from specdeck.config.fleet import load_fleet
    from specdeck.demo.host import DemoHost

    async with DemoHost(speed=speed, traffic=traffic) as host:
        fleet = load_fleet(host.fleet_path)
        if is_shown:
            return await _show(fleet, options, record=record)
        await _wait(fleet, host)
    return 0


async def _wait(fleet: "Fleet", host: "DemoHost") -> None:
    from specdeck.demo.first_launch import launch

    await launch(fleet, _FIRST)
    click.echo(_PAGE.format(fleet=host.fleet_path, config=host.tree.ssh_config))
    await asyncio.Event().wait()


async def _show(fleet: "Fleet", options: Options, *, record: Path | None) -> int:
    """The dashboard, and the code that it ends with; the first server starts meanwhile."""
    from specdeck.demo.first_launch import launch
    from specdeck.services.open_deck import open_deck
    from specdeck.services.recordings import recorded
    from specdeck.state.events import Noted
    from specdeck.ui.app import SpecdeckApp
    from specdeck.ui.wishes import wishes

    wanted = wishes(None, is_ascii=options.is_ascii)
    alerts = wanted["settings"].alerts
    decks: list[Deck] = []

    def broke_off(words: str) -> None:
        for deck in decks:
            deck.store.apply(Noted("specdeck", words, "error"))

    with recorded(record, fleet, told=broke_off) as transport_of:
        async with open_deck(
            fleet, read_only=options.is_read_only, announced=True, transport_of=transport_of, alerts=alerts
        ) as deck:
            decks.append(deck)
            for words in _WELCOME:
                deck.store.apply(Noted("demo", words.format(fleet=fleet.source)))
            starting = asyncio.create_task(launch(fleet, _FIRST))
            app = SpecdeckApp(deck, fate="The demo ends with it, and so do its servers.", **wanted)
            try:
                await app.run_async()
            finally:
                if not starting.done():
                    starting.cancel()
            if starting.done() and not starting.cancelled():
                starting.result()
            return app.return_code or 0
