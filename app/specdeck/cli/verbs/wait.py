"""`specdeck wait SERVER`: until it is ready, or stopped; ends at once where that can no longer happen."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import Number
from specdeck.cli.server_words import Wanted, wanted
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.services.watching import WatchingDeck
    from specdeck.state.snapshot import FleetState, ServerState

AGAIN_SECONDS = 10.0
"""Between two lines about one phase."""
KEEP_SECONDS = 4.0
PATIENCE_SECONDS = 60.0
"""How long a host that was there may be away."""


@click.command("wait")
@click.argument("server")
@click.option("--for", "goal", type=click.Choice(["ready", "stopped"]), default="ready", show_default=True)
@click.option("--timeout", "limit", type=Number(min=0), metavar="S", help="Give up after so many seconds.")
@click.pass_context
def command(ctx: click.Context, server: str, goal: str, limit: float | None) -> int:
    """Wait until SERVER is ready (or stopped), telling each phase on stderr.

    SERVER is NAME of the fleet file, HOST/NAME, or HOST:PORT of any host that ssh takes; one that is not there yet is waited for.

    Exit codes: 0 it is, 1 it crashed or the time is over, 3 its host cannot be reached.
    """
    import asyncio

    return asyncio.run(_wait(wanted(ctx, server), goal, limit))


async def _wait(asked: Wanted, goal: str, limit: float | None) -> int:
    import asyncio
    import time

    from specdeck.cli.output import plain, say
    from specdeck.cli.terminal import asks_here
    from specdeck.services.open_deck import open_deck

    host, server = asked.host, asked.words
    told: tuple[str, float] = ("", 0.0)
    last_up: float | None = None
    reached: int | None = None
    async with open_deck(asked.fleet, read_only=True, ask=asks_here(), finds=asked.finds) as deck:
        try:
            async with asyncio.timeout(limit):
                await deck.wait_answered(60.0)
                async for state in deck.store.changes(at_most_every_seconds=0.1):
                    seen = asked.seen(state)
                    server = seen.name if seen is not None else server
                    code, words = verdict(state, host, server, goal)
                    if seen is None and code is None:
                        code, words = _of_nothing(asked, goal)
                    stage, now = stage_of(state, server), time.monotonic()
                    if code != ExitCode.UNREACHABLE:
                        last_up = now
                    elif last_up is not None and now - last_up < PATIENCE_SECONDS:
                        code = None
                    if words and (stage != told[0] or now - told[1] > AGAIN_SECONDS or code is not None):
                        told = (stage, now)
                        say(plain(words))
                    if code is not None:
                        reached = code
                        if code == ExitCode.FINE and goal == "ready":
                            await _until_start_is_kept(deck, server)
                        return code
        except TimeoutError:
            if reached is not None:
                return reached
            say(f"{server} is not {goal} after {limit:g} s")
    return ExitCode.NOT_AS_ASKED


def _of_nothing(asked: Wanted, goal: str) -> tuple[int | None, str]:
    """The host was looked through, and the server is not there: that is stopped, and may become ready."""
    if goal == "stopped":
        return ExitCode.FINE, f"{asked.words} does not run"
    return None, f"{asked.words} does not run yet"


async def _until_start_is_kept(deck: "WatchingDeck", server: str) -> None:
    """How long this start took is the next one's estimate: a moment for writing it down."""
    import asyncio
    from contextlib import suppress

    with suppress(TimeoutError):
        async with asyncio.timeout(KEEP_SECONDS):
            async for state in deck.store.changes(at_most_every_seconds=0.1):
                seen = state.server(server)
                run = seen.run.run if seen is not None and seen.run is not None else ""
                if seen is None or not run or any(start.run == run for start in seen.past_starts):
                    return


def stage_of(state: "FleetState", server: str) -> str:
    """What is worth a line when it changes: the word, and the phase of a start."""
    seen = state.server(server)
    phase = seen.story.phase if seen and seen.story else None
    links = " ".join(host.link for host in state.hosts)
    return f"{links} {seen.word if seen else ''} {phase.name if phase else ''}"


def verdict(state: "FleetState", host: str, server: str, goal: str) -> tuple[int | None, str]:
    """The exit code once it is decided (None: go on waiting), and what to say now."""
    from specdeck.cli.state_words import detail
    from specdeck.state.snapshot import Word

    seen_host, seen = state.host(host), state.server(server)
    if seen_host is not None and seen_host.link == "down":
        return ExitCode.UNREACHABLE, f"{host} cannot be reached: {seen_host.error or 'no connection'}"
    if seen is None or seen.word == Word.UNKNOWN:
        return None, ""
    if seen.word == Word.CRASHED and _is_log_unread(seen):
        return None, ""
    words = f"{server} {seen.word}: {known}" if (known := detail(seen, state.at)) else f"{server} {seen.word}"
    if seen.word == goal:
        return ExitCode.FINE, words
    if goal == "ready" and seen.word in (Word.CRASHED, Word.BLOCKED) and not _is_being_started(seen):
        return ExitCode.NOT_AS_ASKED, _why(seen)
    if goal == "stopped" and seen.word == Word.CRASHED:
        return ExitCode.NOT_AS_ASKED, _why(seen)
    return None, words


def _is_being_started(server: "ServerState") -> bool:
    """An act that will start it is still at work: the crash is of the run before."""
    act = server.act
    return act is not None and not act.is_over and act.kind != "stop"


def _is_log_unread(server: "ServerState") -> bool:
    """Its log will tell the cause in a moment: its last line may have no end."""
    is_read = server.story is not None and server.story.is_complete
    return bool(server.run and server.run.log and not is_read and server.evidence.log_error is None)


def _why(server: "ServerState") -> str:
    """The first cause, with what to do."""
    cause = server.story.cause if server.story else None
    if cause is None:
        return f"{server.name} {server.word}: {'; '.join(server.because)}"
    place = f" (line {cause.line} of its log)" if cause.line else ""
    hint = f"; {cause.hint}" if cause.hint else ""
    return f"{server.name} {server.word}: {cause.message}{place}{hint}"
