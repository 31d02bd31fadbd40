"""What may stand in a fleet, profile or theme file: one table for reading, checking and the JSON schema of editors."""

from collections.abc import Mapping
from dataclasses import field

from specdeck.quick_dataclass import dataclass

ENGINE_NAMES = ("sglang", "vllm", "llamacpp", "tgi", "trtllm", "ollama")
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
"""Names become folder names on hosts and words of the command line."""
NAME_WORDS = "letters, digits, `.`, `_` and `-`, a letter or digit first, at most 63"
COLOURS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)


@dataclass(frozen=True, slots=True)
class Text:
    """A string; `pattern` must match all of it, `rule` says so in words."""

    pattern: str = ""
    rule: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number of at least `least`."""

    least: float


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True)
class EnvText:
    """The value of an environment variable: text, or a number as it is written."""


@dataclass(frozen=True, slots=True)
class Argument:
    """The value of a launch argument."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; one value alone counts as a list of one."""

    item: "Kind"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping with free keys."""

    value: "Kind"
    key: Text = field(default_factory=lambda: Text(NAME, NAME_WORDS))


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table."""

    kind: "Kind"
    describe: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with these keys and no others."""

    keys: Mapping[str, Key]
    takes_extensions: bool = False
    """`x-anything` is left alone: a place for YAML anchors."""


Kind = Text | Whole | Number | Flag | EnvText | Argument | ListOf | MapOf | Table

_ENV = MapOf(EnvText(), Text(r"[A-Za-z_][A-Za-z0-9_]*", "letters, digits and `_`, a digit not first"))
_ARGS = MapOf(Argument(), Text(r"-{0,2}[A-Za-z0-9][A-Za-z0-9._-]*", "a flag, with or without its dashes"))
_SSH = Text(r"[^\s-]\S*", "a word that ssh takes: an alias, user@host, host:port")
_SOME = Text(r"[\s\S]+", "something, not nothing")

SERVER = Table(
    {
        "model": Key(_SOME, "Path or name of the model, as the engine takes it", is_required=True),
        "port": Key(Whole(1, 65535), "The port that the server listens on", is_required=True),
        "bind": Key(_SOME, "The address that the server listens on (127.0.0.1)"),
        "python": Key(_SOME, "The interpreter that has the engine; ~/ is the home folder on the host (python3)"),
        "draft_model": Key(_SOME, "Path or name of the draft model: {draft_model} in profiles"),
        "args": Key(
            _ARGS, "Launch arguments for every profile: true is a bare flag, null removes one, a list repeats it"
        ),
        "env": Key(_ENV, "Environment of the server for every profile"),
        "workdir": Key(_SOME, "The folder in which the server is started"),
        "setup": Key(ListOf(_SOME), "Shell lines before the command; one that fails stops the launch"),
        "login_shell": Key(
            Flag(), "Start in the environment of a login shell, as ssh HOST 'bash -lc ...' does (false)"
        ),
        "profiles": Key(ListOf(Text(NAME, "a profile's name")), "Launch profiles; the first two are the pivot pair"),
        "log": Key(_SOME, "The log of a server that others start"),
        "drain_seconds": Key(Number(0), "How long running requests may end before they are aborted (30)"),
        "kill_after_seconds": Key(Number(0), "From SIGTERM to SIGKILL (60)"),
        "api_key_env": Key(
            Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable, not the key itself"),
            "The environment variable that holds the API key",
        ),
        "api_key_file": Key(_SOME, "The file on the host that holds the API key"),
        "tls": Key(
            Table(
                {
                    "verify": Key(Flag(), "Check the certificate (true)"),
                    "ca": Key(_SOME, "A file with the certificates to trust"),
                }
            ),
            "The server speaks HTTPS",
        ),
        "rollback": Key(Flag(), "Return to the old profile if the new one dies while it starts"),
        "nodes": Key(
            ListOf(Text(NAME, "a host's name")),
            "The hosts of a server that spans several, by rank; the first is this host, which serves the requests",
        ),
        "head_address": Key(_SOME, "How the other nodes reach this host: {head} in args (the name that ssh takes)"),
    }
)
HOST = Table(
    {
        "ssh": Key(_SSH, "Any name that ssh takes; localhost is this machine, without SSH (the host's name)"),
        "ssh_config": Key(_SOME, "An OpenSSH configuration file instead of your own, as ssh -F"),
        "env": Key(_ENV, "Variables for specdeck's own scripts on the host, such as a PATH that finds nvidia-smi"),
        "servers": Key(MapOf(SERVER), "LLM servers by name"),
    }
)
FLEET = Table({"hosts": Key(MapOf(HOST), "GPU hosts by name", is_required=True)}, takes_extensions=True)
PROFILE = Table(
    {
        "engine": Key(Text(choices=ENGINE_NAMES), "The engine; taken from `extends` if not said"),
        "extends": Key(Text(NAME, "a profile's name"), "A profile whose arguments and environment come first"),
        "requires": Key(Text(), "What the engine's version must be: >=0.5.5,<0.5.13 in quotes"),
        "describe": Key(Text(), "One line for the profile picker"),
        "env": Key(_ENV, "Environment of the server"),
        "args": Key(_ARGS, "Launch arguments: true is a bare flag, null removes one, a list repeats it"),
        "defaults": Key(_ARGS, "Launch arguments that those of the server override, as they do those of `extends`"),
    },
    takes_extensions=True,
)
_COLOUR = Text(
    r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[a-z][a-z0-9_]*(?: \d{1,3}%)?",
    'a colour such as "#1e90ff"',
)
THEME = Table(
    {
        "name": Key(Text(NAME, NAME_WORDS), "The theme's name", is_required=True),
        "dark": Key(Flag(), "Whether it is dark (true)"),
        "colors": Key(
            Table({name: Key(_COLOUR, f"The {name} colour", name == "primary") for name in COLOURS}), "Colours", True
        ),
        "variables": Key(MapOf(_SOME), "Further colour variables"),
    },
    takes_extensions=True,
)
ALERT_KINDS = ("crashed", "stalled", "unhealthy", "ready", "throttled", "slow", "accept", "disk", "lost")
_VARIABLE = Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable, not the address itself")
_ADDRESS = Text(r"https?://[^\s/]+\S*", "an address that begins with http:// or https://")
ALERTS = Table(
    {
        "kinds": Key(ListOf(Text(choices=ALERT_KINDS)), "Which alerts ring; the others are listed only (all)"),
        "bell": Key(Flag(), "Ring the terminal's bell (true)"),
        "desktop": Key(Flag(), "Tell the terminal to notify the desktop, by OSC 9 (true)"),
        "command": Key(
            ListOf(_SOME),
            "A command of yours as a list of words, run on this machine for each alert: the words in $SPECDECK_ALERT, "
            "all of it as JSON on stdin",
        ),
        "webhook": Key(_ADDRESS, "An address that each alert is sent to, as a POST of JSON"),
        "webhook_env": Key(_VARIABLE, "The environment variable that holds this address, where it is a secret"),
    }
)
SETTINGS = Table(
    {
        "ascii": Key(Flag(), "Draw with plain ASCII only, as --ascii does (false)"),
        "mouse": Key(Flag(), "Take the mouse from the terminal at the start; a key takes it or gives it back (true)"),
        "alerts": Key(ALERTS, "How to be told of what nobody looks at"),
        "keys": Key(
            MapOf(ListOf(_SOME), Text(r"[a-z][a-z-]*", "the name of a command; `specdeck keys` lists them")),
            "Other keys, by the name of the command",
        ),
    },
    takes_extensions=True,
)
FILES: Mapping[str, Table] = {"fleet": FLEET, "profile": PROFILE, "theme": THEME, "config": SETTINGS}
