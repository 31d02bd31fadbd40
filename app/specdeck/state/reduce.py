"""Facts into state: one function for each event, pure; the clock is an argument."""

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.state import alerts, events, host_events, server_events
from specdeck.state.events import Event
from specdeck.state.groups import witnesses_of
from specdeck.state.initial import fleet_read
from specdeck.state.settle import noted, settled_server
from specdeck.state.snapshot import FleetState, Happening


def reduce(state: FleetState, event: Event, at: float) -> FleetState:
    """The state after one more fact; a fact about somebody unknown changes nothing."""
    state = replace(_reduced(state, event, at), at=at)
    return _with_ranks_judged(state, at) if state.ranks else state


def _with_ranks_judged(state: FleetState, at: float) -> FleetState:
    """What the ranks of a group are is evidence of its head."""
    for head in state.servers:
        if head.group is not None and (seen := witnesses_of(head.group.name, state.ranks)) != head.evidence.ranks:
            state = settled_server(state, replace(head, evidence=replace(head.evidence, ranks=seen)), at)
    return state


def _reduced(state: FleetState, event: Event, at: float) -> FleetState:
    match event:
        case events.HostConnected():
            return host_events.host_connected(state, event, at)
        case events.HostHeard():
            return host_events.host_heard(state, event, at)
        case events.HostLost():
            return host_events.host_lost(state, event, at)
        case events.LoginAsked():
            return host_events.login_asked(state, event, at)
        case events.LoginAwaited():
            return host_events.login_awaited(state, event)
        case events.HostMemorySampled():
            return host_events.host_memory_sampled(state, event, at)
        case events.GpusSampled():
            return host_events.gpus_sampled(state, event, at)
        case events.GpusChecked():
            return host_events.gpus_checked(state, event, at)
        case events.GpuProcessesSampled():
            return host_events.gpu_processes_sampled(state, event, at)
        case events.GpusUnavailable():
            return host_events.gpus_unavailable(state, event, at)
        case events.Ticked():
            return alerts.watched(host_events.stale_marked(state, at), at)
        case events.FleetRead():
            return fleet_read(state, event.fleet, at)
        case events.ServerDiscovered():
            return server_events.server_discovered(state, event, at)
        case events.RunFound():
            return server_events.run_found(state, event, at)
        case events.ProcessSeen():
            return server_events.process_seen(state, event, at)
        case events.PortSeen():
            return server_events.port_seen(state, event, at)
        case events.HealthAnswered():
            return server_events.health_answered(state, event, at)
        case events.LogAdvanced():
            return server_events.log_advanced(state, event, at)
        case events.LogUnreadable():
            return server_events.log_unreadable(state, event, at)
        case events.LoadSampled():
            return server_events.load_sampled(state, event, at)
        case events.ActAdvanced():
            return server_events.act_advanced(state, event, at)
        case events.StartsRecalled():
            return server_events.starts_recalled(state, event)
        case events.LockSeen():
            return server_events.lock_seen(state, event)
        case events.WatchersSeen():
            return host_events.watchers_seen(state, event, at)
        case events.DisksSampled():
            return host_events.disks_sampled(state, event, at)
        case events.AlertsSilenced():
            return alerts.silenced(state, event.silence)
        case events.Noted():
            return noted(state, Happening(at, event.source, plain(event.text), event.severity))
