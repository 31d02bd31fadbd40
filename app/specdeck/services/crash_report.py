"""A file about an error of specdeck's own, for whoever mends it: versions and traceback, no secrets; the newest are kept."""

import os
import time
import traceback
from collections.abc import Mapping
from pathlib import Path

from specdeck import __version__
from specdeck.config.places import state_folder
from specdeck.late_pattern import late_pattern
from specdeck.parsing.plain import plain
from specdeck.parsing.secrets import is_secret_name, without_secrets

MOST = 20
SHORTEST_SECRET = 6
_PASSWORD = late_pattern(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")


def write_report(error: BaseException, folder: Path | None = None) -> Path:
    """Write it, readable by the user only; raises OSError."""
    folder = folder or state_folder() / "reports"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = _free(folder, time.strftime("%Y%m%d-%H%M%S"))
    path.touch(mode=0o600)
    path.write_text(_harmless(_text(error), os.environ), "utf-8", errors="backslashreplace")
    for old in sorted(folder.glob("*.txt"))[:-MOST]:
        old.unlink(missing_ok=True)
    return path


def _free(folder: Path, stem: str) -> Path:
    names = [stem, *(f"{stem}-{number}" for number in range(1, MOST))]
    return next((path for name in names if not (path := folder / f"{name}.txt").exists()), folder / f"{stem}.txt")


def _text(error: BaseException) -> str:
    import platform

    place = f"{platform.system()} {platform.release()}, TERM={os.environ.get('TERM', '')}"
    head = f"specdeck {__version__}, Python {platform.python_version()}, {place}{', tmux' * ('TMUX' in os.environ)}"
    return f"{head}\n\n{''.join(traceback.format_exception(error))}"


def _harmless(text: str, environment: Mapping[str, str]) -> str:
    """Without tokens, passwords in addresses, and the values of variables that hold secrets."""
    for name, value in environment.items():
        if is_secret_name(name) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, "***")
    return "\n".join(_PASSWORD.sub("***", without_secrets(line)) for line in text.split("\n"))


def about(
    error: BaseException, folder: Path | None = None, *, what: str = "specdeck ended by an error of its own"
) -> str:
    """Two lines: what it was, and where the report is."""
    sentence = f"{what}: {type(error).__name__}: {error}"
    try:
        place = f"report: {write_report(error, folder)}"
    except OSError as err:
        place = f"no report could be written ({err})"
    return "\n".join(plain(line) for line in _harmless(f"{sentence}\n{place}", os.environ).split("\n"))
