"""How a launched server gets its API key: never through an argument list, where `ps` shows it to everybody on the host.

An engine with a variable of its own for the key gets it in its environment. For one that only has a flag, a file that nobody
else can read is written on the host, and the engine is told to read it (`--config`).
"""

from collections.abc import Sequence

from specdeck.config.objects import Server
from specdeck.config.shell import quote, quote_path
from specdeck.quick_dataclass import dataclass

CONFIG_FLAG = "--config"
_STATE = '"${XDG_STATE_HOME:-$HOME/.local/state}"'


@dataclass(frozen=True, slots=True)
class ApiKey:
    """Where the key comes from, and how this engine takes it."""

    server: str
    variable: str | None
    """The engine's own variable; None: a file for `--config`."""
    env_name: str | None = None
    """The variable of the user's own environment that holds the key."""
    file: str | None = None
    """The file on the host that holds the key."""

    @property
    def words(self) -> str:
        """What is put behind the argument list, as words for a shell."""
        return "" if self.variable else f'{CONFIG_FLAG} "$specdeck_key"'

    def launch_lines(self) -> str:
        """For the launch script, beside which the key of the user's own environment was put."""
        source = f"cat -- {quote_path(self.file)}" if self.file else 'cat -- "${0%/*}/../api-key"'
        if self.variable is None:
            return f'specdeck_key="${{0%/*}}/../api-key.yaml" &&\n{_written(source)}'
        return f'{self.variable}=$({source}) && [ -n "${self.variable}" ] && export {self.variable} &&\n'

    def shell_lines(self) -> str:
        """Before a command that is pasted: what must be there already."""
        if self.variable is not None:
            return ""
        folder = f"{_STATE}/specdeck/{quote(self.server)}"
        return f"mkdir -p {folder} && specdeck_key={folder}/api-key.yaml &&\n{_written(self._source())}"

    def shell_prefix(self) -> str:
        """An assignment that stands before a pasted command: the shell makes it, so it is in no argument list."""
        if self.variable is None:
            return ""
        return f'{self.variable}="{f"$({self._source()})" if self.file else f"${self.env_name}"}" '

    def _source(self) -> str:
        """A command that prints the key, for a pasted command."""
        return f"cat -- {quote_path(self.file)}" if self.file else f"printf '%s\\n' \"${self.env_name}\""


def _written(source: str) -> str:
    """The key as a line of YAML in `$specdeck_key`; printf is the shell's own, so the key is in no argument list."""
    return (
        f'(umask 077 && rm -f "$specdeck_key" && printf "api-key: \'%s\'\\n" "$({source} | sed "s/\'/\'\'/g")"'
        ' >"$specdeck_key") &&\n'
    )


def api_key_of(server: Server, variable: str | None, argv: Sequence[str]) -> ApiKey | None:
    """The server's key; None where it has none, or where its arguments already name a configuration file of their own."""
    if not server.api_key_env and not server.api_key_file:
        return None
    if variable == "" or (variable is None and CONFIG_FLAG in argv):
        return None
    file = None if server.api_key_env else server.api_key_file
    return ApiKey(server.name, variable, server.api_key_env, file)


def api_key_notes(server: Server, key: ApiKey | None, title: str, variable: str | None) -> tuple[str, ...]:
    """What of the key can be seen, and by whom."""
    if variable == "" and (server.api_key_env or server.api_key_file):
        return (
            f"The API key is not passed on: {title} has no way that keeps it out of ps; specdeck itself asks with it.",
        )
    if key is None and (server.api_key_env or server.api_key_file):
        return (
            f"The API key is not passed on: the arguments have a {CONFIG_FLAG} of their own; put `api-key` into that file.",
        )
    if key is None:
        return ()
    if key.variable:
        return (f"The API key reaches {title} as {key.variable}: not in ps, only you and root can read it in /proc.",)
    return (
        f"The API key reaches {title} in a file that only you can read, not in ps; "
        f"{title} writes its arguments and with them the key into its log, which only you can read.",
    )
