"""`specdeck profiles`: which launch profiles there are, and the exact command that one of them starts."""

from typing import TYPE_CHECKING

import click

from specdeck.cli.options import options_of
from specdeck.cli.output import plain, print_json, print_table
from specdeck.errors import UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet, Profile, Server


@click.command("profiles")
@click.argument("name", required=False)
@click.option("--server", metavar="SERVER", help="The server whose command is wanted: NAME or HOST/NAME.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, name: str | None, server: str | None, as_json: bool) -> None:
    """List the launch profiles, or print the command that profile NAME starts for a server."""
    fleet = _fleet(ctx)
    if name is None:
        _list(fleet, as_json)
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


def _list(fleet: "Fleet", as_json: bool) -> None:
    if as_json:
        print_json({"profiles": [_as_json(profile) for profile in fleet.profiles.values()]})
        return
    rows = [
        (profile.name, profile.engine, profile.requires or "-", profile.describe or "-", str(profile.source))
        for profile in fleet.profiles.values()
    ]
    print_table(("PROFILE", "ENGINE", "REQUIRES", "WHAT IT IS", "FROM"), rows)


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
