"""A click group that imports a verb only when it is asked for, and takes any other first word for a host."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from specdeck.cli.verb_table import DASHBOARD, HIDDEN, LATER, VERBS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_GLOBAL_FLAGS = {"--read-only", "--ascii"}
_GLOBAL_VALUES = {"--fleet"}
_DASHBOARD_OPTIONS = {"--theme", "--record"}
_ONLY_TARGETS = "specdeck.only_targets"


class VerbGroup(click.Group):
    """Verbs by name; without one, the dashboard of the hosts that are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb; None: it is not a verb."""
        verb = VERBS.get(cmd_name) or HIDDEN.get(cmd_name)
        if verb is None:
            return None
        name = f"specdeck.cli.verbs.{verb.module}"
        try:
            command = getattr(import_module(name), verb.attribute)
        except ModuleNotFoundError as err:
            if err.name != name:
                raise
            raise _not_built(cmd_name) from err
        assert isinstance(command, click.Command)  # noqa: S101 - the table names commands only
        if not ctx.resilient_parsing:
            return command
        from specdeck.cli.completions import with_names

        return with_names(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Verbs, hosts, and the global options."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        from specdeck.cli.completions import first_words

        return first_words(ctx, incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Global options may stand anywhere before `--`; a `--` before the first word makes all words hosts."""
        first, rest = _hoisted(args)
        if rest[:1] == ["help"]:
            rest = [*rest[1:2], "--help"]
        if rest[:1] == ["--"]:
            ctx.meta[_ONLY_TARGETS] = True
        elif rest and rest[0].partition("=")[0] in _DASHBOARD_OPTIONS:
            rest = [DASHBOARD, *rest]  # `specdeck --record FILE`: no host is named, the fleet's are shown
        return super().parse_args(ctx, [*first, *rest])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A verb wins; every other first word is a host for the dashboard."""
        if ctx.meta.get(_ONLY_TARGETS):
            return DASHBOARD, self.get_command(ctx, DASHBOARD), ["--", *args]
        if args[0] in VERBS or args[0] in HIDDEN:
            return super().resolve_command(ctx, args)
        _refuse_no_verb(args[0])
        _refuse_turned_round(args)
        return DASHBOARD, self.get_command(ctx, DASHBOARD), args

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs from the table, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.describe) for name, verb in VERBS.items()])


def _hoisted(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The global options with their values, and the rest, each in its order."""
    first: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            return first, [*rest, word, *words]
        if word in _GLOBAL_FLAGS or word.partition("=")[0] in _GLOBAL_VALUES:
            first.append(word)
            first += [value for value in [next(words, None)] if value is not None] if word in _GLOBAL_VALUES else []
        else:
            rest.append(word)
    return first, rest


def _refuse_no_verb(word: str) -> None:
    """`specdeck staus` would otherwise wait for a host of that name."""
    near = get_close_matches(word, VERBS, n=1, cutoff=0.8)
    if word in LATER:
        raise _not_built(word)
    if near and re.fullmatch(r"[a-z]+", word):
        raise click.UsageError(
            f"`{word}` is no verb, did you mean {near[0]}? (A host of that name: specdeck -- {word})"
        )


def _refuse_turned_round(words: Sequence[str]) -> None:
    """`specdeck root@gpu-a status` would otherwise wait for a host of that name."""
    for verb in takewhile(lambda word: not word.startswith("-"), words[1:]):
        if verb in VERBS:
            raise click.UsageError(
                f"the verb comes first: specdeck {verb} {words[0]} (hosts of these names: specdeck -- {' '.join(words)})"
            )


def _not_built(word: str) -> click.UsageError:
    return click.UsageError(
        f"`{word}` is not part of this version of specdeck yet (a host of that name: specdeck -- {word})"
    )
