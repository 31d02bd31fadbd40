"""What a screen is looking at: the newest state, the moment, and the choices of the user; replaced, never mutated."""

from specdeck.quick_dataclass import dataclass
from specdeck.state.snapshot import FleetState, HostState, ServerState, Word

HOST_MARK = "@"
"""Begins the name of a row for a host on which no server is known."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that panes draw from."""

    fleet: FleetState
    now: float
    """Unix seconds; later than `fleet.at` when nothing happens, so that ages grow."""
    server_name: str | None = None
    """The selected server."""
    host_name: str | None = None
    """The selected host, where a row without a server is selected."""
    wanted: str = ""
    """The filter, as it was typed."""
    is_read_only: bool = False
    paused_at: float | None = None
    """When the user paused the screen; None: live."""
    fleet_name: str = ""
    replay: str = ""
    """The place in a recording: `replay 1:23 of 4:08`; empty: live."""
    order: tuple[str, ...] = ()
    """The names of the servers as they are shown; empty: as in the fleet."""
    is_worst_first: bool = True

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
        if self.host_name is not None:
            return self.fleet.host(self.host_name)
        return self.fleet.hosts[0] if self.fleet.hosts else None

    @property
    def all_servers(self) -> tuple[ServerState, ...]:
        """Every server, in the order of the screen."""
        return tuple(each for each in self.all_rows if not is_bare_host(each.name))

    @property
    def all_rows(self) -> tuple[ServerState, ...]:
        """Every server and every host without one, in the order of the screen."""
        known = {each.name: each for each in rows_of(self.fleet)}
        return tuple(known[name] for name in self.order if name in known) if self.order else tuple(known.values())

    @property
    def rows(self) -> tuple[ServerState, ...]:
        """Those that the filter lets through."""
        return tuple(each for each in self.all_rows if lets_through(self.wanted, each))


def rows_of(fleet: FleetState) -> tuple[ServerState, ...]:
    """The servers, then a stand-in for each host on which none is known: as bad as its link."""
    used = {server.host for server in fleet.everyone}
    return (*fleet.servers, *(_stand_in(host) for host in fleet.hosts if host.name not in used))


def _stand_in(host: HostState) -> ServerState:
    word = {"up": Word.STOPPED, "connecting": Word.UNKNOWN}.get(host.link, Word.UNREACHABLE)
    return ServerState(f"{HOST_MARK}{host.name}", host.name, 0, "", word=word)


def is_bare_host(name: str | None) -> bool:
    """The row is that of a host without a server."""
    return name is not None and name.startswith(HOST_MARK)


def lets_through(wanted: str, server: ServerState) -> bool:
    """Each word of the filter is part of the server's name, host, profile or state; `!word` must not be."""
    text = f"{server.name} {server.host} {server.profile or ''} {server.word}".lower()
    return all(
        (word[1:] not in text) if word.startswith("!") and word != "!" else word in text
        for word in wanted.lower().split()
    )


def is_old_news(host: HostState | None) -> bool:
    """The host does not answer now: what is known of it is shown dimmed, with its age."""
    return host is not None and host.link in ("stale", "down")


def heard_ago(host: HostState | None, now: float) -> float | None:
    """Seconds since the host was last heard."""
    return None if host is None or host.last_seen is None else max(0.0, now - host.last_seen)
