"""One word from all the evidence: rules in order, the first that claims decides. Pure; no single witness is believed alone."""

from collections.abc import Callable
from dataclasses import replace

from specdeck.parsing.plain import plain
from specdeck.state.log_story import LogStory, silent_death
from specdeck.state.snapshot import Evidence, Verdict, Word
from specdeck.state.witnesses import (
    exit_words,
    http_sentence,
    link_sentence,
    log_sentence,
    port_sentence,
    process_sentence,
)

READY_LINE_GRACE_SECONDS = 2.0
"""An answer this soon after the ready line may be of the moment before."""
LINE_NOT_AWAITED_SECONDS = 300.0
"""So long a health of 200 outweighs a ready line that this engine version may word differently."""
LOG_MOVES_SECONDS = 30.0
"""A log of others that grew in this time belongs to somebody who lives."""

Claim = Callable[[Evidence, float], str | None]
"""The sentence that decides, or None: this rule says nothing."""


def judge(evidence: Evidence, at: float) -> Verdict:
    """The word, and the sentences that decided it, by weight."""
    for word, claim in RULES:
        sentence = claim(evidence, at)
        if sentence is not None:
            return Verdict(word, _ordered(sentence, evidence, at, is_starting=word is Word.STARTING))
    return Verdict(Word.UNKNOWN, _ordered("", evidence, at, is_starting=False))


def _ordered(sentence: str, evidence: Evidence, at: float, *, is_starting: bool) -> tuple[str, ...]:
    others = (
        process_sentence(evidence),
        port_sentence(evidence, is_starting=is_starting),
        http_sentence(evidence),
        log_sentence(evidence, at),
        link_sentence(evidence, at),
    )
    return tuple(dict.fromkeys(filter(None, (plain(sentence), *others))))


# --- what several rules ask -----------------------------------------------------------------------------------------


def is_alive(evidence: Evidence) -> bool:
    """The process of the run lives."""
    return evidence.process.state == "alive"


def is_gone(evidence: Evidence) -> bool:
    """There was a run and its process is no more; a zombie counts as gone."""
    return evidence.process.state in ("gone", "zombie")


def answers(evidence: Evidence) -> bool:
    """The endpoint says yes, or asks for a key, which only a running server does."""
    return evidence.http.state in ("ok", "key-needed")


def log_says_ready(story: LogStory | None) -> bool:
    """The ready line, or work that only a ready server does."""
    return story is not None and (story.has_ready_line or story.word == "ready" or story.batch is not None)


def log_awaits_ready(evidence: Evidence) -> bool:
    """The log tells of a start that has not come to its end."""
    story = evidence.story
    if story is None or evidence.log_error or log_says_ready(story):
        return False
    return story.word == "starting" and bool(story.phase or story.phases or story.progress)


def has_served(evidence: Evidence) -> bool:
    """It was ready before; or the log says so and the newest answer is younger than that line."""
    if evidence.was_ready:
        return True
    if not log_says_ready(evidence.story):
        return False
    line_at, answer_at = evidence.ready_line_at, evidence.http.at
    return line_at is None or answer_at is None or answer_at >= line_at + READY_LINE_GRACE_SECONDS


# --- the rules, most binding first ----------------------------------------------------------------------------------


def _unreachable(evidence: Evidence, at: float) -> str | None:
    return link_sentence(evidence, at) if evidence.link in ("stale", "down") else None


def _blocked_by_the_last_stop(evidence: Evidence, at: float) -> str | None:
    return evidence.blocked


def _family_is_left(evidence: Evidence, at: float) -> str | None:
    """Asked to stop and gone, but not all of it."""
    if not (is_gone(evidence) and evidence.stop_asked):
        return None
    if evidence.port.state == "ours":
        return f"the server's process is gone, its family still holds port {evidence.listen_port or ''}".rstrip()
    left = [pid for pid in evidence.process.family if pid != evidence.process.pid]
    return f"the server's process is gone, {len(left)} of its family still live" if left else None


def _stopped_as_asked(evidence: Evidence, at: float) -> str | None:
    if not is_gone(evidence):
        return None
    if evidence.stop_asked:
        return f"stopped as asked ({exit_words(evidence.process.exit_status)})"
    story = evidence.story
    was_told = story is not None and story.word in ("stopping", "stopped") and not _fatal(story)
    ended = f"ended ({exit_words(evidence.process.exit_status)})"
    return f"{ended}: its log says that it was told to stop, not by specdeck" if was_told else None


def _crashed(evidence: Evidence, at: float) -> str | None:
    if not is_gone(evidence):
        return None
    return f"{exit_words(evidence.process.exit_status)}: {why_it_ended(evidence)}"


def why_it_ended(evidence: Evidence) -> str:
    """The log's first fatal cause, or that it tells none."""
    story = evidence.story
    if story is None:
        return f"no log tells why ({evidence.log_error})" if evidence.log_error else "no log tells why"
    return silent_death(story if _fatal(story) else replace(story, cause=None)).message


def _fatal(story: LogStory) -> bool:
    return story.cause is not None and story.cause.is_fatal


def _stopping(evidence: Evidence, at: float) -> str | None:
    if not is_alive(evidence):
        return None
    if evidence.stop_asked:
        return "a stop was asked, it has not ended yet"
    story = evidence.story
    if story is None or story.word not in ("stopping", "stopped") or _fatal(story):
        return None
    return "the log says that it was told to stop"


def _stranger_on_the_port(evidence: Evidence, at: float) -> str | None:
    if evidence.port.state != "stranger" or is_gone(evidence) or evidence.process.state == "unknown":
        return None
    return f"{port_sentence(evidence)}, not by this server"


def _dying(evidence: Evidence, at: float) -> str | None:
    story = evidence.story
    if not is_alive(evidence) or story is None:
        return None
    if _fatal(story):
        return f"dying: {why_it_ended(evidence)}"
    return "dying: the log ends like a crash" if story.word == "crashed" else None


def _stalled(evidence: Evidence, at: float) -> str | None:
    return evidence.stall if _ready(evidence, at) is not None else None


def _ready(evidence: Evidence, at: float) -> str | None:
    if not answers(evidence) or evidence.port.state in ("stranger", "closed"):
        return None
    if is_gone(evidence) or (not is_alive(evidence) and evidence.port.state == "unknown"):
        return None
    if _awaits_line(evidence, at):
        return None
    sentence = http_sentence(evidence)
    return f"up, but {sentence}: set api_key_env" if evidence.http.state == "key-needed" else sentence


def _awaits_line(evidence: Evidence, at: float) -> bool:
    """Health says yes while the log is still in the middle of the start."""
    if evidence.was_ready or not log_awaits_ready(evidence):
        return False
    return evidence.ok_since is None or at - evidence.ok_since < LINE_NOT_AWAITED_SECONDS


def _unhealthy(evidence: Evidence, at: float) -> str | None:
    if not is_alive(evidence) or not has_served(evidence):
        return _hung_without_log(evidence)
    if evidence.http.state in ("unavailable", "timeout", "error", "refused"):
        return f"was ready, now {http_sentence(evidence)}"
    if evidence.port.state == "closed" and evidence.was_ready:
        return f"was ready, now {port_sentence(evidence)}"
    return None


def _hung_without_log(evidence: Evidence) -> str | None:
    """No log tells whether it still starts; an own port that gives no answer at all is no normal start."""
    if not is_alive(evidence) or not evidence.log_error or evidence.port.state != "ours":
        return None
    return http_sentence(evidence) if evidence.http.state in ("timeout", "error") else None


def _starting(evidence: Evidence, at: float) -> str | None:
    if not is_alive(evidence):
        return None
    if answers(evidence) and evidence.port.state != "closed":
        return f"almost ready: {http_sentence(evidence)}, the log's ready line is awaited"
    if log_says_ready(evidence.story):
        if evidence.http.state == "unknown" and evidence.port.state != "closed":
            return None  # nobody asked yet: neither ready nor starting can be claimed
        return "the log says ready; port and health do not confirm it yet"
    return log_sentence(evidence, at) or process_sentence(evidence)


def _others_starting(evidence: Evidence, at: float) -> str | None:
    """No run is known: a server that others start, seen by its log, or by a port that does not serve yet."""
    if evidence.process.state != "none":
        return None
    grows = evidence.log_grew_at is not None and at - evidence.log_grew_at <= LOG_MOVES_SECONDS
    if evidence.port.state == "closed":
        return log_sentence(evidence, at) if grows and log_awaits_ready(evidence) else None
    if evidence.port.state != "open":
        return None
    is_before_ready = evidence.http.state == "unavailable" and not has_served(evidence)
    return http_sentence(evidence) if is_before_ready or answers(evidence) else None


def _others_unhealthy(evidence: Evidence, at: float) -> str | None:
    if evidence.process.state != "none" or evidence.port.state != "open":
        return None
    return http_sentence(evidence) if evidence.http.state in ("unavailable", "timeout", "error") else None


def _others_crashed(evidence: Evidence, at: float) -> str | None:
    story = evidence.story
    if evidence.process.state != "none" or evidence.port.state != "closed" or story is None or not _fatal(story):
        return None
    return log_sentence(evidence, at)


def _nothing_runs(evidence: Evidence, at: float) -> str | None:
    if evidence.process.state != "none" or evidence.port.state != "closed":
        return None
    return port_sentence(evidence)


RULES: tuple[tuple[Word, Claim], ...] = (
    (Word.UNREACHABLE, _unreachable),
    (Word.BLOCKED, _blocked_by_the_last_stop),
    (Word.STOPPING, _family_is_left),
    (Word.STOPPED, _stopped_as_asked),
    (Word.CRASHED, _crashed),
    (Word.STOPPING, _stopping),
    (Word.BLOCKED, _stranger_on_the_port),
    (Word.UNHEALTHY, _dying),
    (Word.STALLED, _stalled),
    (Word.READY, _ready),
    (Word.UNHEALTHY, _unhealthy),
    (Word.STARTING, _starting),
    (Word.STARTING, _others_starting),
    (Word.UNHEALTHY, _others_unhealthy),
    (Word.CRASHED, _others_crashed),
    (Word.STOPPED, _nothing_runs),
)
"""In this order; a server about which none says anything is `unknown`."""
