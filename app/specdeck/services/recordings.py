"""Making a recording of what hosts give, and watching one: the same deck either way."""

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.errors import UsageError
from specdeck.quick_dataclass import dataclass
from specdeck.services.open_deck import open_deck
from specdeck.services.store import Store
from specdeck.services.watching import WatchingDeck
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for
from specdeck.transport.questions import Questions
from specdeck.transport.recording import RecordingTransport
from specdeck.transport.replay import ReplayTransport
from specdeck.transport.replay_clock import ReplayClock
from specdeck.transport.tape import Entry, TapeWriter, read_tape

TransportOf = Callable[[Host, Questions | None], Transport]
_SERVER_KEYS = ("name", "host", "model", "port", "bind", "log", "workdir")
"""What watching needs; environments may hold secrets and stay out, but for the variable that names a mode."""
_MODE_VARIABLE = "SGLANG_ENABLE_SPEC_V2"


@contextmanager
def recorded(
    path: Path | None,
    fleet: Fleet,
    clock: Callable[[], float] = time.time,
    *,
    told: Callable[[str], object] = lambda words: None,
) -> Iterator[TransportOf]:
    """The transports of a fleet, written down into a file; without a path they are as always. Raises UsageError.

    A file that cannot be written any more is `told` in a sentence; nothing else changes by it.
    """
    if path is None:
        yield transport_for
        return
    try:
        tape = TapeWriter(path, {"began": clock(), "fleet": _head(fleet)}, told)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error

    def transport_of(host: Host, questions: Questions | None) -> Transport:
        inner = transport_for(host, questions)
        return RecordingTransport(inner, host.name, tape, clock, _secrets_of(host))

    try:
        yield transport_of
    finally:
        tape.close()


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that was read."""

    fleet: Fleet
    began: float
    entries: tuple[Entry, ...]

    @property
    def ended(self) -> float:
        """When its last bytes were given."""
        return self.entries[-1].at if self.entries else self.began


def read_recording(path: Path) -> Recording:
    """Raises UsageError: there is none, or it is none."""
    try:
        head, entries = read_tape(path)
        return Recording(_fleet(head["fleet"]), float(str(head["began"])), entries)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: {error}") from error


@asynccontextmanager
async def open_replay(
    recording: Recording, clock: ReplayClock, store: Store | None = None
) -> AsyncIterator[WatchingDeck]:
    """A deck that sees what was recorded; nothing can be done to it."""

    def transport_of(host: Host, _: Questions | None) -> Transport:
        entries = [entry for entry in recording.entries if entry.host == host.name]
        return ReplayTransport(entries, f"{host.ssh} (recording)", clock)

    async with open_deck(
        recording.fleet, read_only=True, clock=clock.now, transport_of=transport_of, store=store, remembers=False
    ) as deck:
        yield deck


def _secrets_of(host: Host) -> Sequence[str]:
    """Keys that may stand in an answer without any word that gives them away."""
    names = {server.api_key_env for server in host.servers if server.api_key_env}
    found = [value for name in names if len(value := os.environ.get(name, "")) > 3]
    return [*found, *(value for server in host.servers for value in _env_secrets(server.env))]


def _env_secrets(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if len(value) > 3 and any(word in name.upper() for word in ("KEY", "TOKEN", "SECRET", "PASSWORD")):
            yield value


def _head(fleet: Fleet) -> dict[str, object]:
    hosts = {
        host.name: {
            "ssh": host.ssh,
            "servers": [
                {key: getattr(server, key) for key in _SERVER_KEYS} | {"profiles": list(server.profiles)}
                for server in host.servers
            ],
        }
        for host in fleet.hosts
    }
    profiles = {
        name: {
            "engine": profile.engine,
            "args": {key: value for key, value in profile.args.items() if "spec" in key},
            "base_args": {key: value for key, value in profile.base_args.items() if "spec" in key},
            "env": {key: value for key, value in profile.env.items() if key == _MODE_VARIABLE},
        }
        for name, profile in fleet.profiles.items()
    }
    return {"hosts": hosts, "profiles": profiles}


def _fleet(told: object) -> Fleet:
    """Raises KeyError, TypeError, ValueError on anything but a head."""
    if not isinstance(told, dict):
        raise TypeError("it names no fleet")
    hosts = tuple(
        Host(name, host["ssh"], servers=tuple(_server(server) for server in host["servers"]))
        for name, host in told["hosts"].items()
    )
    return Fleet(hosts, {name: Profile(name, **profile) for name, profile in told["profiles"].items()})


def _server(told: dict[str, object]) -> Server:
    words = {key: str(told[key]) for key in ("name", "host", "model", "bind")}
    profiles = told["profiles"]
    return Server(
        **words,  # type: ignore[arg-type]
        port=int(str(told["port"])),
        log=str(told["log"]) if told["log"] else None,
        workdir=str(told["workdir"]) if told["workdir"] else None,
        profiles=tuple(str(name) for name in profiles) if isinstance(profiles, list) else (),
    )
