"""A diagnosis for a script; cause, phase and progress have the shape that `inspect` and `status` give them."""

from specdeck.cli.story_json import Json, cause_json, phase_json, progress_json
from specdeck.state.diagnosis import Diagnosis


def diagnosis_json(found: Diagnosis) -> Json:
    """Unknown is null."""
    story = found.story
    return {
        "kind": "diagnosis",
        "server": found.server,
        "state": found.word,
        "ended": found.ended,
        "cause": cause_json(found.cause),
        "advice": list(found.advice),
        "kernel": list(found.kernel),
        "memory": list(found.memory),
        "because": list(found.because),
        "phase": phase_json(story.phase) if story is not None else None,
        "progress": progress_json(story.progress) if story is not None else None,
        "warnings": list(story.warnings) if story is not None else [],
        "log": found.log,
        "lines": story.lines if story is not None else None,
        "context": [{"line": each.number, "text": each.text} for each in found.context],
        "last": [{"line": each.number, "text": each.text} for each in found.last],
    }
