"""One word from all the evidence: rules in order, the first that claims decides. Pure; no single witness is believed alone."""

from collections.abc import Callable

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.state.questions import (
    answers,
    has_served,
    is_alive,
    is_fatal,
    is_gone,
    log_awaits_ready,
    log_says_ready,
    why_it_ended,
)
from specdeck.state.snapshot import Evidence, HttpWitness, Verdict, Word
from specdeck.state.witnesses import (
    exit_words,
    http_sentence,
    link_sentence,
    log_sentence,
    port_sentence,
    process_sentence,
)

NOT_CONFIRMED = "the log says ready; port and health do not confirm it yet"
LINE_NOT_AWAITED_SECONDS = 300.0
"""So long a health of 200 outweighs a ready line that this engine version may word differently."""
ANSWER_LIMIT_SECONDS = 90.0
"""Health is asked every 10 s, and one answer may take 25."""
FAILED_START_SECONDS = 5.0
"""A start that wrote its fatal error is given so long to end before it is called unhealthy: Python needs a while."""
LOG_MOVES_SECONDS = 30.0
"""A log of others that grew in this time belongs to somebody who lives."""

Claim = Callable[[Evidence, float], str | None]
"""The sentence that decides, or None: this rule says nothing."""


def judge(evidence: Evidence, at: float) -> Verdict:
    """The word, and the sentences that decided it, by weight."""
    evidence = _without_old_answer(evidence, at)
    for word, claim in RULES:
        sentence = claim(evidence, at)
        if sentence is not None:
            return Verdict(word, _ordered(sentence, evidence, at, is_starting=word is Word.STARTING))
    return Verdict(Word.UNKNOWN, _ordered("", evidence, at, is_starting=False))


def _without_old_answer(evidence: Evidence, at: float) -> Evidence:
    """What the endpoint said minutes ago is no witness of now: nobody asks any more."""
    asked_at = evidence.http.at
    if asked_at is None or at - asked_at <= ANSWER_LIMIT_SECONDS:
        return evidence
    return replace(evidence, http=HttpWitness())


def _ordered(sentence: str, evidence: Evidence, at: float, *, is_starting: bool) -> tuple[str, ...]:
    others = (
        process_sentence(evidence),
        port_sentence(evidence, is_starting=is_starting),
        None if _is_answer_of_one_gone(evidence) else http_sentence(evidence),
        log_sentence(evidence, at),
        link_sentence(evidence, at),
    )
    return tuple(dict.fromkeys(filter(None, (plain(sentence), *others))))


def _is_answer_of_one_gone(evidence: Evidence) -> bool:
    """Something was wrong with whoever listened then; now nobody does, and the port says so."""
    return evidence.port.state == "closed" and evidence.http.state in ("unavailable", "timeout", "error")


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
    if left and not evidence.process.is_family_seen:
        return "the server's process is gone; whether all of its family is will be seen"
    return f"the server's process is gone, {len(left)} of its family still live" if left else None


def _stopped_as_asked(evidence: Evidence, at: float) -> str | None:
    if not is_gone(evidence):
        return None
    if evidence.stop_asked:
        return (
            "stopped as asked"  # how it ended stands in the sentence of its process: many end a clean stop by SIGKILL
        )
    story = evidence.story
    was_told = story is not None and story.word in ("stopping", "stopped") and not is_fatal(story)
    ended = f"ended ({exit_words(evidence.process.exit_status)})"
    return f"{ended}: its log says that it was told to stop, not by specdeck" if was_told else None


def _not_clear_yet(evidence: Evidence, at: float) -> str | None:
    """Its processes are gone: stopped it is once its port and its memory are free again."""
    if not (is_gone(evidence) and evidence.stop_asked and evidence.is_clearing):
        return None
    return "the server's process is gone; its port and its GPU memory are waited for"


def _crashed(evidence: Evidence, at: float) -> str | None:
    if not is_gone(evidence):
        return None
    words = f"{exit_words(evidence.process.exit_status)}: {why_it_ended(evidence)}"
    left = len(evidence.process.family) if evidence.process.is_family_seen else 0
    return f"{words}; {left} of its family still live" if left else words


def _stopping(evidence: Evidence, at: float) -> str | None:
    if not is_alive(evidence):
        return None
    if evidence.stop_asked:
        return "a stop was asked, it has not ended yet"
    story = evidence.story
    if story is None or story.word not in ("stopping", "stopped") or is_fatal(story):
        return None
    return "the log says that it was told to stop"


def _begins_to_stop(evidence: Evidence, at: float) -> str | None:
    """SGLang says 503 from SIGTERM on, which is seen before the act tells that it was sent."""
    if not is_alive(evidence) or not evidence.begins_to_stop or not has_served(evidence):
        return None
    is_refusing = evidence.http.state in ("unavailable", "refused")
    return f"a stop was asked, and now {http_sentence(evidence)}" if is_refusing else None


def _others_stopping(evidence: Evidence, at: float) -> str | None:
    """Of a server that others run only its log, which still grows, tells that it drains."""
    story = evidence.story
    if evidence.process.state != "none" or evidence.port.state != "open" or story is None or is_fatal(story):
        return None
    return log_sentence(evidence, at) if story.word == "stopping" and _log_grows(evidence, at) else None


def _stranger_on_the_port(evidence: Evidence, at: float) -> str | None:
    if evidence.port.state != "stranger" or is_gone(evidence) or evidence.process.state == "unknown":
        return None
    return f"{port_sentence(evidence)}, not by this server"


def _start_failed(evidence: Evidence, at: float) -> str | None:
    """It has never served, and its end is near: no state of its own for the second between."""
    if evidence.failed_at is None or has_served(evidence) or at - evidence.failed_at > FAILED_START_SECONDS:
        return None
    return _dying(evidence, at)


def _dying(evidence: Evidence, at: float) -> str | None:
    story = evidence.story
    if not is_alive(evidence) or story is None:
        return None
    if is_fatal(story):
        return f"dying: {why_it_ended(evidence)}"
    return "dying: the log ends like a crash" if story.word == "crashed" else None


def _engine_gone(evidence: Evidence, at: float) -> str | None:
    """Whatever the web part says: nobody computes any more."""
    if not is_alive(evidence) or not evidence.process.is_engine_gone:
        return None
    return "engine gone: its worker processes have ended, only the web part lives"


def _halted(evidence: Evidence, at: float) -> str | None:
    """Nobody can be served meanwhile, whatever the web part says."""
    if not is_alive(evidence) or not evidence.process.halted:
        return None
    pids = " ".join(str(pid) for pid in evidence.process.halted)
    return f"pid {pids} held still by a signal or a debugger (state T): `kill -CONT {pids}` lets it go on"


def _runs_as_a_rank(evidence: Evidence, at: float) -> str | None:
    """Only the head serves: of another rank its process and its log are all there is."""
    return f"runs as rank {evidence.rank}" if evidence.rank and is_alive(evidence) else None


def _stalled(evidence: Evidence, at: float) -> str | None:
    return evidence.stall if _ready(evidence, at) is not None else None


def _start_stalled(evidence: Evidence, at: float) -> str | None:
    """Only of a process that lives and has never served."""
    return evidence.start_stall if is_alive(evidence) and not has_served(evidence) else None


def _ready(evidence: Evidence, at: float) -> str | None:
    if not answers(evidence) or is_gone(evidence):
        return None
    if evidence.port.state not in ("ours", "open"):
        return None  # whose answer it is must be known first: the old server says 200 as well
    if _awaits_line(evidence, at):
        return None
    sentence = http_sentence(evidence)
    return f"up, but {sentence}" if evidence.http.state in ("key-needed", "tls") else sentence


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
    if not is_alive(evidence) or evidence.was_ready:
        return None
    if answers(evidence) and evidence.port.state == "unknown" and not _awaits_line(evidence, at):
        return None  # neither ready nor starting can be claimed
    if answers(evidence) and evidence.port.state != "closed":
        return f"almost ready: {http_sentence(evidence)}, the log's ready line is awaited"
    if evidence.quiet:
        return evidence.quiet
    if evidence.http.state == "unknown" and evidence.port.state != "closed" and not log_awaits_ready(evidence):
        return None  # nobody asked yet: neither ready nor starting can be claimed
    if log_says_ready(evidence.story):
        return NOT_CONFIRMED
    return log_sentence(evidence, at) or process_sentence(evidence)


def _others_starting(evidence: Evidence, at: float) -> str | None:
    """No run is known: a server that others start, seen by its log, or by a port that does not serve yet."""
    if evidence.process.state != "none":
        return None
    if evidence.port.state == "closed":
        return log_sentence(evidence, at) if log_awaits_ready(evidence) and _log_grows(evidence, at) else None
    if evidence.port.state != "open":
        return None
    is_before_ready = evidence.http.state == "unavailable" and not has_served(evidence)
    return http_sentence(evidence) if is_before_ready or answers(evidence) else None


def _log_grows(evidence: Evidence, at: float) -> bool:
    return evidence.log_grew_at is not None and at - evidence.log_grew_at <= LOG_MOVES_SECONDS


def _others_unhealthy(evidence: Evidence, at: float) -> str | None:
    if evidence.process.state != "none" or evidence.port.state != "open":
        return None
    return http_sentence(evidence) if evidence.http.state in ("unavailable", "timeout", "error") else None


def _others_crashed(evidence: Evidence, at: float) -> str | None:
    story = evidence.story
    if evidence.process.state != "none" or evidence.port.state != "closed" or story is None or not is_fatal(story):
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
    (Word.STOPPING, _not_clear_yet),
    (Word.STOPPED, _stopped_as_asked),
    (Word.CRASHED, _crashed),
    (Word.STOPPING, _stopping),
    (Word.STOPPING, _begins_to_stop),
    (Word.STOPPING, _others_stopping),
    (Word.BLOCKED, _stranger_on_the_port),
    (Word.STARTING, _start_failed),
    (Word.UNHEALTHY, _dying),
    (Word.UNHEALTHY, _engine_gone),
    (Word.STALLED, _halted),
    (Word.READY, _runs_as_a_rank),
    (Word.STALLED, _stalled),
    (Word.READY, _ready),
    (Word.UNHEALTHY, _unhealthy),
    (Word.STALLED, _start_stalled),
    (Word.STARTING, _starting),
    (Word.STARTING, _others_starting),
    (Word.UNHEALTHY, _others_unhealthy),
    (Word.CRASHED, _others_crashed),
    (Word.STOPPED, _nothing_runs),
)
"""In this order; a server about which none says anything is `unknown`."""
