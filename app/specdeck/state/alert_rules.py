"""When an alert holds, when it does not, and when nothing can be said: one rule a kind, each with its own patience."""

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Literal

from specdeck.parsing.throttle import slowing
from specdeck.quick_dataclass import dataclass
from specdeck.state.alert_book import AlertKind, Speed
from specdeck.state.durations import span
from specdeck.state.questions import crash_words
from specdeck.state.snapshot import FleetState, ServerState, Word
from specdeck.state.warnings import live_draft_steps

HALF, ALMOST_WHOLE = 0.5, 0.7
"""Of the speed before: below it fell, above it is back; between nothing is said."""
FEWEST_SPEEDS = 12
SPEED_STEP_SECONDS = 5.0
SPEED_WINDOW_SECONDS = 600.0
LIKE_LOAD = 1.5
"""Loads that differ by no more than this factor are compared: with fewer requests fewer tokens come, and that is no fault."""
NEAR_ONE, FAR_FROM_ONE = 1.1, 1.3
"""Accept length: at 1 every draft token is thrown away and speculation only costs."""
FULL_PERCENT, ROOM_PERCENT = 95.0, 92.0
DOWN = (Word.STOPPED, Word.CRASHED, Word.STARTING, Word.STOPPING)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a rule says of one subject now."""

    subject: str
    is_so: bool | None
    """None: it cannot be told, what was told before stays."""
    text: str = ""
    is_old: bool = False
    """It was so before anybody looked: no news."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of alert, and how long it must hold before it is told and before it is taken back."""

    kind: AlertKind
    severity: Literal["info", "warning", "error"]
    raise_after_seconds: float
    clear_after_seconds: float
    look: Callable[[FleetState, float], Iterator[Seen]]
    over: str = ""
    """What is said when it has cleared; empty: nothing."""
    is_told_by_state: bool = False
    """The events pane has a line for it anyway."""


def _crashed(state: FleetState, at: float) -> Iterator[Seen]:
    for server in state.servers:
        text = ""
        if server.word is Word.CRASHED:
            text = crash_words(server.evidence)
        yield Seen(server.name, _is(server, Word.CRASHED), text, is_old=server.since is None)


def _stalled(state: FleetState, at: float) -> Iterator[Seen]:
    return _words(state, Word.STALLED)


def _unhealthy(state: FleetState, at: float) -> Iterator[Seen]:
    return _words(state, Word.UNHEALTHY, Word.BLOCKED)


def _words(state: FleetState, *words: Word) -> Iterator[Seen]:
    for server in state.servers:
        reason = f": {server.because[0]}" if server.because else ""
        yield Seen(server.name, _is(server, *words), f"is {server.word}{reason}", is_old=server.since is None)


def _is(server: ServerState, *words: Word) -> bool | None:
    """Of a server that nothing is known of now nothing is said."""
    return None if server.word in (Word.UNKNOWN, Word.UNREACHABLE) else server.word in words


def _ready(state: FleetState, at: float) -> Iterator[Seen]:
    """Only a start ends it: a server that was unwell for a while is not ready anew."""
    for server in state.servers:
        if server.word is Word.READY:
            started = server.run.started_at if server.run is not None else None
            came = at if server.since is None else server.since  # as the events tell it, not when somebody looked
            took = f" after {span(came - started)}" if started is not None and 0 <= came - started < 86_400 else ""
            yield Seen(server.name, True, f"is ready{took}", is_old=server.since is None)
        else:
            yield Seen(server.name, False if server.word in DOWN else None)


def _lost(state: FleetState, at: float) -> Iterator[Seen]:
    for host in state.hosts:
        if host.link == "down":
            yield Seen(host.name, True, f"is lost: {host.error or 'no connection'}", is_old=host.last_seen is None)
        else:
            yield Seen(host.name, False if host.link == "up" else None)


def _throttled(state: FleetState, at: float) -> Iterator[Seen]:
    for host in state.hosts:
        slowed = {gpu.index: slowing(gpu.throttle) for gpu in host.gpus}
        told = [f"GPU {index} {', '.join(why)}" for index, why in slowed.items() if why]
        is_so = bool(told) if host.link == "up" and host.gpus else None
        yield Seen(host.name, is_so, f"is throttled: {'; '.join(told[:3])}{' ...' if told[3:] else ''}")


def _accept(state: FleetState, at: float) -> Iterator[Seen]:
    """Of a server that speculates and works; at rest the length says nothing."""
    for server in state.servers:
        length = server.accept_length
        works = server.word is Word.READY and server.requests_running and live_draft_steps(server)
        is_so = _between(length, NEAR_ONE, FAR_FROM_ONE) if works else False if server.word in DOWN else None
        yield Seen(server.name, is_so, f"accepts almost no draft token (accept length {length or 0.0:.2f})")


def _slow(state: FleetState, at: float) -> Iterator[Seen]:
    for server in state.servers:
        before = usual_speed(state.alerts.speeds.get(server.name, ()), server)
        rate = server.throughput.tok_s if server.throughput is not None and server.word is Word.READY else None
        if before is None or rate is None:
            yield Seen(server.name, False if server.word in DOWN else None)
            continue
        text = f"fell from {before:.0f} to {rate:.0f} tok/s with {server.requests_running} requests running"
        yield Seen(server.name, _between(rate, HALF * before, ALMOST_WHOLE * before), text)


def _between(value: float | None, low: float, high: float) -> bool | None:
    """True below, False above; between the two, or where nothing is measured, it stays as it was told."""
    if value is None or low <= value <= high:
        return None
    return value < low


def _disk(state: FleetState, at: float) -> Iterator[Seen]:
    for host in state.hosts:
        if not host.log_disks or host.link != "up":
            yield Seen(host.name, None)
            continue
        fullest = max(host.log_disks, key=lambda disk: disk.used_percent)
        used = fullest.used_percent
        has_room = _between(used, ROOM_PERCENT, FULL_PERCENT)
        left = f"{fullest.free_mib / 1024:.1f} GiB" if fullest.free_mib >= 1024 else f"{fullest.free_mib} MiB"
        yield Seen(
            host.name,
            None if has_room is None else not has_room,
            f"has {left} left for logs ({fullest.mount} is {used:.0f} % full)",
        )


RULES = (
    Rule("crashed", "error", 2.0, 0.0, _crashed, is_told_by_state=True),  # two seconds for the log's last words
    Rule("stalled", "error", 5.0, 15.0, _stalled, "moves again", is_told_by_state=True),
    Rule("unhealthy", "warning", 20.0, 15.0, _unhealthy, "is well again", is_told_by_state=True),
    Rule("ready", "info", 0.0, 0.0, _ready, is_told_by_state=True),
    Rule("throttled", "warning", 10.0, 60.0, _throttled, "is throttled no more"),
    Rule("slow", "warning", 30.0, 30.0, _slow, "is as fast again as before"),
    Rule("accept", "warning", 30.0, 30.0, _accept, "accepts draft tokens again"),
    Rule("disk", "error", 0.0, 60.0, _disk, "has room for logs again"),
    Rule("lost", "error", 15.0, 5.0, _lost, "is back", is_told_by_state=True),
)


def usual_speed(speeds: tuple[Speed, ...], server: ServerState) -> float | None:
    """The median of the last minutes at a like load; None: too little was measured to compare with."""
    running = server.requests_running
    if not running:
        return None
    like = [
        each.tok_s for each in speeds if each.running <= LIKE_LOAD * running and running <= LIKE_LOAD * each.running
    ]
    return median(like) if len(like) >= FEWEST_SPEEDS else None


def with_speeds(state: FleetState, at: float) -> Mapping[str, tuple[Speed, ...]]:
    """One more measurement a server. A slow one is not what it will be compared with; another run begins anew."""
    return {server.name: _measured(state, server, at) for server in state.servers}


def _measured(state: FleetState, server: ServerState, at: float) -> tuple[Speed, ...]:
    speeds = state.alerts.speeds.get(server.name, ())
    if server.word in DOWN:
        return ()
    rate, running = server.throughput, server.requests_running
    if rate is None or not running or (speeds and at - speeds[-1].at < SPEED_STEP_SECONDS):
        return speeds
    before = usual_speed(speeds, server)
    if before is not None and rate.tok_s < ALMOST_WHOLE * before:
        return speeds
    kept = tuple(each for each in speeds if at - each.at <= SPEED_WINDOW_SECONDS)
    return (*kept, Speed(at, rate.tok_s, running))
