"""The top line of the overview: how the fleet is, how fast, in which mode, the clock."""

from collections import Counter

from specdeck.state.snapshot import SHAPES, FleetState, Word
from specdeck.ui.drawing.silence import silence_row
from specdeck.ui.drawing.spans import Row, Span, ends, width_of
from specdeck.ui.drawing.words import age, clock, plural, rate
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View

WIDE, VERY_WIDE = 100, 120
WELL = (Word.READY, Word.STARTING, Word.STOPPING)
TROUBLES = (Word.CRASHED, Word.BLOCKED, Word.STALLED, Word.UNHEALTHY, Word.UNREACHABLE)


def overview_title(view: View, width: int) -> Row:
    """`specdeck  lab-fleet   2 ready  1 starting  ✖ 1 crashed   869 tok/s   3 hosts   worst first  read-write  14:02:11`."""
    end = _end(view, width)
    room = width - width_of(end)
    start = _start(view, width, room)
    for part in _besides(view, width):
        if width_of((*start, part)) < room:
            start = (*start, part)
    return ends(start, end, width)


def _start(view: View, width: int, room: int) -> Row:
    """How the fleet is and how fast; its name and ours give way."""
    counts = _counts(view.fleet, is_wide=width >= WIDE)
    speed = total_tok_s(view.fleet)
    told: Row = ((" ", ""), *counts, *([(f"   {rate(speed)} tok/s", "strong")] if speed is not None else []))
    ours: Span = (" specdeck", "title")
    named: Row = (ours, (f"  {view.fleet_name}", "strong")) if view.fleet_name else (ours,)
    return next((row for row in ((*named, *told), (ours, *told)) if width_of(row) <= room), told[1:])


def _besides(view: View, width: int) -> list[Span]:
    """What is told where there is room for all of it."""
    if width < WIDE:
        return []
    fleet = view.fleet
    parts = [f"   {plural(len(fleet.hosts), 'host')}", f"  {plural(len(fleet.servers), 'server')}"]
    others = sorted({each.words for host in fleet.hosts for each in host.watchers})
    return [(part, "dim") for part in (*parts, *([f"   also watching: {', '.join(others)}"] if others else []))]


def _counts(fleet: FleetState, *, is_wide: bool) -> Row:
    words = Counter(server.word for server in fleet.servers)
    counts: list[Span] = [
        (f"  {words[word]} {word.value}", WORD_ROLES[word]) for word in WELL if words[word] or word is Word.READY
    ]
    troubles = [word for word in TROUBLES if words[word]]
    if is_wide:
        return (*counts, *((f"  {SHAPES[word]} {words[word]} {word.value}", WORD_ROLES[word]) for word in troubles))
    if troubles:
        counts.append((f"  {sum(words[word] for word in troubles)} in trouble", WORD_ROLES[troubles[0]]))
    return tuple(counts)


def total_tok_s(fleet: FleetState) -> float | None:
    """Of all servers that tell theirs and can be reached; None: none does."""
    told = [
        server.throughput.tok_s
        for server in fleet.servers
        if server.throughput is not None and server.word in (Word.READY, Word.UNHEALTHY, Word.STALLED)
    ]
    return sum(told) if told else None


def _end(view: View, width: int) -> Row:
    mode = "read-only" if view.is_read_only else "read-write"
    end: Row = ((f" {clock(view.now)} ", "dim"),)
    if width >= WIDE or view.is_read_only:
        end = ((f"  {mode} ", "accent" if view.is_read_only else "dim"), *end)
    if width >= VERY_WIDE and not view.is_worst_first:
        end = (("  fleet order", "dim"), *end)
    if view.replay:
        end = ((f"  {view.replay} ", "accent"), end[-1])
    if view.paused_at is not None:
        end = ((f"  PAUSED {age(view.now - view.paused_at)} ", "warning-strong"), *end)
    end = (*silence_row(view), *end)
    if view.wanted:
        end = ((f"  /{view.wanted} ", "found"), *end)
    return end
