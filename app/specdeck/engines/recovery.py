"""A server as a fleet file would describe it, from its process: started again, it has the command that runs now."""

from collections.abc import Mapping, Sequence
from posixpath import basename

from specdeck.config.objects import ArgValue, Profile, Server
from specdeck.config.placeholders import NAMES, values_of
from specdeck.config.versions import satisfies
from specdeck.engines.base import Engine
from specdeck.engines.command import Command, Difference, assemble, flags_of, grouped
from specdeck.engines.commands import program_of
from specdeck.engines.list_flags import TAKES_SEVERAL
from specdeck.engines.nearest import Nearest, is_speculation, nearest_profile, wanted_flags
from specdeck.engines.spellings import is_same_value, named_flags, one_name
from specdeck.parsing.secrets import is_secret
from specdeck.quick_dataclass import dataclass, replace

MODEL_FLAGS = ("--model-path", "--model", "-m", "--model-name", "--model-id")
PORT_FLAGS = ("--port", "-p")
HOST_FLAGS = ("--host", "--hostname")
REPOSITORY_FLAGS = ("--hf-repo", "-hf")
"""llama.cpp downloads from there; its `--model` is a file."""
DRAFT_FLAGS = ("--speculative-draft-model-path", "--speculative-draft-model", "--model-draft", "-md")
_ANY = "0.0.0.0"  # noqa: S104 - a word of a command line
_DEFAULT_BINDS = {"vllm": _ANY, "tgi": _ANY}
"""Where an engine listens that is told no address; all others on 127.0.0.1."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server's process, as /proc shows it."""

    argv: tuple[str, ...]
    port: int
    env: Mapping[str, str]
    """Of its environment what may matter, without secrets."""
    secret_names: tuple[str, ...] = ()
    """Variables that hold a secret: their values were not read."""
    python: str = ""
    """The program of `argv` with its folder; empty: it could not be found."""
    workdir: str | None = None
    bind: str | None = None
    """Where it was seen to listen."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A server with the profile that it runs."""

    server: Server
    profile: Profile
    """Starts exactly this command: a known one, or one of its own that holds the difference."""
    nearest: Nearest | None
    """None: no profile is for this engine."""
    notes: tuple[str, ...] = ()
    """What could not be recovered, or is written otherwise and means the same."""

    @property
    def is_profile_new(self) -> bool:
        """No file holds the profile yet."""
        return self.nearest is None or self.nearest.profile is not self.profile


def recover(
    engine: Engine,
    running: Running,
    profiles: Sequence[Profile],
    *,
    name: str,
    host: str,
    home: str = "",
    preferred: Sequence[str] = (),
    version: str = "",
) -> Recovered:
    """The server `name` of `host`; `home` is the folder in which specdeck's own runs start, `version` the engine's, if known."""
    server = _frame(engine, running, name, host, home)
    flags, values = named_flags(engine.name, running.argv), values_of(server)
    mine = [profile for profile in profiles if profile.engine == engine.name]
    near = nearest_profile(mine, flags, running.env, values, preferred=preferred)
    is_meant = near is not None and not (version and not satisfies(version, near.profile.requires))
    same = near.profile if near is not None and is_meant and not near.differences else None
    profile = same or _own_profile(engine, running, server, near)
    server = replace(
        server,
        profiles=(profile.name,),
        args=_server_args(engine, running, server, profile),
        env=_escaped_all({key: value for key, value in running.env.items() if key not in profile.env}),
    )
    return Recovered(server, profile, near, tuple(_notes(engine, running, server, profile)))


def flag_value(argv: Sequence[str], names: Sequence[str]) -> str | None:
    """The value of the last of these flags, as `--flag value` or `--flag=value`."""
    value: str | None = None
    for word, after in zip(argv, (*argv[1:], None), strict=True):
        flag, equals, inline = word.partition("=")
        if flag in names:
            value = inline if equals else after
    return value


def named_port(argv: Sequence[str]) -> int | None:
    """The port that a server's command line names."""
    word = flag_value(argv, PORT_FLAGS) or ""
    return int(word) if word.isdecimal() and 0 < int(word) < 65536 else None


def model_of(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    """By its flag, by the word after the one that says serve (`vllm serve MODEL`), or by TGI's variable."""
    return flag_value(argv, MODEL_FLAGS) or _model_word(argv) or env.get("MODEL_ID")


def _model_word(argv: Sequence[str]) -> str | None:
    place = next((place for place, word in enumerate(argv) if basename(word).endswith("serve")), len(argv))
    after = argv[place + 1 :]
    return after[0] if after and not after[0].startswith("-") else None


def unlike(engine: Engine, command: Command, running: Running) -> tuple[Difference, ...]:
    """What a command of ours would do otherwise than the one that runs; spellings and outspoken defaults are no difference."""
    ours, theirs = named_flags(engine.name, command.argv), _without_secrets(engine, running.argv)
    theirs = engine_defaults(engine, running) | theirs
    model = model_of(running.argv, running.env)
    if model is not None and model in command.argv:
        ours, theirs = ({name: told[name] for name in told if name not in MODEL_FLAGS} for told in (ours, theirs))
    env, names = dict(command.env), dict.fromkeys((*ours, *theirs))
    found = [(name, theirs.get(name), ours.get(name)) for name in names]
    found += [(name, running.env.get(name), env.get(name)) for name in dict.fromkeys((*running.env, *env))]
    return tuple(each for each in found if not is_same_value(each[1], each[2]))


def engine_defaults(engine: Engine, running: Running) -> dict[str, str]:
    """Address and port of a server that names none, by the flags that say so."""
    bind = running.bind or _DEFAULT_BINDS.get(engine.name, "127.0.0.1")
    said = {"--host": bind, "--hostname": bind, "--port": str(running.port)}
    probe = Server(name="", host="", model="", port=running.port)
    return {name: said[name] for name in _own_names(engine, probe) if name in said}


def _frame(engine: Engine, running: Running, name: str, host: str, home: str) -> Server:
    """All but arguments, environment and profiles."""
    argv = running.argv
    workdir = running.workdir if running.workdir and running.workdir.rstrip("/") != home.rstrip("/") else None
    key = flag_value(argv, ("--api-key", "--api_key")) is not None or engine.api_key_variable in running.secret_names
    return Server(
        name=name,
        host=host,
        model=model_of(argv, running.env) or flag_value(argv, REPOSITORY_FLAGS) or engine.name,
        port=running.port,
        bind=flag_value(argv, HOST_FLAGS) or running.bind or _DEFAULT_BINDS.get(engine.name, "127.0.0.1"),
        python=_program(engine, running),
        draft_model=flag_value(argv, DRAFT_FLAGS),
        workdir=workdir,
        api_key_env=_variable_for(name) if key else None,
    )


def _program(engine: Engine, running: Running) -> str:
    """The interpreter; where an engine is started by its program (`python3 .../trtllm-serve`), that program."""
    program = program_of(running.argv)[0]
    word = next((word for word in running.argv[1:2] if basename(word) == program), "")
    is_script = bool(word) and engine.entry(Server("", "", "", 1, python="python3"))[0] == program
    return word if is_script else running.python or running.argv[0]


def _variable_for(name: str) -> str:
    word = "".join(char if char.isascii() and char.isalnum() else "_" for char in name.upper())
    return f"{'_' if word[:1].isdigit() else ''}{word}_API_KEY"


def _own_profile(engine: Engine, running: Running, server: Server, near: Nearest | None) -> Profile:
    """A profile that says what runs: of the nearest one's own arguments and of speculation the running values."""
    flags, values = _without_secrets(engine, running.argv), values_of(server)
    names = set(wanted_flags(near.profile, values)) if near else set()
    written = _written_flags(engine, running.argv)
    args = {
        written[name][0]: _placeheld(written[name][1], server)
        for name in flags
        if (name in names or is_speculation(name)) and name not in _own_names(engine, server)
    }
    env_names = set(near.profile.env) if near else set()
    env = {name: value for name, value in running.env.items() if name in env_names or is_speculation(name)}
    about = near.words if near else f"{engine.title} as it was found"
    if near and not near.differences:
        about = f"{about}, which is for other versions ({near.profile.requires})"
    return Profile(f"{server.name}-found", engine.name, about, env=_escaped_all(env), args=args)


def _server_args(engine: Engine, running: Running, server: Server, profile: Profile) -> dict[str, ArgValue]:
    """All flags that the profile does not set; null for what it, or specdeck itself, would add."""
    own = _own_names(engine, server)
    profiles_alone = wanted_flags(profile, values_of(server))
    flags = _without_secrets(engine, running.argv)
    given = named_flags(engine.name, assemble(engine, replace(server, args={}, env={}), profile).argv)
    written = _written_flags(engine, running.argv)
    said = {*own, *profiles_alone, *_said_by_word(engine)}
    args: dict[str, ArgValue] = {
        written[name][0]: _placeheld(written[name][1], server)
        for name, value in flags.items()
        if name not in said and not is_same_value(given.get(name), value)
    }
    for name in given:
        if name not in flags and name not in profiles_alone and not _is_meant(engine, running, name):
            args[name.removeprefix("--")] = None
    return args


def _said_by_word(engine: Engine) -> set[str]:
    """Where the model is an argument without a flag, the flags that say the same."""
    by_word = engine.name in ("vllm", "trtllm")
    return {one_name(engine.name, flag) for flag in MODEL_FLAGS} if by_word else set()


def _is_meant(engine: Engine, running: Running, name: str) -> bool:
    """A flag that says outright what holds without it: address, port, a model that came by a variable."""
    is_model = name in MODEL_FLAGS and model_of(running.argv, running.env) is not None
    return is_model or name in engine_defaults(engine, running)


def _own_names(engine: Engine, server: Server) -> tuple[str, ...]:
    return tuple(one_name(engine.name, flag) for flag in engine.own_args(server))


def _written_flags(engine: Engine, argv: Sequence[str]) -> dict[str, tuple[str, ArgValue]]:
    """Flags by their one name, with the spelling and value that `args` take."""
    words = _values_in_turn(argv)
    return {
        one_name(engine.name, flag): (flag.removeprefix("--"), _value(flag, words.get(flag, [])))
        for flag in flags_of(argv)
    }


def _values_in_turn(argv: Sequence[str]) -> dict[str, list[list[str]]]:
    """Each time that a flag is given, with its words."""
    found: dict[str, list[list[str]]] = {}
    for words in list(grouped(argv))[1:]:
        flag, has_value, value = words[0].partition("=")
        found.setdefault(flag, []).append([value] * bool(has_value) + words[1:])
    return found


def _value(flag: str, given: Sequence[Sequence[str]]) -> ArgValue:
    """A bare flag is true; several words, or a flag that is repeated, are a list."""
    words = [word for each in given for word in each]
    if not words:
        return True
    is_list = len(words) > 1 or flag.removeprefix("--") in TAKES_SEVERAL
    return tuple(_escaped(word) for word in words) if is_list else _escaped(words[0])


def _placeheld(value: ArgValue, server: Server) -> ArgValue:
    """`{draft_model}` where the fleet file says it already."""
    return "{draft_model}" if server.draft_model and value == _escaped(server.draft_model) else value


def _escaped(text: str) -> str:
    """A word that looks like a placeholder stays what it is."""
    for name in NAMES:
        text = text.replace(f"{{{name}}}", f"{{{{{name}}}}}")
    return text


def _escaped_all(env: Mapping[str, str]) -> dict[str, str]:
    return {name: _escaped(value) for name, value in env.items()}


def _without_secrets(engine: Engine, argv: Sequence[str]) -> dict[str, str]:
    """The flags by their one name, but those that hold a secret."""
    return {name: value for name, value in named_flags(engine.name, argv).items() if not is_secret(name, value)}


def _notes(engine: Engine, running: Running, server: Server, profile: Profile) -> list[str]:
    notes: list[str] = []
    command = assemble(engine, server, profile)
    theirs, ours = _entry(running.argv), _entry(command.argv)
    if ours not in (theirs, theirs[1:]):
        notes.append(f"it was started as `{' '.join(theirs)}`, and would be started as `{' '.join(ours)}`")
    if not running.python and not running.argv[0].startswith("/"):
        notes.append(f"where its `{running.argv[0]}` lies could not be read: check `python`")
    hidden = sorted(set(named_flags(engine.name, running.argv)) - set(_without_secrets(engine, running.argv)))
    for name in (*hidden, *running.secret_names):
        notes.append(f"{name} holds a secret, which is never written: {_instead(engine, name, server)}")
    outspoken = [
        flag for flag in engine_defaults(engine, running) if flag not in named_flags(engine.name, running.argv)
    ]
    if outspoken:
        notes.append(f"{' and '.join(outspoken)} will be said outright: what holds by default")
    if (nodes := named_flags(engine.name, running.argv).get("--nnodes", "1")) != "1":
        rank = named_flags(engine.name, running.argv).get("--node-rank", "0")
        notes.append(f"it is rank {rank} of {nodes} of a server over several hosts: `nodes` makes one server of them")
    for name, was, now in unlike(engine, command, running):
        notes.append(f"{name} could not be recovered: it runs with {_shown(was)}, it would start with {_shown(now)}")
    return notes


def _instead(engine: Engine, name: str, server: Server) -> str:
    if server.api_key_env and (name == "--api-key" or name == engine.api_key_variable):
        return f"set {server.api_key_env} where specdeck runs (`api_key_env`), or use `api_key_file`"
    if name.startswith("-"):
        return "it is left out"
    return "put it into the login's environment on the host, or into `setup`"


def _shown(value: str | None) -> str:
    return "nothing" if value is None else f"`{value}`" if value else "the bare flag"


def _entry(argv: Sequence[str]) -> tuple[str, ...]:
    """How it is started, without the folder of its program and without the model."""
    words = next(iter(grouped(argv)), [])
    model, program = _model_word(argv), program_of(argv)[0]
    return tuple(
        basename(word) if place == 0 or basename(word) == program else word
        for place, word in enumerate(words)
        if word != model
    )
