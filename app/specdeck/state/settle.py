"""What follows from a server's facts, after each of them: its word, its rate, its load, and what happened."""

from collections.abc import Mapping

from specdeck.quick_dataclass import replace
from specdeck.state.acts import begins_to_stop, is_clearing
from specdeck.state.counter_window import CounterWindow
from specdeck.state.gpus import memory_of
from specdeck.state.groups import judge_group, memory_of_group
from specdeck.state.happenings import crash_happening, without_guess, word_happening
from specdeck.state.health import NOT_CONFIRMED, judge
from specdeck.state.questions import is_alive, is_gone, log_says_ready
from specdeck.state.rates import fresh_batch, throughput
from specdeck.state.sampling import marked_word, sampled
from specdeck.state.serving import ServingWindow
from specdeck.state.snapshot import Evidence, FleetState, Happening, HostState, ServerState, Verdict, Word
from specdeck.state.stall import quiet_of, stall_of, start_stall_of

HISTORY_LENGTH = 600
HAPPENINGS_LENGTH = 500
LOAD_LIMIT_SECONDS = 30.0
"""An endpoint that told the load longer ago no longer outweighs the log."""
FIRST_LOOK_SECONDS = 10.0
"""So long after the connection came up evidence still arrives: a word that it changes held before."""
_NO_CLAIM = (Word.UNREACHABLE, Word.UNKNOWN)
_AT_REST = (Word.STOPPED, Word.CRASHED)


def with_host(state: FleetState, host: HostState) -> FleetState:
    """The state with this host in place of the one of that name; its servers are not judged again."""
    return replace(state, hosts=tuple(host if known.name == host.name else known for known in state.hosts))


def with_server(state: FleetState, server: ServerState) -> FleetState:
    """The state with this server in place of the one of that name."""
    return _with_servers(state, {server.name: server})


def _with_servers(state: FleetState, changed: Mapping[str, ServerState]) -> FleetState:
    servers = tuple(changed.get(known.name, known) for known in state.servers)
    ranks = tuple(changed.get(known.name, known) for known in state.ranks) if state.ranks else ()
    return replace(state, servers=servers, ranks=ranks)


def settled_host(state: FleetState, host: HostState, at: float) -> FleetState:
    """The state with a new host, and all its servers judged again."""
    judged = [_settled(server, host, at) for server in state.everyone if server.host == host.name]
    state = _with_servers(replace(with_host(state, host), at=at), {server.name: server for server, _ in judged})
    return noted(state, *(happening for _, happening in judged))


def settled_server(state: FleetState, server: ServerState, at: float) -> FleetState:
    """The state with a new server, judged."""
    server, happening = _settled(server, state.host(server.host), at)
    return noted(replace(with_server(state, server), at=at), happening)


def noted(state: FleetState, *happenings: Happening | None) -> FleetState:
    """The state with more lines in its events pane."""
    new = tuple(happening for happening in happenings if happening is not None)
    if not new:
        return state
    known = state.happenings
    for happening in new:
        known = (*without_guess(known, happening), happening)
    return replace(state, happenings=known[-HAPPENINGS_LENGTH:])


def _settled(old: ServerState, host: HostState | None, at: float) -> tuple[ServerState, Happening | None]:
    server = sampled(_with_history(_with_load(_judged(old, host, at), at)), host, at)
    if server.word is not old.word:
        return _with_changed_word(server, old, at, is_first_look=_is_first_look(server, old, host, at))
    if server.word is Word.CRASHED and server.because[:1] != old.because[:1]:
        return server, crash_happening(server, at)  # the log's last words came after the exit
    return server, None


def _judged(server: ServerState, host: HostState | None, at: float) -> ServerState:
    old, memory = server.evidence, memory_of(server, host) if host is not None else None
    evidence = replace(
        old,
        stall=stall_of(server, at),
        start_stall=start_stall_of(server, host, at),
        quiet=quiet_of(server, host, at),
        is_clearing=is_clearing(server.act),
        begins_to_stop=begins_to_stop(server.act, at),
        link=host.link if host is not None else old.link,
        heard_at=host.last_seen if host is not None else old.heard_at,
        link_error=host.error if host is not None else old.link_error,
        left_mib=memory,
    )
    verdict = _still_starting(judge(evidence, at), server, evidence)
    is_serving = verdict.word is Word.READY or (verdict.word is Word.STALLED and evidence.stall is not None)
    was_ready = evidence.was_ready or is_serving  # a start that is stalled has served nobody
    if evidence.ranks:
        verdict, memory = judge_group(server, verdict), memory_of_group(memory, evidence.ranks)
    return replace(
        server,
        evidence=replace(evidence, was_ready=was_ready),
        word=verdict.word,
        because=verdict.because,
        gpu_memory_mib=memory,
    )


def _still_starting(verdict: Verdict, before: ServerState, evidence: Evidence) -> Verdict:
    """A start that is watched goes on until its health was asked for: for that moment nobody knows less than before."""
    is_watched = before.word is Word.STARTING or (before.is_seen_from_start and not evidence.was_ready)
    if verdict.word is not Word.UNKNOWN or not is_watched or not is_alive(evidence):
        return verdict
    first = (NOT_CONFIRMED,) if log_says_ready(evidence.story) else ()
    return replace(verdict, word=Word.STARTING, because=(*first, *verdict.because))


def _with_load(server: ServerState, at: float) -> ServerState:
    """What runs and how fast. Of a host that is away the old numbers stay; of a server at rest none."""
    if server.word is Word.UNREACHABLE:
        return server
    if server.word in _AT_REST or is_gone(server.evidence):
        return _without_load(server)
    batch = fresh_batch(server.story, at)
    server = _with_serving(replace(server, throughput=throughput(server.counters, server.story, at)), at)
    if server.load_at is not None and at - server.load_at <= LOAD_LIMIT_SECONDS:
        return server
    return replace(
        server,
        requests_running=batch.running if batch else None,
        requests_queued=batch.queued if batch else None,
        kv_usage=batch.kv_usage if batch else None,
        accept_length=batch.accept_length if batch else None,
    )


def _with_serving(server: ServerState, at: float) -> ServerState:
    """Where drafts are counted, only the window's accept length counts: it is of now."""
    serving = server.serving_window.serving(at)
    if not server.serving_window.counts_drafts:
        return replace(server, serving=serving)
    return replace(server, serving=serving, accept_length=serving.accept_length if serving is not None else None)


def _without_load(server: ServerState) -> ServerState:
    return replace(
        server,
        throughput=None,
        counters=CounterWindow(),
        serving=None,
        serving_window=ServingWindow(),
        load_at=None,
        requests_running=None,
        requests_queued=None,
        kv_usage=None,
        accept_length=None,
    )


def _with_history(server: ServerState) -> ServerState:
    """Each measured rate once, by its own time."""
    rate, history = server.throughput, server.throughput_history
    if rate is None or (history and rate.at <= history[-1][0]):
        return server
    return replace(server, throughput_history=(*history, (rate.at, rate.tok_s))[-HISTORY_LENGTH:])


def _with_changed_word(
    server: ServerState, old: ServerState, at: float, *, is_first_look: bool
) -> tuple[ServerState, Happening | None]:
    """A server that was away keeps its last word aside: coming back with the same one, nothing has changed."""
    if old.word not in _NO_CLAIM:
        server = replace(server, last_word=old.word, last_since=old.since)
    if server.word in _NO_CLAIM:
        return replace(server, since=at), None
    last, last_since = server.last_word, server.last_since
    server = replace(server, last_word=None, last_since=None)
    if last is server.word:
        return replace(server, since=last_since), None
    history = server.history if is_first_look else marked_word(server, at)
    server = replace(server, since=_since(server, at, is_change_seen=not is_first_look), history=history)
    return server, word_happening(server, last or Word.UNKNOWN, last_since, at)


def _is_first_look(server: ServerState, old: ServerState, host: HostState | None, at: float) -> bool:
    """Nobody was looking when the word became what it is; the run itself, or the end of its start, may have been in sight."""
    has_come_to_ready = old.word is Word.STARTING and server.word is Word.READY and server.evidence.has_come_to_ready
    if server.is_seen_from_start or has_come_to_ready:
        return False
    connected_at = host.connected_at if host is not None else None
    is_just_connected = connected_at is not None and at - connected_at <= FIRST_LOOK_SECONDS
    return is_just_connected or (old.word in _NO_CLAIM and server.last_word is None)


def _since(server: ServerState, at: float, *, is_change_seen: bool) -> float | None:
    """A start began when its run did, and an end was written down; of any other word only a change that was seen tells the time."""
    began = server.run.started_at if server.run is not None else None
    if server.word is Word.STARTING and began is not None:
        return min(began, at)
    ended_at = server.evidence.process.ended_at
    if server.word in (Word.CRASHED, Word.STOPPED) and ended_at is not None and not is_change_seen:
        return min(ended_at, at)
    return at if is_change_seen else None
