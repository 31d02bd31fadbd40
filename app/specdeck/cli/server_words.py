"""Which server a word of the command line names: one of the fleet file, or one that must be found on its host first."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.options import options_of
from specdeck.errors import ConfigError, UsageError
from specdeck.quick_dataclass import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specdeck.config.objects import Fleet, Host, Server
    from specdeck.engines.recovery import Recovered
    from specdeck.state.snapshot import FleetState, ServerState
    from specdeck.transport.base import Transport

SPELLINGS = "NAME of the fleet file, HOST/NAME, or HOST:PORT of any host that ssh takes"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A server by its host and its name or port; with neither the only one that the host has."""

    fleet: "Fleet"
    """With the hosts that it needs, no others."""
    host: str
    name: str | None = None
    port: int | None = None
    is_known: bool = False
    """The fleet file names it."""

    @property
    def words(self) -> str:
        """`kimi`, or `gpu-a:30000`."""
        return self.name if self.is_known and self.name else f"{self.host}{self._rest}"

    @property
    def _rest(self) -> str:
        return f":{self.port}" if self.port is not None else f"/{self.name}" if self.name else ""

    @property
    def finds(self) -> frozenset[str]:
        """Hosts whose unknown servers must be watched to see it."""
        return frozenset() if self.is_known else frozenset({self.host})

    def is_it(self, name: str, port: int) -> bool:
        """A server of the host by this name, on this port, is the one."""
        return self.name == name if self.port is None and self.name else self.port in (None, port)

    def seen(self, state: "FleetState") -> "ServerState | None":
        """The server, once it is seen. Raises UsageError where it could be several."""
        if self.is_known:
            return state.server(self.name or "")
        found = [each for each in state.servers if each.host == self.host and self.is_it(each.name, each.port)]
        if len(found) > 1:
            raise UsageError(
                f"{self.words} has several servers: {', '.join(f'{self.host}:{each.port}' for each in found)}"
            )
        return found[0] if found else None


def wanted(ctx: click.Context, word: str) -> Wanted:
    """What the word names. Raises UsageError with all spellings, ConfigError for a fleet file with problems."""
    from specdeck.config.fleet import find_fleet, read_fleet
    from specdeck.config.problems import Problems

    problems = Problems()
    fleet = read_fleet(find_fleet(options_of(ctx).fleet_path), problems)
    problems.raise_if_any()
    return wanted_of(fleet, word)


def server_alone(ctx: click.Context, words: "Sequence[str]") -> Wanted | None:
    """The one server that a single word names, where a host could be meant as well; None: hosts are meant."""
    if len(words) != 1:
        return None
    from specdeck.config.fleet import find_fleet, read_fleet
    from specdeck.config.problems import Problems

    fleet = read_fleet(find_fleet(options_of(ctx).fleet_path), Problems())
    word = words[0]
    is_host = any(word in (host.name, host.ssh) for host in fleet.hosts)
    return wanted(ctx, word) if not is_host and ("/" in word or fleet.server(word) is not None) else None


def wanted_of(fleet: "Fleet", word: str) -> Wanted:
    """As `wanted`, of this fleet."""
    server = fleet.server(word)
    if server is None:
        host_word, name, port = _split(word)
        host = _host(fleet, host_word) if host_word else None
        if host is None:
            raise _unknown(fleet, word)
        server = next(
            (each for each in host.servers if (name and each.name == name) or (port and each.port == port)), None
        )
        if server is None:
            return Wanted(replace(fleet, hosts=(host,)), host.name, name, port)
    needed = {server.host, *(server.group.hosts if server.group else ())}
    alone = replace(fleet, hosts=tuple(each for each in fleet.hosts if each.name in needed))
    return Wanted(alone, server.host, server.name, is_known=True)


def _split(word: str) -> tuple[str, str | None, int | None]:
    """`(host, name, port)`; an empty host: it is none of these spellings."""
    host, slash, rest = word.rpartition("/")
    if slash:
        return (host, None, int(rest)) if rest.isdecimal() else (host, rest, None)
    host, colon, rest = word.rpartition(":")
    if colon and rest.isdecimal() and 0 < int(rest) < 65536:
        return host, None, int(rest)
    return (word, None, None) if "@" in word or word == "localhost" else ("", None, None)


def _host(fleet: "Fleet", word: str) -> "Host | None":
    from specdeck.config.targets import choose_hosts

    try:
        return choose_hosts(fleet.hosts, (word,))[0]
    except UsageError:
        return None


def _unknown(fleet: "Fleet", word: str) -> Exception:
    from specdeck.cli.output import plain
    from specdeck.config.problems import nearest

    names = [each.name for host in fleet.hosts for each in host.servers]
    if fleet.source is None:
        return ConfigError(
            f"there is no fleet file, so no server `{plain(word)}`: say HOST:PORT or HOST/NAME, with any host that ssh takes"
        )
    known = ", ".join(names) or "none"
    return UsageError(
        f"there is no server `{plain(word)}` in the fleet (there are: {known}){nearest(word, names)}; "
        "one that is in no file is HOST:PORT or HOST/NAME"
    )


async def found_there(transport: "Transport", asked: Wanted) -> "tuple[Fleet, Server]":
    """Look on the connected host for a server that no file names. Raises UsageError, TransportError."""
    from specdeck.services.discovery import joined

    seen = await _recovered(transport, asked)
    mine = [each for each in seen if asked.is_it(each.server.name, each.server.port)]
    if len(mine) != 1:
        there = ", ".join(f"{asked.host}:{each.server.port} ({each.server.name})" for each in seen) or "none"
        what = "could be several" if mine else "was not found"
        raise UsageError(f"{asked.words} {what}; the servers there: {there}")
    return joined(asked.fleet, mine[0]), mine[0].server


async def _recovered(transport: "Transport", asked: Wanted) -> "list[Recovered]":
    from specdeck.services.discovery import as_servers, discover

    known = next((host.servers for host in asked.fleet.hosts if host.name == asked.host), ())
    found = await discover(transport)
    return as_servers(found, asked.host, [server.name for server in known], asked.fleet.profiles)
