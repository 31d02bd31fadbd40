"""Finds the LLM servers of a host that no fleet file describes: their command lines, ports and logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename

from specdeck.config.objects import Server
from specdeck.engines.base import Engine
from specdeck.engines.registry import ENGINES
from specdeck.services.runs import SERVER_WORDS
from specdeck.services.survey import Described, read_descriptions
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

MODEL_FLAGS = ("--model-path", "--model", "-m", "--model-name", "--model-id")
PORT_FLAGS = ("--port", "-p")
HOST_FLAGS = ("--host", "--hostname")


@dataclass(frozen=True, slots=True)
class Found:
    """A process that is a server of a known engine."""

    process: Described
    engine: str
    port: int


async def discover(transport: Transport) -> tuple[Found, ...]:
    """Look once through all processes. Raises TransportError."""
    outcome = await transport.run(Script(script_text("discover"), (SERVER_WORDS,)), limit_seconds=30.0)
    return read_discovery(outcome.stdout)


def read_discovery(answer: bytes) -> tuple[Found, ...]:
    """The answer of discover.sh; lines that make no sense are passed over."""
    processes = read_descriptions(answer)
    ports = _ports_by_pid(answer)
    found: list[Found] = []
    for pid in sorted(processes):
        engine = _engine_of(processes[pid].argv)
        if engine is None:
            continue
        port = named_port(processes[pid].argv) or next(iter(ports.get(pid, ())), engine.default_port)
        found.append(Found(processes[pid], engine.name, port))
    return tuple(found)


def as_server(found: Found, host: str, taken: Iterable[str]) -> Server:
    """The server as a fleet file would describe it; its name is that of its model's folder, made unique."""
    argv = found.process.argv
    model = _flag(argv, MODEL_FLAGS) or _model_word(argv) or found.engine
    return Server(
        name=_unique(_short(model) or found.engine, set(taken)),
        host=host,
        model=model,
        port=found.port,
        bind=_flag(argv, HOST_FLAGS) or "127.0.0.1",
        python=argv[0],
        log=found.process.log,
        workdir=found.process.workdir or None,
    )


def _engine_of(argv: Sequence[str]) -> Engine | None:
    return next((engine for engine in ENGINES.values() if engine.recognises_command(argv)), None)


def _ports_by_pid(answer: bytes) -> Mapping[int, tuple[int, ...]]:
    """Listening ports by the process that holds their socket."""
    inodes: dict[str, int] = {}
    holders: list[tuple[str, str]] = []
    for line in answer.decode("utf-8", "replace").split("\n"):
        tag, _, rest = line.partition(" ")
        first, _, second = rest.partition(" ")
        if tag == "@listen":
            inodes[second] = int(first, 16)
        elif tag == "@socket" and second.isdecimal():
            holders.append((second, first))
    ports: dict[int, tuple[int, ...]] = {}
    for pid, inode in holders:
        if inode in inodes:
            ports[int(pid)] = (*ports.get(int(pid), ()), inodes[inode])
    return ports


def _flag(argv: Sequence[str], names: Sequence[str]) -> str | None:
    """The value of the last of these flags, as `--flag value` or `--flag=value`."""
    value: str | None = None
    for word, after in zip(argv, (*argv[1:], None), strict=True):
        name, equals, inline = word.partition("=")
        if name in names:
            value = inline if equals else after
    return value


def named_port(argv: Sequence[str]) -> int | None:
    """The port that a server's command line names."""
    word = _flag(argv, PORT_FLAGS) or ""
    return int(word) if word.isdecimal() and 0 < int(word) < 65536 else None


def _model_word(argv: Sequence[str]) -> str | None:
    """The model of `vllm serve MODEL`, `trtllm-serve MODEL`: the word after the one that says serve."""
    place = next((place for place, word in enumerate(argv) if basename(word).endswith("serve")), len(argv))
    after = argv[place + 1 :]
    return after[0] if after and not after[0].startswith("-") else None


def _short(model: str) -> str:
    """`kimi` of `/data/models/kimi/` or of `org/kimi`; only what a folder may be called."""
    name = basename(model.rstrip("/")).removesuffix(".gguf")
    return "".join(character if character.isalnum() or character in "._-" else "-" for character in name).strip("-._")


def _unique(name: str, taken: set[str]) -> str:
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)
