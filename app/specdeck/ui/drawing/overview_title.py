"""The top line of the overview: fleet, counts, mode, clock."""

from collections import Counter

from specdeck.state.snapshot import SHAPES, Word
from specdeck.ui.drawing.spans import Row, Span, ends
from specdeck.ui.drawing.words import age, clock, plural
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View

TOLD = (Word.STARTING, Word.STOPPING, Word.UNHEALTHY, Word.STALLED, Word.CRASHED, Word.BLOCKED, Word.UNREACHABLE)


def overview_title(view: View, width: int) -> Row:
    """`specdeck  lab-fleet   3 hosts  5 servers  1 starting  1 crashed   read-write  14:02:11`."""
    fleet = view.fleet
    words = Counter(server.word for server in fleet.servers)
    troubles: list[Span] = []
    for word in TOLD:
        if words[word]:
            named = word.value if width >= 100 else SHAPES[word]
            troubles.append((f"  {words[word]} {named}", WORD_ROLES[word]))
    others = sorted({each.words for host in fleet.hosts for each in host.watchers})
    left: Row = (
        (" specdeck", "title"),
        (f"  {view.fleet_name}" if view.fleet_name else "", "strong"),
        (f"   {plural(len(fleet.hosts), 'host')}  {plural(len(fleet.servers), 'server')}", "dim"),
        *troubles,
        (f"   also watching: {', '.join(others)}" if others and width >= 120 else "", "dim"),
    )
    mode = "read-only" if view.is_read_only else "read-write"
    end: Row = ((f" {clock(view.now)} ", "dim"),)
    if width >= 100 or view.is_read_only:
        end = ((f"  {mode} ", "accent" if view.is_read_only else "dim"), *end)
    if view.paused_at is not None:
        end = ((f"  PAUSED {age(view.now - view.paused_at)} ", "warning-strong"), *end)
    if view.wanted:
        end = ((f"  /{view.wanted} ", "found"), *end)
    return ends(left, end, width)
