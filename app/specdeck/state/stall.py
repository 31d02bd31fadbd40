"""Requests that run while nothing moves: claimed only when every witness stands still, for a minute."""

from specdeck.state.durations import span
from specdeck.state.snapshot import ServerState

STILL_SECONDS = 60.0
"""A long prefill moves no token counter for this long, but it moves the log."""
LOAD_LIMIT_SECONDS = 60.0
"""A number of running requests that is older proves nothing."""


def stall_of(server: ServerState, at: float) -> str | None:
    """`3 running, 20 waiting, 0 tok/s for 1m50s`; None: something moves, nothing runs, or a witness is missing."""
    running, queued = server.requests_running or 0, server.requests_queued or 0
    flat_since, log_at = server.counters.flat_since, server.evidence.log_at
    if running + queued == 0 or flat_since is None or log_at is None or server.load_at is None:
        return None
    still = at - max(flat_since, log_at)
    if still < STILL_SECONDS or at - server.load_at > LOAD_LIMIT_SECONDS:
        return None
    return f"{running} running, {queued} waiting, 0 tok/s for {span(still)}"
