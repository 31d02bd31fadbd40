"""What an act costs, as far as the dashboard sees it: the requests that run now, and how long earlier starts took. Pure."""

from specdeck.services.deck import Plan
from specdeck.state.durations import span
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.words import plural

MOST_STARTS = 3


def requests_in_flight(server: ServerState | None) -> str:
    """`31 requests run, 4 wait`; empty: none does, or nobody knows."""
    running, queued = (server.requests_running or 0, server.requests_queued or 0) if server is not None else (0, 0)
    told = [f"{plural(running, 'request')} {'runs' if running == 1 else 'run'}"] if running or queued else []
    return ", ".join([*told, *([f"{queued} {'waits' if queued == 1 else 'wait'}"] if queued else [])])


def earlier_starts(plan: Plan, server: ServerState | None) -> str:
    """`eagle3-v2 took 8m25s 8m18s 8m30s to be ready`, newest first; empty: none is known, or nothing is started."""
    if server is None or plan.new_profile is None or plan.act in ("stop", "end"):
        return ""
    starts = [start for start in server.past_starts if start.profile == plan.new_profile]
    newest = sorted(starts, key=lambda start: -start.started_at)[:MOST_STARTS]
    took = " ".join(span(start.seconds) for start in newest)
    return f"{plan.new_profile} took {took} to be ready{' (newest first)' if len(newest) > 1 else ''}" if took else ""
