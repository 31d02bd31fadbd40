"""What a shell may complete: verbs, and the names in the fleet file, the profiles and the themes; no host is asked."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from specdeck.cli.verb_table import VERBS
from specdeck.errors import SpecdeckError

Names = Iterable[tuple[str, str]]
"""(what is typed, what it is)."""


class OneOf(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.3 on
    """Any text, with names to choose from; only while a shell asks."""

    name = "name"

    def __init__(self, names: Callable[[Path | None], Names]) -> None:
        self._names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin so; none where a file is not in order, which `check` says."""
        try:
            names = list(self._names(fleet_path(ctx)))
        except (SpecdeckError, OSError):
            return []
        return [CompletionItem(name, help=about) for name, about in names if name.startswith(incomplete)]


def fleet_path(ctx: click.Context) -> Path | None:
    """As `--fleet` says."""
    named = ctx.find_root().params.get("fleet")
    return Path(named) if named else None


def servers(path: Path | None) -> Names:
    """`kimi`, and `lab/kimi` where two hosts have one of that name."""
    from specdeck.config.fleet import load_fleet

    found = [
        (server.name, host.name) for host in load_fleet(path).hosts for server in host.servers if not server.is_rank
    ]
    names = [name for name, _ in found]
    return [(name if names.count(name) == 1 else f"{host}/{name}", f"server on {host}") for name, host in found]


def hosts(path: Path | None) -> Names:
    """By their names in the fleet file."""
    from specdeck.config.fleet import load_fleet

    return [(host.name, f"host {host.ssh}") for host in load_fleet(path).hosts]


def profiles(path: Path | None) -> Names:
    """All launch profiles."""
    from specdeck.config.everything import read_everything

    return [(profile.name, profile.describe) for profile in read_everything(path).fleet.profiles.values()]


def themes(path: Path | None) -> Names:
    """All colour themes."""
    from specdeck.config.everything import read_everything

    return [(theme.name, "dark theme" if theme.is_dark else "light theme") for theme in read_everything(path).themes]


BY_PARAMETER: Mapping[str, Callable[[Path | None], Names]] = {
    "server": servers,
    "targets": hosts,
    "profile": profiles,
    "theme": themes,
}


def with_names(command: click.Command) -> click.Command:
    """The command as a shell completes it."""
    for parameter in command.params:
        names = BY_PARAMETER.get(parameter.name or "")
        if names is not None:
            parameter.type = OneOf(names)
    return command


def first_words(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Verbs from the table, without importing them, and the hosts of the fleet file."""
    verbs = [CompletionItem(name, help=verb.describe) for name, verb in VERBS.items() if name.startswith(incomplete)]
    return verbs + OneOf(hosts).shell_complete(ctx, click.Argument(["targets"]), incomplete)
