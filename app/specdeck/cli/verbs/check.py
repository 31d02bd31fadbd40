"""`specdeck check`: everything that is wrong with the fleet file, the profiles and the themes, in one go."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from specdeck.cli.options import options_of
from specdeck.cli.output import plain, print_json, say
from specdeck.errors import ExitCode

if TYPE_CHECKING:
    from specdeck.config.everything import Everything


@dataclass(frozen=True, slots=True)
class _Counts:
    hosts: int
    servers: int
    profiles: int
    themes: int


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> ExitCode:
    """Check the fleet file, the profiles and the themes; no host is asked.

    Problems are lines of `file:line:column: key: what` on stderr, and the exit code is 2.
    """
    from specdeck.config.everything import read_everything

    found = read_everything(options_of(ctx).fleet_path)
    counts = _counts(found)
    if as_json:
        print_json(_as_json(found, counts))
    else:
        _as_words(found, counts)
    return ExitCode.USAGE if found.problems else ExitCode.FINE


def _counts(found: "Everything") -> _Counts:
    servers = sum(len(host.servers) for host in found.fleet.hosts)
    return _Counts(len(found.fleet.hosts), servers, len(found.fleet.profiles), len(found.themes))


def _as_words(found: "Everything", counts: _Counts) -> None:
    for problem in found.problems:
        say(str(problem))
    for note in found.notes:
        say(f"note: {note}")
    if found.problems:
        say(f"specdeck: {_count(len(found.problems), 'problem')}")
        return
    fleet = plain(str(found.fleet.source)) if found.fleet.source else "no fleet file"
    parts = (
        _count(counts.hosts, "host"),
        _count(counts.servers, "server"),
        _count(counts.profiles, "profile"),
        _count(counts.themes, "theme"),
    )
    click.echo(f"{fleet}: {', '.join(parts)}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _as_json(found: "Everything", counts: _Counts) -> dict[str, object]:
    return {
        "fleet": str(found.fleet.source) if found.fleet.source else None,
        "hosts": counts.hosts,
        "servers": counts.servers,
        "profiles": counts.profiles,
        "themes": counts.themes,
        "problems": [
            {
                "file": problem.place.file,
                "line": problem.place.line,
                "column": problem.place.column,
                "key": problem.key,
                "what": problem.what,
            }
            for problem in found.problems
        ],
        "notes": list(found.notes),
    }
