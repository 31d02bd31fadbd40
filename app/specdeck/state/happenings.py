"""What is worth a line in the events pane, in words."""

from typing import Literal

from specdeck.parsing.plain import plain
from specdeck.state.acts import step_words
from specdeck.state.durations import span
from specdeck.state.questions import crash_words
from specdeck.state.snapshot import Act, Happening, ServerState, Word

_QUIET_WHEN_FOUND = (Word.STARTING, Word.STOPPED)
_NEEDS_REASON = (Word.UNHEALTHY, Word.STALLED, Word.BLOCKED)
_QUIET_STEPS = ("asked", "identified", "waiting", "done")
_CRASHED = "crashed: "
_LAST_WORDS_SECONDS = 10.0
_LONGEST_START_SECONDS = 86_400.0
_SEVERITIES: dict[Word, Literal["info", "warning", "error"]] = {
    Word.CRASHED: "error",
    Word.BLOCKED: "error",
    Word.UNHEALTHY: "warning",
    Word.STALLED: "warning",
}


def word_happening(server: ServerState, old: Word, old_since: float | None, at: float) -> Happening | None:
    """A server's new word; `server` has it already. None: nobody needs a line for it."""
    word = server.word
    if old is Word.UNKNOWN:
        text = None if word in _QUIET_WHEN_FOUND else f"found {_named(server)}"
    elif word is Word.CRASHED:
        text = _named(server)
    else:
        text = f"{old} -> {_named(server)}{_after(server, old, old_since, at)}"
    return Happening(at, server.name, text, _SEVERITIES.get(word, "info")) if text else None


def crash_happening(server: ServerState, at: float) -> Happening:
    """A crash, with the cause as far as it is known."""
    return Happening(at, server.name, _named(server), "error")


def without_guess(known: tuple[Happening, ...], new: Happening) -> tuple[Happening, ...]:
    """The lines before a new one: where the log's last words tell why a run ended, what was guessed before they came goes."""
    if not new.text.startswith(_CRASHED):
        return known
    last = next((each for each in reversed(known) if each.source == new.source), None)
    is_guess = last is not None and last.text.startswith(_CRASHED) and new.at - last.at <= _LAST_WORDS_SECONDS
    return tuple(each for each in known if each is not last) if is_guess else known


def run_happening(server: ServerState, at: float) -> Happening | None:
    """A run that appeared while specdeck looked."""
    run = server.run
    if run is None:
        return None
    name = f"run {run.run}" if run.run else f"pid {run.pid}, not by specdeck"
    profile = f" ({run.profile})" if run.profile else ""
    by = f" by {run.started_by}" if run.started_by else ""
    return Happening(at, server.name, plain(f"started {name}{profile}{by}"))


def act_happenings(server: str, old: Act | None, act: Act | None, at: float) -> tuple[Happening, ...]:
    """Who asked for what, each step that changes something, and the end; an act found already over is history."""
    is_new = act is not None and (old is None or (old.began, old.kind) != (act.began, act.kind))
    if act is None or (is_new and act.is_over) or (old is not None and not is_new and _is_same_step(old, act)):
        return ()
    label = f"{act.kind} to {act.profile}" if act.profile not in (None, "", "-") else str(act.kind)
    lines = [Happening(at, server, plain(f"{label} by {act.who}" if act.who else label))] if is_new else []
    if act.is_failed or act.step not in _QUIET_STEPS:
        lines.append(_step(server, label, act, at))
    elif act.is_over:
        lines.append(Happening(at, server, plain(f"{label}: done after {span(at - act.began)}")))
    return tuple(lines)


def _is_same_step(old: Act, act: Act) -> bool:
    return (old.step, old.detail, old.is_over) == (act.step, act.detail, act.is_over)


def _step(server: str, label: str, act: Act, at: float) -> Happening:
    text = plain(f"{label}: {step_words(act)}")
    if act.is_failed:
        return Happening(at, server, text, "error")
    return Happening(at, server, text, "warning" if act.step in ("kill", "orphans") else "info")


def _named(server: ServerState) -> str:
    if server.word is Word.CRASHED:
        return plain(crash_words(server.evidence))
    reason = f": {server.because[0]}" if server.word in _NEEDS_REASON and server.because else ""
    return f"{server.word}{reason}"


def _after(server: ServerState, old: Word, old_since: float | None, at: float) -> str:
    """How long a start or a stop took; a start that began before anybody looked counts from its run."""
    if (old, server.word) not in ((Word.STARTING, Word.READY), (Word.STOPPING, Word.STOPPED)):
        return ""
    began = server.run.started_at if server.run and server.word is Word.READY else None
    if began is None or not 0 <= at - began < _LONGEST_START_SECONDS:
        began = old_since
    return f" after {span(at - began)}" if began is not None else ""
