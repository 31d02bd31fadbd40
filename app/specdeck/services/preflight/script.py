"""The script that looks on the host whether a command can start: what differs per command, put before preflight.sh."""

import hashlib
from collections.abc import Sequence

from specdeck.config.objects import Server
from specdeck.config.shell import quote, quote_path
from specdeck.engines.base import Engine
from specdeck.engines.command import Command
from specdeck.engines.login_shell import SCRIPT_VARIABLE, exec_in_login_shell
from specdeck.transport.script import Script, script_text

LOGIN_SECONDS = 5.0
"""How long the user's interactive login shell may take to tell its environment."""

_READ_FROM = frozenset(
    f"--{name}"
    for name in (
        "model-path",
        "model",
        "speculative-draft-model-path",
        "draft-model",
        "tokenizer-path",
        "tokenizer",
        "chat-template",
        "mmproj",
    )
)

_SETUP = """\
{{ {line}
}} >"$work/setup" 2>&1 </dev/null || {{ printf 'setup-failed {number} %s\\n' "$(tail -n 1 "$work/setup")"; exit 0; }}
"""


def preflight_script(server: Server, engine: Engine, command: Command, old_pid: int | None = None) -> Script:
    """Setup lines, interpreter, version, flags, paths, disk room, GPUs, and the user's login shell: as tagged lines.

    `old_pid` is a server that others started: only /proc tells the variables that it was started with.
    """
    old = f"old_pid={old_pid or ''} old_names={quote(_names_of_interest(engine, command))}"
    text = "\n".join((_definitions(server, engine, command), old, script_text("preflight_begin"), _setup(server.setup)))
    text = f"{text}set -- {' '.join(map(quote_path, paths_of(server, command.argv)))}\n{script_text('preflight')}"
    return Script(_in_login_shell(text) if server.login_shell else text, is_urgent=True)


def _definitions(server: Server, engine: Engine, command: Command) -> str:
    """What preflight.sh needs to know, as variables and functions."""
    asked = engine.flags_script() or ""
    words = [*engine.flag_words(command.argv), *(_key_words(command) if asked else ())]
    exports = "".join(f"export {name}={quote_path(value)}\n" for name, value in command.env)
    identity = repr((asked, words, command.env, command.workdir, command.setup)).encode()
    return f"""\
set --
python={quote_path(server.python)} workdir={quote_path(server.workdir or "")}
version_script={quote(engine.version_script())}
flags_script={quote(asked)}
login_limit={int(LOGIN_SECONDS * 10)}
flags_key={hashlib.sha256(identity).hexdigest()[:32]}
engine_env() {{
{exports}:
}}
ask_parser() {{ exec "$found" -c "$flags_script" {" ".join(map(quote_path, words))}; }}
"""


def _names_of_interest(engine: Engine, command: Command) -> str:
    """Of variables that may tell two profiles apart: the engine's own, and those that the new command sets."""
    own = (rf"{engine.name.upper()}_[A-Z0-9_]+", "CUDA_VISIBLE_DEVICES")
    return "|".join((*own, *(name for name, _ in command.env)))


def _key_words(command: Command) -> tuple[str, ...]:
    """The flag by which the API key comes must be known as well; no key is read here."""
    if command.api_key is None or not command.api_key.words:
        return ()
    return (command.api_key.words.split()[0], "/dev/null")


def _setup(lines: Sequence[str]) -> str:
    """Each line in the same shell, as in the launch; the first that fails ends the script."""
    return "".join(_SETUP.format(line=line, number=number) for number, line in enumerate(lines))


def paths_of(server: Server, argv: Sequence[str]) -> list[str]:
    """What must be there: by the fleet file, and by the flags of a profile; a model may also be a name on a hub."""
    named = (server.model, server.draft_model, *_named_by_flags(argv))
    files = [path for path in dict.fromkeys(named) if path and path.startswith(("/", "~/"))]
    return [*files, *([server.api_key_file] if server.api_key_file and not server.api_key_env else [])]


def _named_by_flags(argv: Sequence[str]) -> Sequence[str]:
    """The values of flags that an engine reads from; those that it may write to are nobody's business."""
    pairs = [(*word.split("=", 1), following)[:2] for word, following in zip(argv, [*argv[1:], ""], strict=True)]
    return [value for flag, value in pairs if flag in _READ_FROM]


def _in_login_shell(text: str) -> str:
    """The script again, from a file, where a login shell has read its profile."""
    inner = quote(f"unset {SCRIPT_VARIABLE}\n{text}")
    again = exec_in_login_shell('"$inner"')
    return f"""\
umask 077
inner=$(mktemp) && printf '%s' {inner} >"$inner" || exit 1
(
{again}
)
rm -f "$inner"
"""
