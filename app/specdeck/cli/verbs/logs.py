"""`specdeck logs SERVER`: the log of its newest run, cleaned for a terminal; with -f as it grows, also over lost connections."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import WholeNumber
from specdeck.cli.server_words import Wanted, wanted
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.parsing.lines import Line
    from specdeck.services.watching import WatchingDeck
    from specdeck.state.snapshot import FleetState


@click.command("logs")
@click.argument("server")
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on as the log grows, until ctrl+c.")
@click.option("--grep", "pattern", metavar="RE", help="Only lines that match this regular expression.")
@click.option("-n", "--lines", "count", type=WholeNumber(min=0), default=30, show_default=True, metavar="N")
@click.option("--audit", "is_audit", is_flag=True, help="Instead of the log: who did what when, with which command.")
@click.pass_context
def command(
    ctx: click.Context, server: str, is_following: bool, pattern: str | None, count: int, is_audit: bool
) -> int:
    """Print the last lines of SERVER's log; a progress bar counts as one line, its newest drawing.

    SERVER is NAME of the fleet file, HOST/NAME, or HOST:PORT of any host that ssh takes.

    Exit codes: 0 there is a log, 1 there is none, 3 its host cannot be reached.
    """
    import asyncio

    from specdeck.cli.output import plain
    from specdeck.errors import UsageError

    try:
        pattern_of = re.compile(pattern or "")
    except re.error as error:
        raise UsageError(f"--grep: `{plain(pattern or '')}` is no regular expression: {error}") from error
    asked = wanted(ctx, server)
    if is_audit:
        from specdeck.cli.audit_lines import show_audit

        return asyncio.run(show_audit(asked, pattern_of, count))
    return asyncio.run(_logs(asked, is_following, pattern_of, count))


async def _logs(asked: Wanted, is_following: bool, pattern: re.Pattern[str], count: int) -> int:
    import asyncio

    from specdeck.cli.output import say
    from specdeck.cli.terminal import asks_here
    from specdeck.services.open_deck import open_deck

    async with open_deck(asked.fleet, read_only=True, ask=asks_here(), finds=asked.finds) as deck:
        if asked.is_known:
            deck.look_at(asked.name)
        await deck.wait_answered(20.0 if asked.is_known else 60.0)
        seen_host, seen = deck.store.state.host(asked.host), asked.seen(deck.store.state)
        if seen is not None:
            deck.look_at(seen.name)
            seen = (await _until_read(deck, seen.name, has_run=not asked.is_known)).server(seen.name)
        if seen_host is not None and seen_host.link == "down":
            say(f"{asked.host} cannot be reached: {seen_host.error or 'no connection'}")
            return ExitCode.UNREACHABLE
        if seen is None or seen.story is None:
            say(f"{asked.words}: {(seen.evidence.log_error if seen else None) or 'it has no run and no log'}")
            return ExitCode.NOT_AS_ASKED
        matching = [line for line in deck.log_lines(seen.name, 0) if pattern.search(line.text)]
        _print(matching[-count:] if count else ())
        if is_following:
            await _follow(deck, seen.name, pattern)
        await asyncio.sleep(0)
    return ExitCode.FINE


async def _until_read(deck: "WatchingDeck", server: str, *, has_run: bool) -> "FleetState":
    """Until the log was read or cannot be, with a limit; one that was found has a process, which is only not yet seen."""
    import asyncio
    from contextlib import suppress

    with suppress(TimeoutError):
        async with asyncio.timeout(20.0):
            async for state in deck.store.changes(at_most_every_seconds=0.05):
                seen = state.server(server)
                if (
                    seen is None
                    or seen.story
                    or seen.evidence.log_error
                    or (seen.evidence.process.state == "none" and not has_run)
                ):
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
