"""specdeck's own log on this machine: faults with time, host and traceback, so that none is silent; made with the first one."""

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

LARGEST_BYTES = 1024 * 1024


def own_log_path() -> Path:
    """`specdeck.log` in the user's state folder."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "specdeck" / "specdeck.log"


def keep_own_log() -> None:
    """Write what is logged from now on into the file; asked twice, it does nothing."""
    logger = logging.getLogger("specdeck")
    if any(isinstance(handler, _OwnLog) for handler in logger.handlers):
        return
    handler = _OwnLog()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)


class _OwnLog(logging.Handler):
    """Opens its file with the first line; a folder that cannot be written to costs the log, not the program."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        path = own_log_path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = RotatingFileHandler(path, maxBytes=LARGEST_BYTES, backupCount=1, encoding="utf-8")
        except OSError:
            return
        file.setFormatter(self.formatter)
        try:
            file.emit(record)
        finally:
            file.close()
