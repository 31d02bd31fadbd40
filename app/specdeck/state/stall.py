"""Work that stands still: requests that run while nothing moves, and a start that is silent beyond its own pace."""

from specdeck.state.durations import span
from specdeck.state.log_story import LogStory
from specdeck.state.snapshot import HostState, ServerState

STILL_SECONDS = 60.0
"""A long prefill moves no token counter for this long, but it moves the log."""
STILL_WITHOUT_COUNTERS_SECONDS = 120.0
"""Where only the log can tell."""
LOAD_LIMIT_SECONDS = 60.0
"""A number of running requests that is older proves nothing."""
PACES = 10.0
"""A bar that stands for so many of its own steps has stopped."""
SHORTEST_SILENCE_SECONDS = 30.0
SILENCE_WITHOUT_PACE_SECONDS = 300.0
"""Imports, compilers and the first step of a bar have no pace."""
QUIET_SECONDS = 60.0
"""From then on a start that works without a word is worth a word."""
BUSY_PERCENT = 5.0


def stall_of(server: ServerState, at: float) -> str | None:
    """`3 running, 20 waiting, 0 tok/s for 1m50s`; None: something moves, nothing runs, or a witness is missing."""
    running, queued = server.requests_running or 0, server.requests_queued or 0
    spoke_at = _spoke_at(server)
    if running + queued == 0 or spoke_at is None or server.load_at is None:
        return None
    flat_since, limit = server.counters.flat_since, STILL_SECONDS
    if flat_since is None and server.counters.points:
        return None
    if flat_since is None:
        flat_since, limit = spoke_at, STILL_WITHOUT_COUNTERS_SECONDS
    still = at - max(flat_since, spoke_at)
    if still < limit or at - server.load_at > LOAD_LIMIT_SECONDS:
        return None
    return f"{running} running, {queued} waiting, 0 tok/s for {span(still)}"


def start_stall_of(server: ServerState, host: HostState | None, at: float) -> str | None:
    """`reading weights stalled at 24/85: no step for 11m14s, one took 30 s before`; None: it goes on, or may."""
    story, still = server.story, _silence(server, at)
    if story is None or still is None:
        return None
    pace = _pace(story)
    if still < silence_limit(story) or _works(server, host):
        return None
    if server.evidence.process.is_busy is None and pace is None:
        return None
    idle = " CPU and GPUs idle" if server.evidence.process.is_busy is False else ""
    return f"{_place(story)}: silent for {span(still)}{_pace_words(story)}{',' if idle else ''}{idle}"


def quiet_of(server: ServerState, host: HostState | None, at: float) -> str | None:
    """`quiet for 3m10s, CPU busy`; None: it speaks, or it does not work either."""
    still = _silence(server, at)
    if still is None or still < QUIET_SECONDS:
        return None
    works = _works(server, host)
    return f"quiet for {span(still)}, {works} busy" if works else None


def silence_limit(story: LogStory) -> float:
    """How long this start may say nothing: by its own bar where two steps were seen."""
    pace = _pace(story)
    return SILENCE_WITHOUT_PACE_SECONDS if pace is None else max(SHORTEST_SILENCE_SECONDS, PACES * pace)


def _spoke_at(server: ServerState) -> float | None:
    """A story without that word counts with its last byte."""
    if server.story is None:
        return None
    return server.story.spoke_at if server.story.spoke_at is not None else server.evidence.log_at


def _silence(server: ServerState, at: float) -> float | None:
    """Seconds without a word of a start; None: it does not start."""
    story, spoke_at = server.story, _spoke_at(server)
    if story is None or spoke_at is None or story.word != "starting" or server.evidence.process.state != "alive":
        return None
    return max(0.0, at - spoke_at)


def _pace(story: LogStory) -> float | None:
    """Seconds a step of the bar that moves, by its own word; None: before its second step, or no bar."""
    bar = story.progress
    if bar is None or bar.done < 2 or bar.done >= bar.total or not bar.rate:
        return None
    return 1.0 / bar.rate


def _works(server: ServerState, host: HostState | None) -> str | None:
    """`CPU`, `GPU`: what is busy for this server; None: nothing, as far as can be seen."""
    if server.evidence.process.is_busy:
        return "CPU"
    gpus = host.gpus if host is not None else ()
    its = (gpu for gpu in gpus if any(process.server == server.name for process in gpu.processes))
    return "GPU" if any((gpu.utilization_percent or 0.0) > BUSY_PERCENT for gpu in its) else None


def _place(story: LogStory) -> str:
    bar = story.progress
    if bar is not None and bar.done < bar.total:
        reading = "reading " if bar.label.endswith("weights") else ""
        return f"{reading}{bar.label} stalled at {bar.done}/{bar.total}"
    return f"phase {story.phase.name} stalled" if story.phase is not None else "the start stalled"


def _pace_words(story: LogStory) -> str:
    pace = _pace(story)
    if pace is None:
        return ""
    disk = "; does the disk answer?" if story.progress and story.progress.label.endswith("weights") else ""
    return f", a step took {span(pace)} before{disk}"
