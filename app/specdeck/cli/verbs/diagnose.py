"""`specdeck diagnose SERVER`: why it is as it is, from the whole log of its newest run, its exit, the kernel and the GPUs."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.server_words import Wanted, wanted
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.state.diagnosis import Diagnosis


@click.command("diagnose")
@click.argument("server")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.pass_context
def command(ctx: click.Context, server: str, as_json: bool) -> int:
    """Say why SERVER is as it is: the first cause in its log, how it ended, and what to do.

    SERVER is NAME of the fleet file, HOST/NAME, or HOST:PORT of any host that ssh takes.

    A log of any size is read with bounded cost, on its host. Exit codes: 0 nothing is wrong, 1 something is,
    3 its host cannot be reached.
    """
    import asyncio

    return asyncio.run(_diagnose(wanted(ctx, server), as_json=as_json))


async def _diagnose(asked: Wanted, *, as_json: bool) -> int:
    from specdeck.cli.diagnosis_json import diagnosis_json
    from specdeck.cli.output import plain, print_json, say
    from specdeck.cli.terminal import asks_here
    from specdeck.cli.verbs.status import FOUND_SECONDS, settle
    from specdeck.services.diagnosis_words import diagnosis_words
    from specdeck.services.open_deck import open_deck

    host = asked.host
    async with open_deck(asked.fleet, read_only=True, ask=asks_here(), finds=asked.finds) as deck:
        if not asked.is_known:
            await deck.wait_answered(FOUND_SECONDS)
        await settle(deck)
        seen = deck.store.state.host(host)
        if seen is None or seen.link in ("down", "connecting"):
            say(f"{host} cannot be reached: {(seen.error if seen else None) or 'no connection'}")
            return ExitCode.UNREACHABLE
        server = asked.seen(deck.store.state)
        if server is None:
            say(f"{asked.words} does not run, and no fleet file names it")
            return ExitCode.NOT_AS_ASKED
        diagnosis = await deck.diagnose(server.name)
    if as_json:
        print_json(diagnosis_json(diagnosis))
    else:
        click.echo("\n".join(plain(line) for line in diagnosis_words(diagnosis)))
    return exit_code(diagnosis)


def exit_code(diagnosis: "Diagnosis") -> int:
    """Nothing is wrong with a server that serves, starts or was stopped."""
    is_fine = diagnosis.word in ("ready", "stopped", "starting", "stopping") and diagnosis.cause is None
    return ExitCode.FINE if is_fine else ExitCode.NOT_AS_ASKED
