"""`specdeck [TARGET]...`: the dashboard."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import fleet_of, options_of
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet


@click.command("dashboard")
@click.argument("targets", nargs=-1)
@click.option("--theme", metavar="NAME", help="Colour theme (else $SPECDECK_THEME); `specdeck themes` lists them.")
@click.pass_context
def command(ctx: click.Context, targets: tuple[str, ...], theme: str | None) -> int:
    """Watch the servers of a fleet, or of the hosts that are named."""
    fleet = fleet_of(ctx, targets)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts there is `specdeck status --json`")
    wanted = theme or os.environ.get("SPECDECK_THEME")
    return asyncio.run(_show(fleet, is_read_only=options_of(ctx).is_read_only, theme=wanted))


async def _show(fleet: "Fleet", *, is_read_only: bool, theme: str | None) -> int:
    """The app restores the terminal before the monitors are ended, so that leaving feels immediate."""
    from specdeck.services.open_deck import open_deck
    from specdeck.ui.app import SpecdeckApp

    async with open_deck(fleet, read_only=is_read_only) as deck:
        app = SpecdeckApp(deck, theme=theme)
        await app.run_async()
        return app.return_code or 0
