"""`specdeck profiles`: which launch profiles there are, which fit an engine's version, and the exact command of one."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.options import options_of
from specdeck.cli.output import plain, print_json, print_table, say
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specdeck.cli.server_words import Wanted
    from specdeck.config.objects import Fleet, Profile, Server


@click.command("profiles")
@click.argument("name", required=False)
@click.option(
    "--server", metavar="SERVER", help="The server whose command is wanted; without NAME its host is asked what fits."
)
@click.option("--engine", metavar="ENGINE", help="Only profiles of this engine: sglang, vllm, ...")
@click.option(
    "--for", "version", metavar="VERSION", help="Which fit this version of the engine, and what it makes of them."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(
    ctx: click.Context, name: str | None, server: str | None, engine: str | None, version: str | None, as_json: bool
) -> None:
    """List the launch profiles, or print the command that profile NAME starts for a server.

    With --for VERSION (or --server SERVER, which asks the interpreter of that server) the list says which fit there.
    """
    fleet = _fleet(ctx)
    if name is None:
        if server is not None:
            engine, version = _asked(ctx, server)
        if version is not None and engine is None:
            raise UsageError("--for is the version of one engine: say which with --engine")
        _list([each for each in fleet.profiles.values() if engine in (None, each.engine)], version, as_json)
        return
    profile = _profile(fleet, name)
    chosen = _server(fleet, profile, server)
    _show(profile, chosen, as_json)


def _fleet(ctx: click.Context) -> "Fleet":
    """The fleet, or the profiles alone where there is no fleet file."""
    from specdeck.config.fleet import find_fleet, read_fleet
    from specdeck.config.problems import Problems

    problems = Problems()
    fleet = read_fleet(find_fleet(options_of(ctx).fleet_path), problems)
    problems.raise_if_any()
    return fleet


def _asked(ctx: click.Context, server: str) -> tuple[str, str]:
    """Engine and version of a server, as its interpreter on the host says. Raises UsageError, TransportError."""
    import asyncio

    from specdeck.cli.server_words import wanted

    return asyncio.run(_ask(wanted(ctx, server)))


async def _ask(asked: "Wanted") -> tuple[str, str]:
    from specdeck.cli.server_words import found_there
    from specdeck.cli.terminal import questions_here
    from specdeck.services.adoption import version_there
    from specdeck.transport.connect import transport_for

    host = asked.fleet.host(asked.host)
    assert host is not None  # noqa: S101 - its server was named
    transport = transport_for(host, questions_here(host.name))
    try:
        await transport.connect()
        fleet, server = asked.fleet, asked.fleet.server(asked.name or "")
        if server is None:
            fleet, server = await found_there(transport, asked)
        engine = next((fleet.profiles[name].engine for name in server.profiles if name in fleet.profiles), None)
        if engine is None:
            raise UsageError(f"{server.name} has no profile that says which engine it runs: use --engine and --for")
        version = await version_there(transport, server, engine)
    finally:
        await transport.close()
    if not version:
        raise UsageError(
            f"{server.python} on {host.name} does not say which version of {engine} it has: set `python`, or use --for"
        )
    return engine, version


def _list(profiles: "Sequence[Profile]", version: str | None, as_json: bool) -> None:
    if as_json:
        print_json({"profiles": [_as_json(profile) | _fit_json(profile, version) for profile in profiles]})
        return
    rows = [
        (
            profile.name,
            profile.engine,
            profile.requires or "-",
            *((_fit_words(profile, version),) if version else ()),
            _place(profile),
            profile.describe or "-",
        )
        for profile in profiles
    ]
    fits = (f"FOR {version}",) if version else ()
    print_table(("PROFILE", "ENGINE", "REQUIRES", *fits, "FROM", "WHAT IT IS"), rows)
    for line in _meanings(profiles, version) if version else ():
        say(plain(line))


def _place(profile: "Profile") -> str:
    """`shipped`, or its file as one would type it here."""
    from pathlib import Path

    from specdeck.config import places

    source = profile.source
    if source is None or source.parent == places.shipped("profiles"):
        return "shipped"
    for folder, short in ((Path.cwd(), Path()), (Path.home(), Path("~"))):
        if source.is_relative_to(folder):
            return str(short / source.relative_to(folder))
    return str(source)


def _fit_words(profile: "Profile", version: str) -> str:
    from specdeck.config.versions import satisfies

    return "fits" if satisfies(version, profile.requires) else "does not fit"


def _fit_json(profile: "Profile", version: str | None) -> dict[str, object]:
    from specdeck.config.versions import satisfies

    if version is None:
        return {}
    notes = _notes(profile, version)
    return {"version": version, "fits": satisfies(version, profile.requires), "notes": list(notes)}


def _meanings(profiles: "Sequence[Profile]", version: str) -> list[str]:
    """What this version makes of those that fit it, where their names do not say it."""
    from specdeck.config.versions import satisfies

    return [
        f"{profile.name}: {note}"
        for profile in profiles
        if satisfies(version, profile.requires)
        for note in _notes(profile, version)
    ]


def _notes(profile: "Profile", version: str) -> tuple[str, ...]:
    from specdeck.engines.command import build_command, flags_of
    from specdeck.engines.registry import ENGINES

    command = build_command(_example(), profile)
    return ENGINES[profile.engine].launch_notes(version, flags_of(command.argv), dict(command.env))


def _as_json(profile: "Profile") -> dict[str, object]:
    return {
        "name": profile.name,
        "engine": profile.engine,
        "requires": profile.requires or None,
        "describe": profile.describe or None,
        "source": str(profile.source),
    }


def _profile(fleet: "Fleet", name: str) -> "Profile":
    from specdeck.config.problems import nearest

    if name not in fleet.profiles:
        raise UsageError(f"there is no profile {plain(name)}{nearest(name, fleet.profiles)}")
    return fleet.profiles[name]


def _server(fleet: "Fleet", profile: "Profile", name: str | None) -> "Server":
    """The server that was named, else the first that lists the profile, else one made up for the look of it."""
    from specdeck.config.problems import nearest

    servers = [server for host in fleet.hosts for server in host.servers]
    if name is None:
        return next((server for server in servers if profile.name in server.profiles), _example())
    found = fleet.server(name)
    if found is None:
        raise UsageError(f"there is no server {plain(name)}{nearest(name, [server.name for server in servers])}")
    return found


def _example() -> "Server":
    from specdeck.config.objects import Server

    return Server(name="example", host="example", model="MODEL", port=30000, draft_model="DRAFT_MODEL")


def _show(profile: "Profile", server: "Server", as_json: bool) -> None:
    from specdeck.engines.command import as_shell, build_command

    command = build_command(server, profile)
    if as_json:
        shown: dict[str, object] = {"argv": list(command.argv), "env": dict(command.env), "workdir": command.workdir}
        print_json({**_as_json(profile), "server": server.name, **shown, "setup": list(command.setup)})
    else:
        click.echo(as_shell(command))
