"""`specdeck status`: what every host and server is doing, once or as it changes; the exit code says whether all is well."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import fleet_of
from specdeck.cli.server_words import Wanted, server_alone

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet
    from specdeck.config.settings import AlertSettings
    from specdeck.services.store import Store
    from specdeck.services.watching import WatchingDeck
    from specdeck.state.snapshot import FleetState

ANSWER_SECONDS = 10.0
FOUND_SECONDS = 60.0
"""Until a host was looked through for a server that is asked for and stands in no file."""
SETTLE_SECONDS = 4.0
HEALTH_SECONDS = 27.0
"""The health of an engine that hangs answers after 20 s."""
WATCH_SECONDS = 1.0
CHANGE_SECONDS = 0.1


@click.command("status")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option(
    "--line",
    "as_line",
    is_flag=True,
    help="One line, for a status bar; by the dashboard that runs here.",
)
@click.option("--watch", "is_watching", is_flag=True, help="Again and again, one JSON object or one line each.")
@click.option("--record", metavar="FILE", type=click.Path(path_type=Path), help="Write down what the hosts give.")
@click.pass_context
def command(
    ctx: click.Context, targets: Sequence[str], as_json: bool, as_line: bool, is_watching: bool, record: Path | None
) -> int:
    """Say what every host and server is doing, or one: NAME of the fleet file, HOST/NAME or HOST/PORT.

    Exit codes: 0 all servers are ready or stopped on purpose, 1 one is not, 3 a host cannot be reached.
    """
    import asyncio

    one = server_alone(ctx, targets)
    fleet = one.fleet if one is not None else fleet_of(ctx, targets)
    if one is None and as_line and not is_watching and record is None and (known := _known_line(fleet)):
        code, line = known
        click.echo(line)
        return code
    return asyncio.run(_status(fleet, one, as_json=as_json, as_line=as_line, is_watching=is_watching, record=record))


def _only(one: Wanted, state: "FleetState") -> "FleetState":
    """The state with this server alone. Raises UsageError where there is none."""
    from specdeck.errors import UsageError
    from specdeck.quick_dataclass import replace

    seen = one.seen(state)
    host = state.host(one.host)
    if seen is None and host is not None and host.link not in ("down", "connecting"):
        raise UsageError(f"{one.words} does not run, and no fleet file names it")
    return replace(state, servers=(seen,) if seen is not None else ())


def _known_line(fleet: "Fleet") -> tuple[int, str] | None:
    """What a dashboard on this machine, or the status bar of another window, said a moment ago."""
    from specdeck.services.line_file import fresh_line, line_path

    return fresh_line(line_path(fleet))


async def _status(
    fleet: object, one: Wanted | None, *, as_json: bool, as_line: bool, is_watching: bool, record: Path | None
) -> int:

    from specdeck.cli.output import say
    from specdeck.cli.terminal import asks_here
    from specdeck.config.objects import Fleet
    from specdeck.services.open_deck import open_deck
    from specdeck.services.recordings import recorded

    assert isinstance(fleet, Fleet)  # noqa: S101 - the annotation would import it for --help
    with recorded(record, fleet, told=say) as transport_of:
        finds = one.finds if one is not None else frozenset()
        async with open_deck(
            fleet,
            read_only=True,
            ask=asks_here(),
            transport_of=transport_of,
            finds=finds,
            alerts=_alerts() if is_watching else None,
        ) as deck:
            if one is not None and not one.is_known:
                await deck.wait_answered(FOUND_SECONDS)
            await settle(deck)
            while True:
                state = deck.store.state if one is None else _only(one, deck.store.state)
                _show(state, as_json=as_json, as_line=as_line, is_stream=is_watching)
                if not is_watching:
                    return _ended(fleet, state, as_line=as_line and one is None)
                await another_word(deck.store)


async def another_word(store: "Store") -> None:
    """Until a server has another word, or at most a second: what happens is not told a second late."""
    import asyncio
    from contextlib import suppress

    words = [server.word for server in store.state.servers]
    with suppress(TimeoutError):
        async with asyncio.timeout(WATCH_SECONDS):
            async for state in store.changes(at_most_every_seconds=CHANGE_SECONDS):
                if [server.word for server in state.servers] != words:
                    return


def _alerts() -> "AlertSettings":
    """Who watches for long tells alerts to the command and the webhook of config.yaml, as a dashboard does."""
    from specdeck.config.problems import Problems
    from specdeck.config.settings import read_settings

    settings = read_settings(problems := Problems())
    problems.raise_if_any()
    return settings.alerts


def _ended(fleet: "Fleet", state: "FleetState", *, as_line: bool) -> int:
    """The exit code; a line is kept for those who ask in the next seconds."""
    from specdeck.services.line_file import line_path, write_line
    from specdeck.state.line import exit_code, one_line

    code = exit_code(state)
    if as_line:
        write_line(line_path(fleet), code, one_line(state))
    return code


async def settle(deck: "WatchingDeck") -> None:
    """Until every host has answered or failed, and each server that listens was asked how it is; with limits."""
    import asyncio
    from contextlib import suppress

    await deck.wait_answered(ANSWER_SECONDS)
    for seconds, is_so in ((SETTLE_SECONDS, _is_settled), (HEALTH_SECONDS, _has_health)):
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async for state in deck.store.changes(at_most_every_seconds=0.05):
                    if is_so(state):
                        break


def _has_health(state: "FleetState") -> bool:
    """No server owes what its word needs: the answer of one that listens, the look at all processes for one without a run."""
    from specdeck.state.snapshot import Word

    owing = (server.evidence for server in state.servers if server.word == Word.UNKNOWN)
    return not any(
        each.process.state == "unknown" or (each.port.state in ("ours", "open") and each.http.state == "unknown")
        for each in owing
        if each.link == "up"
    )


def _is_settled(state: "FleetState") -> bool:
    """No server listens without an answer, no host waits for its GPUs, no busy server for its second sample."""
    from specdeck.state.snapshot import Word

    servers = [server.evidence for server in state.servers]
    is_asked = all(each.port.state not in ("ours", "open") or each.http.state != "unknown" for each in servers)
    has_log = all(
        each.story or each.evidence.log_error for each in state.servers if each.run is not None and each.run.log
    )
    has_gpus = all(host.link != "up" or (host.gpus and host.checkup) or host.gpu_error for host in state.hosts)
    rates = all(each.word != Word.READY or each.throughput or not each.requests_running for each in state.servers)
    is_known = all(each.word != Word.UNKNOWN for each in state.servers)
    return bool(is_known and is_asked and has_log and has_gpus and rates)


def _show(state: "FleetState", *, as_json: bool, as_line: bool, is_stream: bool) -> None:
    import time

    from specdeck.cli.output import print_json, print_table
    from specdeck.cli.state_json import fleet_json
    from specdeck.cli.state_words import gpu_lines, host_row, orphan_lines, server_row
    from specdeck.state.line import one_line

    now = time.time()
    if as_json:
        print_json(fleet_json(state, now), is_line=is_stream)
    elif as_line or is_stream:
        click.echo(one_line(state))
    else:
        print_table(("HOST", "LINK", "GPUS", "MEMORY", "USE"), [host_row(host) for host in state.hosts])
        if state.servers:
            click.echo()
            header = ("SERVER", "HOST", "STATE", "SINCE", "PROFILE", "RATE", "DETAIL")
            print_table(header, [server_row(server, now) for server in state.servers])
        for line in (*gpu_lines(state, now), *orphan_lines(state, now)):
            click.echo(line)
