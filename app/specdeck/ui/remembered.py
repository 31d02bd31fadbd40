"""What the dashboard remembers of its user on this machine: the theme that was picked last."""

import re
from pathlib import Path

from specdeck.config.places import state_folder
from specdeck.config.schema import NAME

LONGEST = 64


def _file() -> Path:
    return state_folder() / "theme"


def remembered_theme() -> str | None:
    """The name of the theme that was picked last; None: none was, or it cannot be read."""
    try:
        name = _file().read_text("utf-8").strip()[:LONGEST]
    except (OSError, UnicodeDecodeError):
        return None
    return name if re.fullmatch(NAME, name) else None


def remember_theme(name: str) -> None:
    """Keep it for the next time. Raises OSError."""
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(f"{name}\n", "utf-8")
