"""`specdeck check`: everything that is wrong with the fleet file, the profiles and the themes, in one go."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.cli.connect_lines import as_json as connect_json
from specdeck.cli.connect_lines import print_lines, walk_all, worst
from specdeck.cli.options import fleet_of, options_of
from specdeck.cli.output import plain, print_json, say
from specdeck.errors import ExitCode
from specdeck.quick_dataclass import dataclass

if TYPE_CHECKING:
    from specdeck.config.everything import Everything


@dataclass(frozen=True, slots=True)
class _Counts:
    hosts: int
    servers: int
    profiles: int
    themes: int


@click.command("check")
@click.argument("targets", nargs=-1)
@click.option("--connect", "is_connecting", is_flag=True, help="Then walk each host (or TARGET) through every step.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, targets: tuple[str, ...], is_connecting: bool, as_json: bool) -> ExitCode:
    """Check the fleet file, the profiles, the themes and config.yaml; without --connect no host is asked.

    Problems are lines of `file:line:column: key: what` on stderr, and the exit code is 2. With --connect each host is a
    line a step: resolve, connect, host key, login, shell, sessions, processes, state folder, nvidia-smi, forwarding, then each
    server's interpreter and log. Exit codes: 3 a host cannot be logged in to, 1 a later step failed.
    """
    if targets and not is_connecting:
        raise click.UsageError(f"only --connect takes hosts: specdeck check --connect {' '.join(targets)}")
    from specdeck.config.everything import read_everything

    found = read_everything(options_of(ctx).fleet_path)
    counts = _counts(found)
    wrong = [*_key_problems(found), *_theme_problems(found)]
    walked = walk_all(fleet_of(ctx, targets)) if is_connecting and not found.problems and not wrong else []
    if as_json:
        print_json(_as_json(found, counts, wrong) | ({"connect": connect_json(walked)} if is_connecting else {}))
    elif walked:
        print_lines(walked)
    else:
        _as_words(found, counts, wrong)
    return ExitCode.USAGE if found.problems or wrong else worst(walked)


def _key_problems(found: "Everything") -> list[str]:
    """Whether the keys of config.yaml can be used; only asked where there are some, since the dashboard's table knows."""
    if not found.settings.keys:
        return []
    from specdeck.ui.keymap import keymap_of

    return keymap_of(found.settings.keys)[1]


def _theme_problems(found: "Everything") -> list[str]:
    """Whether the user's own themes can be worn; the shipped ones can."""
    from specdeck.config import places

    broken = {problem.place.file for problem in found.problems}
    own = [
        theme
        for theme in found.themes
        if theme.source.parent != places.shipped("themes") and str(theme.source) not in broken
    ]
    if not own:
        return []
    from specdeck import ui
    from specdeck.ui.theme_choice import stylesheets
    from specdeck.ui.themes import themes_of

    return themes_of(own, stylesheets([Path(ui.__path__[0]) / "app.tcss"]), {})[1]


def _counts(found: "Everything") -> _Counts:
    servers = sum(len(host.servers) for host in found.fleet.hosts)
    return _Counts(len(found.fleet.hosts), servers, len(found.fleet.profiles), len(found.themes))


def _as_words(found: "Everything", counts: _Counts, wrong: Sequence[str]) -> None:
    for problem in (*map(str, found.problems), *wrong):
        say(problem)
    for note in found.notes:
        say(f"note: {note}")
    if found.problems or wrong:
        say(f"specdeck: {_count(len(found.problems) + len(wrong), 'problem')}")
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


def _as_json(found: "Everything", counts: _Counts, wrong: Sequence[str]) -> dict[str, object]:
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
        ]
        + [{"file": None, "line": None, "column": None, "key": None, "what": line} for line in wrong],
        "notes": list(found.notes),
    }
