"""Log lines into a file of this machine that only the user can read; nothing that is there already is written over."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from specdeck.config.places import state_folder
from specdeck.errors import UsageError
from specdeck.parsing.lines import Line

LONGEST_PART = 60


def file_name(*parts: str) -> str:
    """`kimi-0042-20261129-140211.log`: of names that hosts tell only letters, digits, `.`, `_` and `-` stay."""
    plain = (re.sub(r"[^A-Za-z0-9._-]+", "_", part)[:LONGEST_PART].strip("._-") for part in parts)
    return "-".join(part for part in plain if part) + ".log"


def usual_path(name: str) -> Path:
    """Where a log is saved unless the user says otherwise: `logs` in the XDG state folder."""
    return state_folder() / "logs" / name


def save_lines(lines: Iterable[Line], wanted: str, name: str) -> Path:
    """Write the lines; the path as the user gave it, a folder gets a file of this name. Raises UsageError."""
    path = Path(wanted.strip()).expanduser().absolute()
    if path.is_dir() or wanted.rstrip().endswith("/"):
        path = path / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{line.text}\n" for line in lines)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} was not written: {getattr(error, 'strerror', None) or error}") from error
    return path
