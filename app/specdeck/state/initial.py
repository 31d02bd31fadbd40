"""The state before anything is known: what the fleet file names."""

from specdeck.config.asked import asked_speculation
from specdeck.config.objects import Fleet, Host, Server
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


def _host(host: Host) -> HostState:
    return HostState(host.name, host.ssh)


def _server(server: Server, fleet: Fleet) -> ServerState:
    """Until the log says otherwise, the engine is that of the first profile."""
    profiles = (fleet.profiles.get(name) for name in server.profiles)
    engine = next((profile.engine for profile in profiles if profile), "")
    return ServerState(
        server.name,
        server.host,
        server.port,
        engine,
        configured_profiles=server.profiles,
        asked_modes={name: mode for name, profile in fleet.profiles.items() if (mode := asked_speculation(profile))},
        evidence=Evidence(listen_port=server.port, rank=server.group.rank if server.group else 0),
        group=server.group,
    )
