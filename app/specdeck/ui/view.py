"""What a screen is looking at: the newest state, the moment, and the choices of the user; replaced, never mutated."""

from dataclasses import dataclass

from specdeck.state.snapshot import FleetState, HostState, ServerState


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that panes draw from."""

    fleet: FleetState
    now: float
    """Unix seconds; later than `fleet.at` when nothing happens, so that ages grow."""
    server_name: str | None = None
    """The selected server."""
    wanted: str = ""
    """Only servers whose name, host or profile holds this."""
    is_read_only: bool = False
    paused_at: float | None = None
    """When the user paused the screen; None: live."""
    fleet_name: str = ""

    @property
    def server(self) -> ServerState | None:
        """The selected server's state."""
        return self.fleet.server(self.server_name) if self.server_name is not None else None

    @property
    def host(self) -> HostState | None:
        """The host of the selected server, or the first one."""
        server = self.server
        if server is not None:
            return self.fleet.host(server.host)
        return self.fleet.hosts[0] if self.fleet.hosts else None

    @property
    def servers(self) -> tuple[ServerState, ...]:
        """The servers that the filter lets through."""
        wanted = self.wanted.lower()
        if not wanted:
            return self.fleet.servers
        return tuple(s for s in self.fleet.servers if wanted in f"{s.name} {s.host} {s.profile or ''} {s.word}".lower())


def is_old_news(host: HostState | None) -> bool:
    """The host does not answer now: what is known of it is shown dimmed, with its age."""
    return host is not None and host.link in ("stale", "down")


def heard_ago(host: HostState | None, now: float) -> float | None:
    """Seconds since the host was last heard."""
    return None if host is None or host.last_seen is None else max(0.0, now - host.last_seen)
