"""`specdeck logs SERVER --audit`: every act on a server, from the append-only file on its host."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.cli.server_words import Wanted
    from specdeck.services.audit import AuditLine


async def show_audit(asked: "Wanted", pattern: re.Pattern[str], count: int) -> int:
    """Print the last lines that match. Raises TransportError."""
    from specdeck.cli.output import say
    from specdeck.cli.server_words import found_there
    from specdeck.services.audit import read_audit
    from specdeck.transport.connect import transport_for

    host = asked.fleet.host(asked.host)
    assert host is not None  # noqa: S101 - its server was named
    transport = transport_for(host)
    await transport.connect()
    try:
        server = asked.name if asked.is_known and asked.name else (await found_there(transport, asked))[1].name
        lines = [shown(line) for line in await read_audit(transport, server, MOST_LINES)]
    finally:
        await transport.close()
    if not lines:
        say(f"{server}: nobody has acted on it by specdeck yet, as this user")
        return ExitCode.NOT_AS_ASKED
    _print([line for line in lines if pattern.search(line)][-count:] if count else [])
    return ExitCode.FINE


MOST_LINES = 5000


def shown(line: "AuditLine") -> str:
    """`2026-11-29 16:44:41 ann@desk pivot two: term kill_at=1795971941`; times by the host's clock, in the zone of this machine."""
    import time

    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.at))
    what = line.kind if line.profile in ("", "-") else f"{line.kind} {line.profile}"
    return f"{moment} {line.who} {what}: {line.step} {line.detail}".rstrip()


def _print(lines: Sequence[str]) -> None:
    from specdeck.cli.output import plain

    for line in lines:
        click.echo(plain(line))
