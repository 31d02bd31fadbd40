"""Past starts kept on this machine: an estimate needs no answer of the host, and outlives its run folders. One short call each."""

import logging
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from specdeck.services.start_records import read_start, start_line
from specdeck.state.starts import PastStart

MOST_OF_A_HOST = 400
WAIT_SECONDS = 0.2
"""Another specdeck may be writing; its starts are found on the host as well."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS past_starts (host TEXT, server TEXT, run TEXT, started REAL, line TEXT, "
    "PRIMARY KEY (host, server, run, started))"
)
_PRUNE = (
    "DELETE FROM past_starts WHERE host = ?1 AND started < "
    "(SELECT started FROM past_starts WHERE host = ?1 ORDER BY started DESC LIMIT 1 OFFSET ?2)"
)

_log = logging.getLogger(__name__)


class StartCache:
    """One SQLite file; one that cannot be used costs the cache, nothing else. Without a file nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self, host: str) -> tuple[PastStart, ...]:
        """All starts of a host."""
        if self._path is None:
            return ()
        try:
            with closing(_open(self._path)) as base:
                rows = base.execute("SELECT server, run, line FROM past_starts WHERE host = ?", (host,)).fetchall()
        except (sqlite3.Error, OSError):
            _log.info("%s: cannot be read", self._path, exc_info=True)
            return ()
        return tuple(start for server, run, line in rows if (start := read_start(server, run, line)))

    def keep(self, host: str, starts: Iterable[PastStart]) -> None:
        """Add these; those that are there already stay."""
        if self._path is None:
            return
        rows = [(host, start.server, start.run, start.started_at, start_line(start)) for start in starts]
        try:
            with closing(_open(self._path)) as base, base:
                base.executemany("INSERT OR REPLACE INTO past_starts VALUES (?, ?, ?, ?, ?)", rows)
                base.execute(_PRUNE, (host, MOST_OF_A_HOST))
        except (sqlite3.Error, OSError):
            _log.info("%s: cannot be written", self._path, exc_info=True)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path, timeout=WAIT_SECONDS)
    base.execute(_TABLE)
    return base
