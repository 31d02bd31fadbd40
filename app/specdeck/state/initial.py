"""The state before anything is known: what the fleet file names."""

from collections.abc import Collection, Mapping

from specdeck.config.asked import asked_speculation
from specdeck.config.objects import Fleet, Host, Server
from specdeck.quick_dataclass import replace
from specdeck.state.snapshot import Evidence, FleetState, HostState, ServerState


def initial_state(fleet: Fleet, at: float) -> FleetState:
    """Everything that the fleet file names, and nothing known of it."""
    servers = [server for host in fleet.hosts for server in host.servers]
    return FleetState(
        at,
        hosts=tuple(_host(host) for host in fleet.hosts),
        servers=tuple(_server(server, fleet) for server in servers if not server.is_rank),
        ranks=tuple(_server(server, fleet) for server in servers if server.is_rank),
    )


def fleet_read(state: FleetState, fleet: Fleet, at: float) -> FleetState:
    """The state with the hosts and servers of this fleet: what is known of those that stay is kept."""
    fresh = initial_state(fleet, at)
    hosts = {(host.name, host.address): host for host in state.hosts}
    known = {server.name: server for server in state.everyone}
    return replace(
        state,
        hosts=tuple(hosts.get((host.name, host.address), host) for host in fresh.hosts),
        servers=tuple(_kept(server, known.get(server.name)) for server in fresh.servers),
        ranks=tuple(_kept(server, known.get(server.name)) for server in fresh.ranks),
    )


def _kept(fresh: ServerState, known: ServerState | None) -> ServerState:
    """The same server with what the file says now; on another host or port it is another one."""
    if known is None or (known.host, known.port, known.group) != (fresh.host, fresh.port, fresh.group):
        return fresh
    return replace(
        known,
        configured_profiles=fresh.configured_profiles,
        asked_modes=fresh.asked_modes,
        engine=known.engine or fresh.engine,
    )


def _host(host: Host) -> HostState:
    return HostState(host.name, host.ssh)


def _server(server: Server, fleet: Fleet) -> ServerState:
    """Until the log says otherwise, the engine is that of the first profile."""
    engines = [fleet.profiles[name].engine for name in server.profiles if name in fleet.profiles]
    return ServerState(
        server.name,
        server.host,
        server.port,
        engines[0] if engines else "",
        configured_profiles=server.profiles,
        asked_modes=_asked_modes(fleet, engines),
        evidence=Evidence(listen_port=server.port, rank=server.group.rank if server.group else 0),
        group=server.group,
    )


def _asked_modes(fleet: Fleet, engines: Collection[str]) -> Mapping[str, str]:
    """Of the profiles that it may have been launched with, which are not only those that the file names for it now."""
    profiles = [each for each in fleet.profiles.items() if not engines or each[1].engine in engines]
    return {name: mode for name, profile in profiles if (mode := asked_speculation(profile))}
