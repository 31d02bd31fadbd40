"""The state of a server in a few words, and the one sentence that explains it."""

from specdeck.state.acts import step_name, step_words
from specdeck.state.snapshot import Act, ServerState, Word
from specdeck.state.witnesses import shown_word
from specdeck.ui.drawing.words import age

LABELS = {
    "import": "import",
    "arguments": "arguments",
    "processes": "processes",
    "distributed": "distributed",
    "weights": "weights",
    "kv_cache": "kv",
    "graphs": "graphs",
    "draft_weights": "draft",
    "draft_graphs": "draft graphs",
    "http": "http",
    "warm_up": "warm-up",
}
"""Phase names as the screens write them."""
ENDED = (Word.STOPPED, Word.CRASHED)
TROUBLED = (Word.CRASHED, Word.BLOCKED, Word.UNREACHABLE, Word.UNHEALTHY, Word.STALLED)


def running_act(server: ServerState) -> Act | None:
    """The act that is under way, if one is."""
    return server.act if server.act is not None and not server.act.is_over else None


def broken_act(server: ServerState) -> Act | None:
    """The newest act, where it failed or broke off and nobody has finished it since."""
    act = server.act
    return act if act is not None and act.is_failed and server.word is not Word.READY else None


def word_for(server: ServerState, now: float) -> str:
    """`starting 5/11 weights`, `ready 3h12`, `ready, run 3h12`, `crashed, 2m ago`."""
    story = server.story
    since = age(now - server.since) if server.since is not None else ""
    if server.word is Word.STARTING and story is not None and story.phase is not None:
        phase = story.phase
        return f"starting {phase.index}/{phase.total} {LABELS[phase.name]}"
    if server.word is Word.CRASHED:
        return f"crashed, {since} ago" if since else "crashed"
    if server.word is Word.UNKNOWN:
        return "connecting"
    word = shown_word(server)
    return f"{word} {since}".rstrip() if since else f"{word}{run_age(server, now)}"


def run_age(server: ServerState, now: float) -> str:
    """`, run 3h12`: since when a word holds that was there at the first look is not known; how old the run is may be."""
    started_at = server.run.started_at if server.run is not None else None
    if started_at is None or server.word in ENDED:
        return ""
    return f", run {age(now - started_at)}"


def act_line(act: Act, now: float) -> str:
    """`pivot to eagle3-v2 by ana: waiting, SIGKILL in 48 s`."""
    target = f" to {act.profile}" if act.profile and act.kind != "stop" else ""
    who = f" by {act.who}" if act.who else ""
    line = f"{act.kind}{target}{who}: {step_words(act)}{_kill_words(act, now)}"
    return f"{line}, for {now - act.began:.0f} s" if not act.is_over else line


def act_in_short(act: Act, now: float) -> str:
    """`pivot: waiting, SIGKILL in 48 s → eagle3-v2`, for a table row: what is cut first is told elsewhere too."""
    target = f" → {act.profile}" if act.profile and act.kind != "stop" else ""
    return f"{act.kind}: {step_name(act)}{_kill_words(act, now)}{target}"


def _kill_words(act: Act, now: float) -> str:
    if act.kill_at is None or act.is_over:
        return ""
    left = act.kill_at - now
    return f", SIGKILL in {left:.0f} s" if left > 0 else ", SIGKILL sent"


def explanation(server: ServerState) -> str:
    """The one sentence for a server in trouble: the first cause, else what decided the word."""
    story = server.story
    if server.word is Word.CRASHED and story is not None and story.cause is not None:
        cause = story.cause
        return f"{cause.message} ({cause.rank})" if cause.rank and cause.rank not in cause.message else cause.message
    if server.word is Word.BLOCKED and server.evidence.blocked:
        return server.evidence.blocked
    return server.because[0] if server.because else ""
