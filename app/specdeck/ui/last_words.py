"""What is said after the dashboard ended by a fault of its own: one sentence, and where the report is."""

import time
import traceback
from pathlib import Path

from platformdirs import user_state_path

RESET = "If the terminal looks odd now: reset"


def last_words(error: BaseException | None, folder: Path | None = None) -> str:
    """Write a report and say in a few lines what happened; servers were not touched by the end of the dashboard."""
    sentence = f"specdeck ended by an error of its own: {type(error).__name__}: {error}"
    path = (folder or user_state_path("specdeck") / "reports") / time.strftime("%Y%m%d-%H%M%S.txt")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text("".join(traceback.format_exception(error)) if error is not None else sentence, "utf-8")
        path.chmod(0o600)
    except OSError as err:
        place = f"no report could be written ({err})"
    else:
        place = f"report: {path}"
    return f"{sentence}\n{place}\nNo server was stopped by this. {RESET}"
