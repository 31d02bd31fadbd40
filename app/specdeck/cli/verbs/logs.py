"""`specdeck logs SERVER`: the log of its newest run, cleaned for a terminal; with -f as it grows, also over lost connections."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import fleet_of
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.parsing.lines import Line
    from specdeck.services.watching import WatchingDeck
    from specdeck.state.snapshot import FleetState


@click.command("logs")
@click.argument("server")
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on as the log grows, until ctrl+c.")
@click.option("--grep", "pattern", metavar="RE", help="Only lines that match this regular expression.")
@click.option("-n", "--lines", "count", type=click.IntRange(min=0), default=30, show_default=True, metavar="N")
@click.option("--audit", "is_audit", is_flag=True, help="Instead of the log: who did what when, with which command.")
@click.pass_context
def command(
    ctx: click.Context, server: str, is_following: bool, pattern: str | None, count: int, is_audit: bool
) -> int:
    """Print the last lines of SERVER's log; a progress bar counts as one line, its newest drawing.

    Exit codes: 0 there is a log, 1 there is none, 3 its host cannot be reached.
    """
    import asyncio

    from specdeck.errors import UsageError

    try:
        wanted = re.compile(pattern or "")
    except re.error as error:
        raise UsageError(f"--grep: {error}") from error
    fleet = fleet_of(ctx)
    found = fleet.server(server)
    if found is None:
        raise UsageError(f"there is no server `{server}` in the fleet")
    if is_audit:
        from specdeck.cli.audit_lines import show_audit

        return asyncio.run(show_audit(fleet, found.name, wanted, count))
    return asyncio.run(_logs(fleet, found.host, found.name, is_following, wanted, count))


async def _logs(fleet: object, host: str, server: str, is_following: bool, wanted: re.Pattern[str], count: int) -> int:
    import asyncio
    from dataclasses import replace

    from specdeck.cli.output import say
    from specdeck.cli.terminal import asks_here
    from specdeck.config.objects import Fleet
    from specdeck.services.open_deck import open_deck

    assert isinstance(fleet, Fleet)  # noqa: S101 - the annotation would import it for --help
    alone = replace(fleet, hosts=tuple(each for each in fleet.hosts if each.name == host))
    async with open_deck(alone, read_only=True, ask=asks_here()) as deck:
        deck.look_at(server)
        await deck.wait_answered(20.0)
        state = await _until_read(deck, server)
        seen, seen_host = state.server(server), state.host(host)
        if seen_host is not None and seen_host.link == "down":
            say(f"{host} cannot be reached: {seen_host.error or 'no connection'}")
            return ExitCode.UNREACHABLE
        if seen is None or seen.story is None:
            say(f"{server}: {(seen.evidence.log_error if seen else None) or 'it has no run and no log'}")
            return ExitCode.NOT_AS_ASKED
        matching = [line for line in deck.log_lines(server, 0) if wanted.search(line.text)]
        _print(matching[-count:] if count else ())
        if is_following:
            await _follow(deck, server, wanted)
        await asyncio.sleep(0)
    return ExitCode.FINE


async def _until_read(deck: "WatchingDeck", server: str) -> "FleetState":
    """Until the log was read or cannot be, with a limit."""
    import asyncio
    from contextlib import suppress

    with suppress(TimeoutError):
        async with asyncio.timeout(20.0):
            async for state in deck.store.changes(at_most_every_seconds=0.05):
                seen = state.server(server)
                if seen is None or seen.story or seen.evidence.log_error or seen.evidence.process.state == "none":
                    break
    return deck.store.state


async def _follow(deck: "WatchingDeck", server: str, wanted: re.Pattern[str]) -> None:
    """New lines as they come; a new run begins again at its first line."""
    seen = deck.store.state.server(server)
    run = seen.run if seen else None
    last = _last(deck.log_lines(server, 0))
    async for state in deck.store.changes(at_most_every_seconds=0.1):
        now = state.server(server)
        if now is not None and now.run and run and (now.run.run, now.run.pid) != (run.run, run.pid):
            run, last = now.run, 0
        new = deck.log_lines(server, last)
        last = _last(new) or last
        _print(line for line in new if wanted.search(line.text) and not line.is_overwritten)


def _last(lines: Sequence["Line"]) -> int:
    return lines[-1].number if lines else 0


def _print(lines: Iterable["Line"]) -> None:
    from specdeck.cli.output import plain

    for line in lines:
        click.echo(plain(line.text))
