"""`specdeck diagnose SERVER`: why it is as it is, from the whole log of its newest run, its exit, the kernel and the GPUs."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.options import fleet_of
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.state.diagnosis import Diagnosis


@click.command("diagnose")
@click.argument("server")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.pass_context
def command(ctx: click.Context, server: str, as_json: bool) -> int:
    """Say why SERVER is as it is: the first cause in its log, how it ended, and what to do.

    A log of any size is read with bounded cost, on its host. Exit codes: 0 nothing is wrong, 1 something is,
    3 its host cannot be reached.
    """
    import asyncio

    from specdeck.errors import UsageError

    fleet = fleet_of(ctx)
    found = fleet.server(server)
    if found is None:
        raise UsageError(f"there is no server `{server}` in the fleet")
    return asyncio.run(_diagnose(fleet, found.host, found.name, as_json=as_json))


async def _diagnose(fleet: object, host: str, server: str, *, as_json: bool) -> int:
    from dataclasses import replace

    from specdeck.cli.diagnosis_json import diagnosis_json
    from specdeck.cli.output import plain, print_json, say
    from specdeck.cli.terminal import asks_here
    from specdeck.cli.verbs.status import settle
    from specdeck.config.objects import Fleet
    from specdeck.services.diagnosis_words import diagnosis_words
    from specdeck.services.open_deck import open_deck

    assert isinstance(fleet, Fleet)  # noqa: S101 - the annotation would import it for --help
    alone = replace(fleet, hosts=tuple(each for each in fleet.hosts if each.name == host))
    async with open_deck(alone, read_only=True, ask=asks_here()) as deck:
        await settle(deck)
        seen = deck.store.state.host(host)
        if seen is None or seen.link in ("down", "connecting"):
            say(f"{host} cannot be reached: {(seen.error if seen else None) or 'no connection'}")
            return ExitCode.UNREACHABLE
        diagnosis = await deck.diagnose(server)
    if as_json:
        print_json(diagnosis_json(diagnosis))
    else:
        click.echo("\n".join(plain(line) for line in diagnosis_words(diagnosis)))
    return exit_code(diagnosis)


def exit_code(diagnosis: "Diagnosis") -> int:
    """Nothing is wrong with a server that serves, starts or was stopped."""
    is_fine = diagnosis.word in ("ready", "stopped", "starting", "stopping") and diagnosis.cause is None
    return ExitCode.FINE if is_fine else ExitCode.NOT_AS_ASKED
