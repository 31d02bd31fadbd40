"""Finds the LLM servers of a host that no fleet file describes: their command lines, ports, profiles and logs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from posixpath import basename

from specdeck.config.objects import Fleet, Profile, Server
from specdeck.engines.base import Engine
from specdeck.engines.nearest import Nearest
from specdeck.engines.recovery import Recovered, Running, flag_value, model_of, named_port, recover
from specdeck.engines.registry import ENGINES
from specdeck.parsing.addresses import address_of
from specdeck.quick_dataclass import dataclass, replace
from specdeck.services.described import Described, home_of, read_descriptions
from specdeck.services.runs import SERVER_WORDS
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

_HUB_FOLDER = re.compile(r"(?:^|/)models--(?:[^/]*--)?(?P<name>[^/]+)/snapshots/[0-9a-f]{7,64}/?$")
"""Where Hugging Face's cache keeps a model: its own folder is called by a commit."""
_LONGEST_NAME = 40
"""Names of hosts' folders and of profiles are made of it."""
_PROXY_WORDS = re.compile(
    r"-host-port (?P<port>\d{1,5}) .*-container-ip (?P<ip>[0-9a-f.:]+) -container-port (?P<inner>\d{1,5})"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A process that is a server of a known engine."""

    process: Described
    engine: str
    port: int
    """By which it is reached on the host."""
    bind: str | None = None
    """Where it was seen to listen; None: it does not listen yet, or may not be seen."""
    home: str = ""
    """Of the login."""
    inner_port: int | None = None
    """What its own network calls the port, where that is not the host's."""

    @property
    def is_published(self) -> bool:
        """Its port is the host's own, or leads into its container."""
        return "net" not in self.process.apart or self.inner_port is not None


@dataclass(slots=True)
class _Sockets:
    """Who listens where."""

    places: dict[str, tuple[int, str]] = field(default_factory=dict)
    """(port, address) by inode."""
    holders: dict[int, list[str]] = field(default_factory=dict)
    """Inodes by pid."""
    addresses: dict[int, set[str]] = field(default_factory=dict)
    """Of the network of a process that has its own."""
    proxies: list[tuple[int, str, int]] = field(default_factory=list)
    """(port of the host, address, port) of what Docker publishes."""

    def of(self, pid: int) -> list[tuple[int, str]]:
        """(port, address) of a process."""
        return [self.places[inode] for inode in self.holders.get(pid, ()) if inode in self.places]

    def published(self, port: int, pid: int) -> int | None:
        """The host's port that leads to this one of a container."""
        mine = self.addresses.get(pid, set())
        return next((outer for outer, ip, inner in self.proxies if inner == port and ip in mine), None)


async def discover(transport: Transport) -> tuple[Found, ...]:
    """Look once through all processes. Raises TransportError."""
    outcome = await transport.run(Script(script_text("discover"), (SERVER_WORDS,)), limit_seconds=30.0)
    return read_discovery(outcome.stdout)


def read_discovery(answer: bytes) -> tuple[Found, ...]:
    """The answer of discover.sh; lines that make no sense are passed over."""
    processes, sockets, home = read_descriptions(answer), _sockets(answer), home_of(answer)
    found: list[Found] = []
    for pid in sorted(processes):
        process = with_words(processes[pid])
        engine = engine_of(process)
        if engine is not None:
            found.append(_found(process, engine, sockets, home))
    return tuple(found)


def engine_of(process: Described) -> Engine | None:
    """By its command line."""
    return next((engine for engine in ENGINES.values() if engine.recognises_command(process.argv)), None)


def with_words(process: Described) -> Described:
    """A process that sets its title has the whole command line in one argument, without its quotes."""
    argv = process.argv
    is_title = len([word for word in argv if word]) == 1 and " -" in argv[0]
    return replace(process, argv=tuple(argv[0].split())) if is_title else process


def as_server(
    found: Found, host: str, taken: Iterable[str], profiles: Mapping[str, Profile] | None = None, *, version: str = ""
) -> Recovered:
    """The server as a fleet file would describe it; its name is that of its model's folder, made unique."""
    process = found.process
    name = _unique(_name_of(process) or found.engine, set(taken))
    seen = recovered(
        process,
        found.engine,
        found.port,
        profiles or {},
        name=name,
        host=host,
        bind=found.bind,
        home=found.home,
        version=version,
    )
    if found.is_published:
        return seen
    words = f"port {found.port} is its container's own: the host does not lead there, so it cannot be asked how it is"
    return replace(seen, notes=(*seen.notes, words))


def as_servers(
    found: Iterable[Found], host: str, taken: Iterable[str], profiles: Mapping[str, Profile]
) -> list[Recovered]:
    """All of them by port, each under a name of its own; of several processes on one port the first."""
    names = set(taken)
    by_port: dict[int, Recovered] = {}
    for each in found:
        if each.port not in by_port:
            by_port[each.port] = as_server(each, host, names, profiles)
            names.add(by_port[each.port].server.name)
    return list(by_port.values())


def joined(fleet: Fleet, seen: Recovered) -> Fleet:
    """The fleet with one server more, and the profile that it runs."""
    server = seen.server
    hosts = (
        replace(host, servers=(*host.servers, server)) if host.name == server.host else host for host in fleet.hosts
    )
    return replace(fleet, hosts=tuple(hosts), profiles={seen.profile.name: seen.profile, **fleet.profiles})


def recovered(
    process: Described,
    engine: str,
    port: int,
    profiles: Mapping[str, Profile],
    *,
    name: str,
    host: str,
    bind: str | None = None,
    home: str = "",
    preferred: Sequence[str] = (),
    version: str = "",
) -> Recovered:
    """A process as a server of that name, with the profile that it runs."""
    running = Running(
        process.argv, port, process.env, process.secret_names, process.program, process.workdir or None, bind
    )
    seen = recover(
        ENGINES[engine],
        running,
        tuple(profiles.values()),
        name=name,
        host=host,
        home=home,
        preferred=preferred,
        version=version,
    )
    return replace(seen, notes=(*seen.notes, *_notes(process)))


def nearest_of(process: Described, engine: str, server: Server, profiles: Mapping[str, Profile]) -> Nearest | None:
    """The profile that a process comes nearest to, as this server of the fleet; those that the server lists come first."""
    return recovered(
        process, engine, server.port, profiles, name=server.name, host=server.host, preferred=server.profiles
    ).nearest


def _notes(process: Described) -> tuple[str, ...]:
    """What stands in the way of starting it again."""
    told: list[str] = []
    if process.is_env_hidden:
        told.append("its environment may not be read by this user: its variables are not recovered")
    if process.is_contained:
        told.append("it runs in a container: its paths are those inside, and specdeck cannot start it there")
    if process.owner is not None:
        told.append(f"{process.owner.words} started it and would start it again: stop and start it there")
    return tuple(told)


def _found(process: Described, engine: Engine, sockets: _Sockets, home: str) -> Found:
    places = sockets.of(process.pid)
    port = named_port(process.argv) or next((port for port, _ in places), engine.default_port)
    bind = next((address for at, address in places if at == port), None)
    if "net" not in process.apart:
        return Found(process, engine.name, port, bind, home)
    outer = sockets.published(port, process.pid)
    return Found(process, engine.name, outer or port, bind, home, port if outer else None)


def _sockets(answer: bytes) -> _Sockets:
    found = _Sockets()
    for line in answer.decode("utf-8", "replace").split("\n"):
        tag, *words = line.split(" ")
        if tag == "@listen" and len(words) >= 2:
            _add_place(found, words)
        elif tag == "@socket" and len(words) == 2 and words[1].isdecimal():
            found.holders.setdefault(int(words[1]), []).append(words[0])
        elif tag == "@address" and len(words) == 2 and words[0].isdecimal():
            found.addresses.setdefault(int(words[0]), set()).add(words[1])
        elif tag == "@proxy" and (match := _PROXY_WORDS.search(" ".join(words))):
            found.proxies.append((int(match["port"]), match["ip"], int(match["inner"])))
    return found


def _add_place(found: _Sockets, words: Sequence[str]) -> None:
    """`PORT INODE ADDRESS`, port and address in the kernel's hexadecimal form."""
    try:
        port = int(words[0], 16)
    except ValueError:
        return
    if 0 < port < 65536:
        found.places[words[1]] = (port, address_of(words[2] if len(words) > 2 else "") or "127.0.0.1")


def _name_of(process: Described) -> str:
    """What its clients call the model, else the name of the model's folder."""
    served = flag_value(process.argv, ("--served-model-name", "--alias", "-a")) or ""
    model = model_of(process.argv, process.env) or ""
    if in_hub := _HUB_FOLDER.search(model):
        model = in_hub["name"]
    return _short(served) or _short(model)


def _short(model: str) -> str:
    """`kimi` of `/data/models/kimi/` or of `org/kimi`; only what a folder may be called."""
    name = basename(model.rstrip("/")).removesuffix(".gguf")
    kept = (char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in name)
    return "".join(kept).strip("-._")[:_LONGEST_NAME].strip("-._")


def _unique(name: str, taken: set[str]) -> str:
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)
