"""From servers that run to entries of the fleet file: which profile each starts with, and what cannot be written down."""

from collections.abc import Sequence
from pathlib import Path

from specdeck.config.asked import asked_speculation
from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.config.placeholders import values_of
from specdeck.config.profile import placeholders_of
from specdeck.config.versions import satisfies
from specdeck.engines.recovery import Recovered
from specdeck.engines.registry import ENGINES
from specdeck.errors import TransportError
from specdeck.quick_dataclass import dataclass, replace
from specdeck.services.fleet_file import Addition, add
from specdeck.transport.base import Transport
from specdeck.transport.script import Script

VERSION_SECONDS = 60.0
"""An interpreter on a cold network disk takes long to start."""
_ASK = """\
case $1 in "~/"*) program=$HOME/${1#??} ;; *) program=$1 ;; esac
script=$2
shift 2
for word; do export "$word"; done
exec "$program" -c "$script" </dev/null
"""


@dataclass(frozen=True, slots=True)
class Adopted:
    """One server as it comes into the file."""

    server: Server
    seen: Recovered
    version: str = ""
    """Of its engine; empty: it could not be asked."""
    new_profile: Profile | None = None
    """To be written beside the fleet file."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be recovered, in words."""
        return self.seen.notes


def adopted(seen: Recovered, fleet: Fleet, version: str) -> Adopted:
    """With the profile that it runs first, and then those that would start it too."""
    others = [each for each in fleet.profiles.values() if fits(each, seen, version)]
    rest = sorted(others, key=lambda each: (asked_speculation(each) == "none", each.name))
    names = dict.fromkeys((seen.profile.name, *(each.name for each in rest)))
    new = seen.profile if seen.is_profile_new else None
    return Adopted(replace(seen.server, profiles=tuple(names)), seen, version, new)


def fits(profile: Profile, seen: Recovered, version: str) -> bool:
    """It is for this engine, for its version, and the server says all that it uses."""
    values = values_of(seen.server)
    is_told = all(values[name] is not None for name in placeholders_of(profile))
    is_right = not version or satisfies(version, profile.requires)
    return profile.engine == seen.profile.engine and is_told and is_right


def addition(path: Path, fleet: Fleet, servers: Sequence[Adopted]) -> Addition:
    """What these servers add to the fleet file. Raises ConfigError."""
    entries: dict[str, tuple[Host, list[Server]]] = {}
    for each in servers:
        host = fleet.host(each.server.host)
        assert host is not None  # noqa: S101 - it was found there
        entries.setdefault(host.name, (replace(host, servers=()), []))[1].append(each.server)
    return add(path, entries, [each.new_profile for each in servers if each.new_profile is not None])


async def engine_version(transport: Transport, seen: Recovered) -> str:
    """Of a found server. Empty where it does not answer."""
    return await version_there(transport, seen.server, seen.profile.engine)


async def version_there(transport: Transport, server: Server, engine: str) -> str:
    """Asked of the server's interpreter on its host; empty where that does not answer."""
    env = [f"{name}={value}" for name, value in server.env.items() if name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")]
    is_python = server.python.rpartition("/")[2].startswith("python")
    program = server.python if is_python else "python3"
    script = Script(_ASK, (program, ENGINES[engine].version_script(), *env))
    try:
        outcome = await transport.run(script, limit_seconds=VERSION_SECONDS)
    except TransportError:
        return ""
    words = outcome.stdout.decode("utf-8", "replace").split()
    return words[-1] if outcome.exit_status == 0 and words else ""
