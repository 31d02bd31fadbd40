"""What fleet and profile files say, as frozen objects: already validated, defaults filled in."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from specdeck.quick_dataclass import dataclass

ArgValue = str | int | float | bool | None | tuple["str | int | float", ...]
"""A launch argument: true is a bare flag, null removes one, a list repeats it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A launch profile with everything of its `extends` already merged in."""

    name: str
    engine: str
    describe: str = ""
    requires: str = ""
    """What the engine's version must be, as `>=0.5.5,<0.5.13`; empty: anything."""
    env: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, ArgValue] = field(default_factory=dict)
    """The profile's own arguments (they override the server's)."""
    base_args: Mapping[str, ArgValue] = field(default_factory=dict)
    """Its `defaults` over the arguments of the profiles that it extends (the server's override them)."""
    source: Path | None = None


@dataclass(frozen=True, slots=True)
class Tls:
    """How to talk HTTPS to a server."""

    verify: bool = True
    ca: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The place of a server in one that spans several hosts: each rank is a server of its own inside, the head carries the name."""

    name: str
    rank: int
    hosts: tuple[str, ...]
    """Names of the hosts by rank; the first is the head's."""
    head: str
    """The address of the head, as the other hosts reach it."""

    @property
    def words(self) -> str:
        """`rank 1 of 2`, for a sentence."""
        return f"rank {self.rank} of {len(self.hosts)}"


@dataclass(frozen=True, slots=True)
class Server:
    """One LLM server of a host, as the fleet file describes it."""

    name: str
    host: str
    model: str
    port: int
    bind: str = "127.0.0.1"
    """The address that the server listens on, and that specdeck asks on the host."""
    python: str = "python3"
    draft_model: str | None = None
    args: Mapping[str, ArgValue] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    setup: tuple[str, ...] = ()
    """Shell lines before the command: `module load`, `source .../activate`."""
    login_shell: bool = False
    """Start in the environment of the user's login shell on the host, not in the bare one that SSH gives."""
    profiles: tuple[str, ...] = ()
    """The first two are the pivot pair."""
    log: str | None = None
    """The log of a server that others start; specdeck's own runs have a log each."""
    drain_seconds: float = 30.0
    kill_after_seconds: float = 60.0
    """From SIGTERM to SIGKILL of the family."""
    rollback: bool = False
    """When the new run of a pivot dies while starting, the old profile is started again."""
    api_key_env: str | None = None
    api_key_file: str | None = None
    tls: Tls | None = None
    group: Group | None = None
    """None: it needs one host only."""

    @property
    def is_rank(self) -> bool:
        """It serves no requests itself: the head of its group does."""
        return self.group is not None and self.group.rank > 0


@dataclass(frozen=True, slots=True)
class Host:
    """One GPU host, by any name that `ssh` takes; `localhost` is this machine, without SSH."""

    name: str
    ssh: str
    ssh_config: Path | None = None
    """An OpenSSH configuration file to read instead of the user's own (as `ssh -F`)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for specdeck's own scripts on the host, such as a PATH that finds nvidia-smi."""
    servers: tuple[Server, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """All hosts, and the profiles by name."""

    hosts: tuple[Host, ...]
    profiles: Mapping[str, Profile]
    source: Path | None = None

    def server(self, name: str) -> Server | None:
        """The server of that name, `NAME` or `HOST/NAME`."""
        for host in self.hosts:
            for server in host.servers:
                if name in (server.name, f"{host.name}/{server.name}"):
                    return server
        return None

    def host(self, name: str) -> Host | None:
        """The host of that name."""
        return next((host for host in self.hosts if host.name == name), None)

    def members(self, server: Server) -> tuple[Server, ...]:
        """The server alone, or all ranks of its group that are in this fleet, the head first."""
        if server.group is None:
            return (server,)
        found = {
            each.group.rank: each
            for host in self.hosts
            for each in host.servers
            if each.group and each.group.name == server.group.name
        }
        return tuple(found[rank] for rank in sorted(found))
