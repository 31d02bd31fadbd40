"""Facts about hosts and their GPUs into state."""

from collections.abc import Callable
from typing import Literal

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.state.durations import span
from specdeck.state.events import (
    DisksSampled,
    GpuProcessesSampled,
    GpusChecked,
    GpusSampled,
    GpusUnavailable,
    HostConnected,
    HostHeard,
    HostLost,
    HostMemorySampled,
    LoginAsked,
    LoginAwaited,
    WatchersSeen,
)
from specdeck.state.gpu_troubles import troubles_of
from specdeck.state.gpu_warnings import with_gpu_warnings
from specdeck.state.gpus import with_checkup, with_host_memory, with_new_rows, with_processes
from specdeck.state.settle import noted, settled_host, with_host
from specdeck.state.snapshot import (
    FleetState,
    Happening,
    HostState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    ServerState,
)

STALE_AFTER_SECONDS = 6.0
"""Three intervals of the monitor."""
STAYS_AFTER_SECONDS = 5.0
"""Who watches for so long is a dashboard, not a `status` that is over before anybody has read of it."""


def host_connected(state: FleetState, event: HostConnected, at: float) -> FleetState:
    """What was known of processes, ports and answers before a loss of the connection is known no more."""
    host = state.host(event.host)
    if host is None:
        return state
    was_away = host.link in ("down", "connecting")
    back = host.link == "down" and host.last_seen is not None
    text = f"connection is back after {span(at - (host.last_seen or at))}"
    if was_away:
        state = _witnesses_forgotten(state, host.name)
    state = noted(state, Happening(at, host.name, text) if back else None)
    host = replace(host, link="up", last_seen=at, connected_at=at, error=None, retry_at=None, route=plain(event.route))
    return settled_host(state, host, at)


def host_heard(state: FleetState, event: HostHeard, at: float) -> FleetState:
    """It lives."""
    return _with_host(state, event.host, at, lambda host: replace(host, link="up", error=None, retry_at=None))


def host_lost(state: FleetState, event: HostLost, at: float) -> FleetState:
    """The old numbers stay, to be shown with their age; a repeated failure is one line."""
    host = state.host(event.host)
    if host is None:
        return state
    reason = plain(event.reason)
    retry_at = None if event.retry_in_seconds is None else at + event.retry_in_seconds
    is_told = host.link == "down" and host.error == reason
    state = noted(state, None if is_told else Happening(at, host.name, f"no connection: {reason}", "warning"))
    return settled_host(state, replace(host, link="down", error=reason, retry_at=retry_at), at)


def login_asked(state: FleetState, event: LoginAsked, at: float) -> FleetState:
    """The question stands beside the host until it is answered; it says nothing of whether the host lives."""
    host = state.host(event.host)
    if host is None:
        return state
    question = event.question
    line = Happening(at, host.name, f"the login asks: {question.text}", "warning") if question else None
    return with_host(noted(state, line), replace(host, question=question))


def login_awaited(state: FleetState, event: LoginAwaited) -> FleetState:
    """The question itself stands beside the host that is asked."""
    host = state.host(event.host)
    return state if host is None else with_host(state, replace(host, awaited=event.question))


def gpus_sampled(state: FleetState, event: GpusSampled, at: float) -> FleetState:
    """New rows; what is wrong with a GPU and was not before is a line."""
    return _with_gpus(
        state,
        event.host,
        at,
        lambda host: replace(
            with_new_rows(host, event.gpus, at, event.lost), gpus_at=at, gpu_error=None, gpu_error_at=None
        ),
    )


def gpus_checked(state: FleetState, event: GpusChecked, at: float) -> FleetState:
    """What the minutes-long look says of them."""
    return _with_gpus(state, event.host, at, lambda host: with_checkup(host, event.checkup))


def _with_gpus(state: FleetState, name: str, at: float, change: Callable[[HostState], HostState]) -> FleetState:
    before = state.host(name)
    if before is None:
        return state
    known = _troubles(before, at)
    state = _with_host(state, name, at, change)
    after = state.host(name)
    new = {text: severity for text, severity in _troubles(after, at).items() if text not in known} if after else {}
    state = noted(state, *(Happening(at, name, text, severity) for text, severity in new.items()))
    return with_gpu_warnings(state, name, at)


def gpu_processes_sampled(state: FleetState, event: GpuProcessesSampled, at: float) -> FleetState:
    """Who holds GPU memory, matched to the servers."""
    host = state.host(event.host)
    if host is None:
        return state
    state = settled_host(state, heard(with_processes(host, event.processes, state.everyone), at), at)
    return with_gpu_warnings(state, event.host, at)


def gpus_unavailable(state: FleetState, event: GpusUnavailable, at: float) -> FleetState:
    """The last rows stay with their age; the host itself answered, so it is not away."""
    host, reason = state.host(event.host), plain(event.reason)
    if host is None or host.gpu_error == reason:
        return _with_host(state, event.host, at, lambda host: host)
    state = noted(state, Happening(at, host.name, reason, "warning"))
    return _with_host(state, event.host, at, lambda host: replace(host, gpu_error=reason, gpu_error_at=at))


def host_memory_sampled(state: FleetState, event: HostMemorySampled, at: float) -> FleetState:
    """The size of GPUs that have no memory of their own."""
    return _with_host(state, event.host, at, lambda host: with_host_memory(host, event.total_mib, event.available_mib))


def disks_sampled(state: FleetState, event: DisksSampled, at: float) -> FleetState:
    """How full the disks of the logs are."""
    return _with_host(state, event.host, at, lambda host: replace(host, log_disks=event.disks))


def watchers_seen(state: FleetState, event: WatchersSeen, at: float) -> FleetState:
    """Who came to stay and who of them left is a line; one `status` is none."""
    host = state.host(event.host)
    if host is None:
        return state
    told = tuple(each for each in host.told_watchers if each in event.watchers)
    left = [f"{each.words} left" for each in host.told_watchers if each not in told]
    host = replace(host, watchers=event.watchers, told_watchers=told)
    state = _with_watchers_told(with_host(state, host), host, at)
    return noted(state, *(Happening(at, host.name, plain(text)) for text in left))


def _with_watchers_told(state: FleetState, host: HostState, at: float) -> FleetState:
    """A line for each that has been there for a while and has none."""
    stays = [each for each in host.watchers if at - each.since >= STAYS_AFTER_SECONDS]
    came = [each for each in stays if each not in host.told_watchers]
    if not came:
        return state
    state = noted(state, *(Happening(at, host.name, plain(f"{each.words} watches too")) for each in came))
    return with_host(state, replace(host, told_watchers=(*host.told_watchers, *came)))


def families_matched(state: FleetState, host_name: str, at: float) -> FleetState:
    """The GPU processes of a host matched again, after a family has changed."""
    host = state.host(host_name)
    if host is None or not host.processes:
        return state
    state = settled_host(state, with_processes(host, host.processes, state.everyone), at)
    return with_gpu_warnings(state, host_name, at)


def stale_marked(state: FleetState, at: float) -> FleetState:
    """Hosts that were not heard for a while, by specdeck's own clock; every server's ages move on."""
    for host in state.hosts:
        silent = at - host.last_seen if host.last_seen is not None else 0.0
        is_stale = host.link == "up" and silent > STALE_AFTER_SECONDS
        if is_stale:
            state = noted(state, Happening(at, host.name, f"no data for {span(silent)}", "warning"))
        host = replace(host, link="stale") if is_stale else host
        state = settled_host(state, host, at)
        if host.link == "up":
            state = _with_watchers_told(state, host, at)
    return replace(state, at=at)


def heard(host: HostState, at: float) -> HostState:
    """A host whose bytes just arrived; what was still on the way when the connection broke does not bring it back."""
    return host if host.link == "down" else replace(host, link="up", last_seen=at)


def _with_host(state: FleetState, name: str, at: float, change: Callable[[HostState], HostState]) -> FleetState:
    """Facts that say nothing of servers: these are judged again only when the host comes back with it."""
    host = state.host(name)
    if host is None:
        return state
    changed = heard(change(host), at)
    return with_host(state, changed) if changed.link == host.link else settled_host(state, changed, at)


def _troubles(host: HostState, at: float) -> dict[str, Literal["warning", "error"]]:
    """`GPU 3: slowed down: too hot (hardware thermal slowdown)`, by severity."""
    return {
        trouble.words if gpu.lost else f"GPU {gpu.index}: {trouble.words}": "error" if trouble.is_error else "warning"
        for gpu in host.gpus
        for trouble in troubles_of(gpu, at)
    }


def _witnesses_forgotten(state: FleetState, host_name: str) -> FleetState:
    return replace(
        state,
        servers=tuple(_without_witnesses(server, host_name) for server in state.servers),
        ranks=tuple(_without_witnesses(server, host_name) for server in state.ranks),
    )


def _without_witnesses(server: ServerState, host_name: str) -> ServerState:
    if server.host != host_name:
        return server
    evidence = replace(server.evidence, process=ProcessWitness(), port=PortWitness(), http=HttpWitness(), ok_since=None)
    return replace(server, evidence=evidence)
