"""Questions that several rules of `health` ask of the evidence."""

from specdeck.quick_dataclass import replace
from specdeck.state.log_story import LogStory, silent_death
from specdeck.state.snapshot import Evidence
from specdeck.state.witnesses import exit_words

READY_LINE_GRACE_SECONDS = 2.0
"""An answer this soon after the ready line may be of the moment before."""


def is_alive(evidence: Evidence) -> bool:
    """The process of the run lives."""
    return evidence.process.state == "alive"


def is_gone(evidence: Evidence) -> bool:
    """There was a run and its process is no more; a zombie counts as gone."""
    return evidence.process.state in ("gone", "zombie")


def answers(evidence: Evidence) -> bool:
    """The endpoint says yes; or it asks for a key or for TLS, which only a running server does."""
    return evidence.http.state in ("ok", "key-needed", "tls")


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


def why_it_ended(evidence: Evidence) -> str:
    """The log's first fatal cause, or that it tells none."""
    story = evidence.story
    if story is None:
        return f"no log tells why ({evidence.log_error})" if evidence.log_error else "its log is not read yet"
    return silent_death(story if is_fatal(story) else replace(story, cause=None)).message


def crash_words(evidence: Evidence) -> str:
    """`crashed: NCCL timeout on TP5 (exit 137, SIGKILL)`: the cause first, a line may be cut."""
    return f"crashed: {why_it_ended(evidence)} ({exit_words(evidence.process.exit_status)})"


def is_fatal(story: LogStory) -> bool:
    """The log names a cause that ends a server."""
    return story.cause is not None and story.cause.is_fatal
