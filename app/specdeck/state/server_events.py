"""Facts about servers into state."""

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.state.acts import ends_the_old_run, explains_the_end
from specdeck.state.counter_window import CounterWindow
from specdeck.state.events import (
    ActAdvanced,
    HealthAnswered,
    LoadSampled,
    LockSeen,
    LogAdvanced,
    LogUnreadable,
    PortSeen,
    ProcessSeen,
    RunFound,
    ServerDiscovered,
    StartsRecalled,
)
from specdeck.state.happenings import act_happenings, run_happening
from specdeck.state.host_events import families_matched, heard
from specdeck.state.load import LoadReading
from specdeck.state.log_story import LogStory
from specdeck.state.questions import is_fatal, is_gone, log_awaits_ready, log_says_ready
from specdeck.state.rates import WINDOW_SECONDS
from specdeck.state.sampling import marked_act
from specdeck.state.serving import ServingWindow
from specdeck.state.settle import FIRST_LOOK_SECONDS, noted, settled_host, settled_server, with_server
from specdeck.state.snapshot import (
    Evidence,
    FleetState,
    Happening,
    HostState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
    Word,
)

LAST_WORDS_SECONDS = 2.0
"""So long after its process was seen to be gone the log may still be its own: later lines are those of processes it left."""
CLOCK_MARGIN_SECONDS = 2.0
"""The host tells its time in whole seconds."""


def server_discovered(state: FleetState, event: ServerDiscovered, at: float) -> FleetState:
    """A server that no fleet file names."""
    if state.host(event.host) is None or state.server(event.name) is not None:
        return state
    evidence = Evidence(listen_port=event.port)
    server = ServerState(event.name, event.host, event.port, event.engine, event.profiles, evidence=evidence)
    return settled_server(replace(state, servers=(*state.servers, server)), server, at)


def run_found(state: FleetState, event: RunFound, at: float) -> FleetState:
    """Another run is another life: nothing that was known of the old one holds for it."""
    server = state.server(event.server)
    if server is None:
        return state
    if event.run is None:
        return _settled(state, _without_run(server), at)
    if _is_same_run(server.run, event.run):
        return _settled(state, _with_same_run(server, event.run, stop_asked=event.stop_asked), at)
    is_old = _ran_before_the_look(server, event.run, state.host(server.host), at)
    is_known = server.word not in (Word.UNKNOWN, Word.UNREACHABLE)
    is_news = server.run is not None or (is_known and not is_old)
    server = _with_new_run(server, event.run, stop_asked=event.stop_asked, is_seen=is_news and not is_old)
    return _settled(noted(state, run_happening(server, at) if is_news else None), server, at)


def process_seen(state: FleetState, event: ProcessSeen, at: float) -> FleetState:
    """What /proc says; a changed family owns other GPU processes."""
    server = state.server(event.server)
    if server is None:
        return state
    is_other_family = server.evidence.process.family != event.process.family
    old = server.evidence
    has_gone = event.process.state in ("gone", "zombie")
    gone_at = old.gone_at if old.process.state != "alive" else at
    stop_asked = old.stop_asked or (has_gone and explains_the_end(server.act, server.run))
    evidence = replace(old, process=event.process, gone_at=gone_at if has_gone else None, stop_asked=stop_asked)
    state = _settled(state, replace(server, evidence=evidence), at)
    return families_matched(state, server.host, at) if is_other_family else state


def port_seen(state: FleetState, event: PortSeen, at: float) -> FleetState:
    """Who listens."""
    server = state.server(event.server)
    if server is None:
        return state
    return _settled(state, replace(server, evidence=replace(server.evidence, port=event.port)), at)


def health_answered(state: FleetState, event: HealthAnswered, at: float) -> FleetState:
    """The newest answer; how long it has been yes."""
    server = state.server(event.server)
    if server is None:
        return state
    http = event.http if event.http.at is not None else replace(event.http, at=at)
    since = server.evidence.ok_since if server.evidence.ok_since is not None else at
    ok_since = since if http.state in ("ok", "key-needed", "tls") else None
    return settled_server(state, replace(server, evidence=replace(server.evidence, http=http, ok_since=ok_since)), at)


def log_advanced(state: FleetState, event: LogAdvanced, at: float) -> FleetState:
    """What the log tells now; the first reading is no growth."""
    server = state.server(event.server)
    if server is None:
        return state
    old, story = server.evidence, _without_later_phases(server.evidence, event.story, at)
    ready_line_at = old.ready_line_at if old.ready_line_at is not None else at
    evidence = replace(
        old,
        story=story,
        log_at=at,
        log_grew_at=at if old.story is not None else None,
        log_error=None,
        log_behind_bytes=event.behind_bytes,
        failed_at=_failed_at(server, story, at),
        ready_line_at=ready_line_at if log_says_ready(story) else None,
        has_come_to_ready=log_says_ready(story) and (old.has_come_to_ready or log_awaits_ready(old)),
    )
    engine, version = story.engine or server.engine, story.engine_version or server.engine_version
    return settled_server(state, replace(server, evidence=evidence, engine=engine, engine_version=version), at)


def _without_later_phases(old: Evidence, story: LogStory, at: float) -> LogStory:
    """What its orphans write after its end is no further step of its start."""
    if old.gone_at is None or old.story is None or at - old.gone_at <= LAST_WORDS_SECONDS:
        return story
    return replace(story, phase=old.story.phase, phases=old.story.phases, progress=old.story.progress)


def _failed_at(server: ServerState, story: LogStory, at: float) -> float | None:
    """Of a run that began before specdeck looked, nobody knows for how long its log has told of a failure."""
    old = server.evidence
    if not is_fatal(story) and story.word != "crashed":
        return None
    if old.failed_at is not None:
        return old.failed_at
    return 0.0 if old.story is None and not server.is_seen_from_start else at


def log_unreadable(state: FleetState, event: LogUnreadable, at: float) -> FleetState:
    """Why the log tells nothing; said once."""
    server, reason = state.server(event.server), plain(event.reason)
    if server is None:
        return state
    if server.evidence.log_error != reason:
        state = noted(state, Happening(at, server.name, f"log: {reason}", "warning"))
    return settled_server(state, replace(server, evidence=replace(server.evidence, log_error=reason)), at)


def load_sampled(state: FleetState, event: LoadSampled, at: float) -> FleetState:
    """What an endpoint tells of the load; what it does not tell stays."""
    server = state.server(event.server)
    if server is None:
        return state
    note = plain(event.note) if event.note else None
    if note and note != server.metrics_note:
        state = noted(state, Happening(at, server.name, note))
    return settled_server(state, _with_sample(server, event.reading, note, at), at)


def starts_recalled(state: FleetState, event: StartsRecalled) -> FleetState:
    """They change no word."""
    server = state.server(event.server)
    return state if server is None else with_server(state, replace(server, past_starts=event.starts))


def act_advanced(state: FleetState, event: ActAdvanced, at: float) -> FleetState:
    """A step of an act; SIGTERM makes the end of this run no crash before the run folder says so."""
    server = state.server(event.server)
    if server is None:
        return state
    state = noted(state, *act_happenings(server.name, server.act, event.act, at))
    blocked = plain(event.blocked) if event.blocked else None
    if server.act and server.evidence.blocked and not blocked and event.act == server.act:
        state = noted(state, Happening(at, server.name, f"what the {server.act.kind} had left is gone"))
    has_ended_it = is_gone(server.evidence) and explains_the_end(event.act, server.run)
    stop_asked = server.evidence.stop_asked or ends_the_old_run(event.act) or has_ended_it
    evidence = replace(server.evidence, blocked=blocked, stop_asked=stop_asked)
    return settled_server(
        state, replace(server, act=event.act, evidence=evidence, history=marked_act(server, event.act)), at
    )


def lock_seen(state: FleetState, event: LockSeen) -> FleetState:
    """Who acts on the port; it decides no word."""
    server = state.server(event.server)
    return state if server is None else with_server(state, replace(server, lock=event.lock))


def _settled(state: FleetState, server: ServerState, at: float) -> FleetState:
    """Judged, with its host heard: these facts came from the host's monitor."""
    host = state.host(server.host)
    if host is None:
        return settled_server(state, server, at)
    if host.link != "up":
        return settled_host(with_server(state, server), heard(host, at), at)
    hosts = tuple(heard(known, at) if known is host else known for known in state.hosts)
    return settled_server(replace(state, hosts=hosts), server, at)


def _is_same_run(old: RunIdentity | None, new: RunIdentity) -> bool:
    if old is None:
        return False
    return (old.run, old.pid, old.start_time, old.boot_id) == (new.run, new.pid, new.start_time, new.boot_id)


def _without_run(server: ServerState) -> ServerState:
    """Nothing of specdeck runs; what the log of a server of others tells stays."""
    if server.run is None and server.evidence.process.state == "none":
        return server
    evidence = replace(
        server.evidence, process=ProcessWitness("none"), http=HttpWitness(), stop_asked=False, was_ready=False
    )
    return replace(
        server,
        run=None,
        profile=None,
        evidence=evidence,
        load_at=None,
        counters=CounterWindow(),
        serving_window=ServingWindow(),
    )


def _with_same_run(server: ServerState, run: RunIdentity, *, stop_asked: bool) -> ServerState:
    """The run folder's word on a stop; a server of others has no folder, so a stop that was seen stays asked."""
    is_remembered = server.evidence.stop_asked and not run.run
    evidence = replace(server.evidence, stop_asked=stop_asked or is_remembered or ends_the_old_run(server.act))
    return replace(server, run=run, profile=run.profile, evidence=evidence)


def _ran_before_the_look(server: ServerState, run: RunIdentity, host: HostState | None, at: float) -> bool:
    """A run that is new to specdeck need not be new."""
    looked_at = host.connected_at if host is not None else None
    if looked_at is None:
        return False
    if run.started_at is not None:
        return run.started_at < looked_at - CLOCK_MARGIN_SECONDS
    return server.run is None and at - looked_at <= FIRST_LOOK_SECONDS


def _with_new_run(server: ServerState, run: RunIdentity, *, stop_asked: bool, is_seen: bool) -> ServerState:
    fresh = ServerState(
        server.name,
        server.host,
        server.port,
        server.engine,
        configured_profiles=server.configured_profiles,
        asked_modes=server.asked_modes,
        profile=run.profile,
        run=run,
        is_seen_from_start=is_seen,
        act=server.act,
        lock=server.lock,
        past_starts=server.past_starts,
        throughput_history=server.throughput_history,
        history=server.history,
        group=server.group,
    )
    old = server.evidence
    port = PortWitness() if old.port.state == "ours" else old.port  # who else listens, or nobody, holds for any run
    evidence = Evidence(link=old.link, port=port, stop_asked=stop_asked, listen_port=server.port, heard_at=old.heard_at)
    return replace(fresh, evidence=replace(evidence, rank=old.rank, ranks=old.ranks))


def _with_sample(server: ServerState, told: LoadReading, note: str | None, at: float) -> ServerState:
    counters = server.counters
    if told.decode_tokens is not None:
        counters = counters.with_sample(told.decode_tokens, told.counter_series, at, window_seconds=WINDOW_SECONDS)
    return replace(
        server,
        counters=counters,
        serving_window=server.serving_window.with_page(told.page, at),
        speculation=told.speculation or server.speculation,
        draft_steps=server.draft_steps if told.draft_steps is None else told.draft_steps,
        timings=told.timings or server.timings,
        load_at=server.load_at if told.running is None else at,
        requests_running=server.requests_running if told.running is None else told.running,
        requests_queued=server.requests_queued if told.queued is None else told.queued,
        kv_usage=server.kv_usage if told.kv_usage is None else told.kv_usage,
        accept_length=told.accept_length
        if told.accept_length is not None or told.running == 0
        else server.accept_length,
        engine_version=told.engine_version or server.engine_version,
        metrics_note=note or (server.metrics_note if told.decode_tokens is None else None),
    )
