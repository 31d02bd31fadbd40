"""`specdeck adopt [TARGET]... [SERVER]...`: found servers become entries of the fleet file, with the command that they run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import options_of
from specdeck.errors import ExitCode, Refused, UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet, Host
    from specdeck.engines.recovery import Recovered
    from specdeck.services.adoption import Adopted
    from specdeck.services.discovery import Found
    from specdeck.services.fleet_file import Addition


@click.command("adopt")
@click.argument("words", nargs=-1, metavar="[TARGET]... [SERVER]...")
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Print what would change in the files; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.pass_context
def command(ctx: click.Context, words: Sequence[str], is_dry_run: bool, as_json: bool) -> int:
    """Write the servers that run on TARGET (any host that ssh takes; without one, all hosts of the fleet file) into the fleet file.

    SERVER is the name or port of one that was found, behind its TARGET; HOST/NAME and HOST/PORT say both at once. Comments,
    order and formatting of the file stay. A server gets the profile that it runs; where none does, one is written beside the
    file. Keys and tokens are never written.

    Exit codes: 0 written (or nothing was left to adopt), 1 nothing was found, 3 a host cannot be reached.
    """
    import asyncio

    if options_of(ctx).is_read_only and not is_dry_run:
        raise Refused("specdeck is read-only here: no adopt (--dry-run shows what it would write)")
    return asyncio.run(_adopt(options_of(ctx).fleet_path, words, is_dry_run=is_dry_run, as_json=as_json))


async def _adopt(named: Path | None, words: Sequence[str], *, is_dry_run: bool, as_json: bool) -> int:
    from specdeck.cli.output import plain, say
    from specdeck.quick_dataclass import replace
    from specdeck.services.adoption import addition
    from specdeck.services.fleet_file import fleet_path

    path = fleet_path(named)
    fleet = _read(path)
    wishes = _wishes(fleet, words)
    hosts = [host for host, _ in wishes]
    others = tuple(host for host in fleet.hosts if host.name not in {each.name for each in hosts})
    fleet = replace(fleet, hosts=(*others, *hosts))
    adopted: list[Adopted] = []
    for host, names in wishes:
        adopted += await _of_host(fleet, host, names)
    if not adopted:
        say("no server was found that the fleet file does not name already")
        return ExitCode.FINE if any(host.servers for host in hosts) else ExitCode.NOT_AS_ASKED
    added = addition(path, fleet, adopted)
    if not is_dry_run:
        added.write()
    if as_json:
        _print_json(path, adopted, added, is_dry_run=is_dry_run)
    elif is_dry_run:
        click.echo("".join(change.difference for change in added.changes), nl=False)
    for each in adopted if not as_json else ():
        for line in _lines(each, path, is_dry_run=is_dry_run):
            say(plain(line))
    return ExitCode.FINE


def _read(path: Path) -> "Fleet":
    from specdeck.config.fleet import read_fleet
    from specdeck.config.problems import Problems

    problems = Problems()
    fleet = read_fleet(path if path.exists() else None, problems)
    problems.raise_if_any()
    return fleet


def _wishes(fleet: "Fleet", words: Sequence[str]) -> "list[tuple[Host, set[str]]]":
    """Hosts with the names and ports that were asked for there; none: all that is found."""
    from specdeck.config.targets import choose_hosts

    if not words:
        if not fleet.hosts:
            raise UsageError("there is no fleet file yet: name a host as ssh takes it (specdeck adopt root@gpu-a)")
        return [(host, set()) for host in fleet.hosts]
    asked: dict[str, set[str]] = {}
    last = ""
    for word in words:
        if "/" in word:
            last, _, server = word.rpartition("/")
            asked.setdefault(last, set()).add(server)
        elif last and _is_server(fleet, word):
            asked[last].add(word)
        else:
            last = word
            asked.setdefault(word, set())
    return list(zip(choose_hosts(fleet.hosts, tuple(asked)), asked.values(), strict=True))


def _is_server(fleet: "Fleet", word: str) -> bool:
    """Behind a host, a word that is no other host by its look or by the fleet file."""
    is_host = "@" in word or ":" in word or word == "localhost" or any(word in (h.name, h.ssh) for h in fleet.hosts)
    return not is_host


async def _of_host(fleet: "Fleet", host: "Host", names: set[str]) -> "list[Adopted]":
    """What is found there, was asked for and is in no file. Raises UsageError, TransportError."""
    from specdeck.cli.terminal import questions_here
    from specdeck.services.adoption import adopted, engine_version
    from specdeck.services.discovery import as_server, as_servers, discover
    from specdeck.transport.connect import transport_for

    transport = transport_for(host, questions_here(host.name))
    try:
        await transport.connect()
        found = {each.port: each for each in reversed(await discover(transport))}
        taken = {server.name for each in fleet.hosts for server in each.servers}
        seen = as_servers(found.values(), host.name, taken, fleet.profiles)
        chosen = _chosen(host, seen, names)
        result = []
        for each in chosen:
            one: Found = found[each.server.port]
            version = "" if one.process.is_contained else await engine_version(transport, each)
            names_left = taken | {other.server.name for other in seen if other is not each}
            result.append(
                adopted(as_server(one, host.name, names_left, fleet.profiles, version=version), fleet, version)
            )
        return result
    finally:
        await transport.close()


def _chosen(host: "Host", seen: "Sequence[Recovered]", names: set[str]) -> "list[Recovered]":
    """Those that were asked for; without a name all that are on no port of the fleet file."""
    known = {server.port: server.name for server in host.servers}
    for name in sorted(names):
        if not any(name in (each.server.name, str(each.server.port)) for each in seen):
            there = ", ".join(f"{each.server.name} on port {each.server.port}" for each in seen) or "none"
            raise UsageError(f"no server {name} was found on {host.name}; there are: {there}")
    asked = [each for each in seen if not names or {each.server.name, str(each.server.port)} & names]
    for each in asked if names else ():
        if each.server.port in known:
            raise UsageError(
                f"port {each.server.port} of {host.name} is that of {known[each.server.port]} in the fleet file already"
            )
    return [each for each in asked if each.server.port not in known]


def _lines(adopted: "Adopted", path: Path, *, is_dry_run: bool) -> list[str]:
    """What became of one server, and what could not be recovered."""
    server, near = adopted.server, adopted.seen.nearest
    runs = near.words if near is not None else "no profile"
    verb = "would be written" if is_dry_run else "written"
    version = f" {adopted.version}" if adopted.version else ""
    lines = [
        f"{server.host}/{server.name}: port {server.port}, {adopted.seen.profile.engine}{version}, {runs}: {verb} to {path}"
    ]
    if adopted.new_profile is not None:
        lines.append(f"  its profile: {path.parent / 'profiles' / f'{adopted.new_profile.name}.yaml'}")
    return [*lines, *(f"  {note}" for note in adopted.notes)]


def _print_json(path: Path, adopted: "Sequence[Adopted]", added: "Addition", *, is_dry_run: bool) -> None:
    from specdeck.cli.output import print_json

    servers = [
        {
            "name": each.server.name,
            "host": each.server.host,
            "port": each.server.port,
            "model": each.server.model,
            "engine": each.seen.profile.engine,
            "engine_version": each.version or None,
            "profile": each.seen.nearest.profile.name if each.seen.nearest else None,
            "profile_difference": (each.seen.nearest.but or None) if each.seen.nearest else None,
            "profiles": list(each.server.profiles),
            "notes": list(each.notes),
        }
        for each in adopted
    ]
    files = [
        {"path": str(change.path), "is_new": change.old is None, "difference": change.difference}
        for change in added.changes
    ]
    print_json({"fleet": str(path), "written": not is_dry_run, "servers": servers, "files": files})
