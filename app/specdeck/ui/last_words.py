"""What is said after the dashboard ended by a fault of its own: one sentence, and where the report is."""

from pathlib import Path

from specdeck.services.crash_report import about
from specdeck.ui.drawing.spans import clean

UNTOUCHED = "No server was stopped by this."
RESET = "If the terminal looks odd now: reset"


def last_words(error: BaseException, folder: Path | None = None, *, fate: str = UNTOUCHED) -> str:
    """Write a report and say in a few lines what happened, and what became of the servers."""
    lines = (clean(line) for line in about(error, folder).split("\n"))
    return "\n".join([*lines, f"{fate} {RESET}"])
