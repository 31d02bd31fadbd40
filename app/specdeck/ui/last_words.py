"""What is said after the dashboard ended by a fault of its own: one sentence, and where the report is."""

from pathlib import Path

from specdeck.services.crash_report import about
from specdeck.ui.drawing.spans import clean

RESET = "If the terminal looks odd now: reset"


def last_words(error: BaseException, folder: Path | None = None) -> str:
    """Write a report and say in a few lines what happened; servers were not touched by the end of the dashboard."""
    lines = (clean(line) for line in about(error, folder).split("\n"))
    return "\n".join([*lines, f"No server was stopped by this. {RESET}"])
