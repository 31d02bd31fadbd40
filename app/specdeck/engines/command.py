"""A launch command as data: argument list and environment, never a shell string until the last moment."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from specdeck.config.objects import ArgValue, Profile, Server
from specdeck.config.placeholders import expand, values_of
from specdeck.config.shell import quote_path
from specdeck.engines.api_key import ApiKey, api_key_of
from specdeck.engines.commands import head_length
from specdeck.engines.list_flags import TAKES_SEVERAL
from specdeck.engines.login_shell import once_in_login_shell
from specdeck.errors import UsageError
from specdeck.quick_dataclass import dataclass, replace

Difference = tuple[str, str | None, str | None]
"""Name, old, new; None: not there, empty: a bare flag."""

_FLAG = re.compile(r"--?[A-Za-z]")
_LINE_END = " \\\n  "


@dataclass(frozen=True, slots=True)
class Command:
    """What is started on the host. Secrets are not in it: the wrapper reads them on the host.

    A word, value or folder that starts with `~/` means the home of the user on the host; `as_shell` writes it so.
    """

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    workdir: str | None = None
    setup: tuple[str, ...] = ()
    login_shell: bool = False
    """It starts in the environment of the user's login shell, which a pasted command has anyway."""
    api_key: ApiKey | None = None


class Starter(Protocol):
    """The part of an engine that knows its command line."""

    def entry(self, server: Server) -> tuple[str, ...]:
        """How a server is started, up to the first flag."""

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """The flags that come from the fleet's own keys."""


def build_command(server: Server, profile: Profile) -> Command:
    """The command that starts `server` with `profile`. Raises UsageError if a placeholder has no value."""
    from specdeck.engines.registry import ENGINES

    if profile.engine not in ENGINES:
        raise UsageError(
            f"profile {profile.name}: no engine is called {profile.engine}; there are {', '.join(ENGINES)}"
        )
    engine = ENGINES[profile.engine]
    command = assemble(engine, server, profile)
    return replace(command, api_key=api_key_of(server, engine.api_key_variable, command.argv))


def assemble(engine: Starter, server: Server, profile: Profile) -> Command:
    """As `build_command`, with the engine given.

    Later ones override: the engine's own flags, those of `extends`, the server's, the profile's.
    """
    values = values_of(server)
    args = _merged(engine.own_args(server), profile.base_args, server.args, profile.args)
    words = (*engine.entry(server), *_words(args))
    env = {**server.env, **profile.env}
    return Command(
        argv=tuple(expand(word, values) for word in words),
        env=tuple((name, expand(value, values)) for name, value in env.items()),
        workdir=server.workdir,
        setup=server.setup,
        login_shell=server.login_shell,
    )


def _merged(*layers: Mapping[str, ArgValue]) -> dict[str, ArgValue]:
    """One set of flags; what a later layer says again moves to its end, so that it also wins over an alias of the flag."""
    merged: dict[str, ArgValue] = {}
    for layer in layers:
        for key, value in layer.items():
            flag = key if key.startswith("-") else f"--{key}"
            merged.pop(flag, None)
            merged[flag] = value
    return merged


def _words(args: Mapping[str, ArgValue]) -> Iterator[str]:
    """The flags as argv words: true is a bare flag, null and false leave it out, a list repeats it."""
    for flag, value in args.items():
        if value is None or value is False:
            continue
        if value is True:
            yield flag
        elif isinstance(value, tuple):
            yield from _list_words(flag, value)
        else:
            yield from (flag, str(value))


def _list_words(flag: str, values: Sequence[str | int | float]) -> Iterator[str]:
    """A list repeats its flag, but where the engine's parser takes all values after one flag (it would keep only the last)."""
    if flag.removeprefix("--") in TAKES_SEVERAL:
        yield from (flag, *map(str, values))
    else:
        for value in values:
            yield from (flag, str(value))


def as_shell(command: Command, run_env: Mapping[str, str] | None = None) -> str:
    """The command as it can be pasted into a shell: setup lines, folder, environment, one flag a line.

    A setup line that fails stops it. `run_env` are variables of this one run, put before the command's own.
    """
    env = {**(run_env or {}), **dict(command.env)}
    assignments = "".join(f" {name}={quote_path(value)}" for name, value in env.items())
    start = f"env{assignments}{_LINE_END}" if env else ""
    if key := command.api_key:
        start = f"{key.shell_prefix()}{start}"
    return f"{_preparation(command)}{key.shell_lines() if key else ''}{start}{_all_words(command)}"


def as_launch(command: Command) -> str:
    """The same as a script of its own whose shell becomes the server: the pid stays, and no value passes through `ps`."""
    exports = "".join(f"export {name}={quote_path(value)} &&\n" for name, value in command.env)
    login = once_in_login_shell() if command.login_shell else ""
    key = command.api_key.launch_lines() if command.api_key else ""
    return f"{login}{_preparation(command)}{key}{exports}exec {_all_words(command)}"


def _preparation(command: Command) -> str:
    """Setup lines and folder, each of which must succeed."""
    before = [f"{{ {line}\n}} &&\n" for line in command.setup]
    if command.workdir:
        before.append(f"cd -- {quote_path(command.workdir)} &&\n")
    return "".join(before)


def _all_words(command: Command) -> str:
    """The argument list, and behind it what the API key adds."""
    words = _words_in_lines(command.argv)
    return f"{words}{_LINE_END}{command.api_key.words}" if command.api_key and command.api_key.words else words


def _words_in_lines(argv: Sequence[str]) -> str:
    """The argument list, one flag a line."""
    return _LINE_END.join(" ".join(map(quote_path, words)) for words in grouped(argv))


def grouped(argv: Iterable[str]) -> Iterator[list[str]]:
    """The entry, then each flag with its values."""
    words = list(argv)
    head = head_length(words)
    group: list[str] = []
    for place, word in enumerate(words):
        if group and place >= head and _FLAG.match(word):
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def difference(old: Command, new: Command) -> tuple[Difference, ...]:
    """What a pivot changes: environment first, then flags, then how it is started."""
    found: list[Difference] = []
    for before, after in (
        (dict(old.env), dict(new.env)),
        (flags_of(old.argv), flags_of(new.argv)),
        (_frame(old), _frame(new)),
    ):
        names = dict.fromkeys((*before, *after))
        found += [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]
    return tuple(found)


def flags_of(argv: Sequence[str]) -> dict[str, str]:
    """The flags by name with their values as one text, also of a command line that others wrote (`--flag=value`)."""
    found: dict[str, list[str]] = {}
    for words in list(grouped(argv))[1:]:
        flag, has_value, value = words[0].partition("=")
        found.setdefault(flag, []).extend([value] * bool(has_value) + words[1:])
    return {flag: " ".join(values) for flag, values in found.items()}


def _frame(command: Command) -> dict[str, str]:
    """What is not a flag: interpreter and module, folder, setup lines."""
    entry = next(grouped(command.argv), [])
    parts = {
        "command": " ".join(entry),
        "workdir": command.workdir or "",
        "login_shell": "yes" if command.login_shell else "",
        "setup": "\n".join(command.setup),
    }
    return {name: text for name, text in parts.items() if text}


__all__ = [
    "Command",
    "Difference",
    "Starter",
    "as_launch",
    "as_shell",
    "assemble",
    "build_command",
    "difference",
    "flags_of",
    "grouped",
]
