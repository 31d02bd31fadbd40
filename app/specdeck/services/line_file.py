"""The line of `status --line` in a file of this machine: a dashboard keeps it fresh, so that a status bar asks no host."""

import asyncio
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from specdeck.config.objects import Fleet
from specdeck.config.places import state_folder
from specdeck.services.store import Store
from specdeck.state.line import exit_code, one_line

FRESH_SECONDS = 10.0
"""An older line is no news: then the hosts are asked."""
KEEP_SECONDS = 3.0


def line_path(fleet: Fleet) -> Path:
    """One for each fleet: by its file and its hosts."""
    source = str(fleet.source.resolve()) if fleet.source is not None else ""
    words = "\n".join([source, *(f"{host.name} {host.ssh} {host.ssh_config}" for host in fleet.hosts)])
    return state_folder() / "lines" / hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def write_line(path: Path, code: int, line: str) -> None:
    """Whole or not at all; a folder that cannot be written to costs the speed, nothing else."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(f"{code} {line}\n", "utf-8")
        part.replace(path)


def fresh_line(path: Path) -> tuple[int, str] | None:
    """(exit code, line) where somebody wrote it a few seconds ago; None: nobody did."""
    try:
        age_seconds = time.time() - path.stat().st_mtime
        code, _, line = path.read_text("utf-8").rstrip("\n").partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    return (int(code), line) if code.isdecimal() and line and 0 <= age_seconds < FRESH_SECONDS else None


async def keep_line(store: Store, fleet: Fleet) -> None:
    """Endless: what the dashboard knows, every few seconds."""
    path = line_path(fleet)
    try:
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            if not any(host.link == "connecting" for host in store.state.hosts):
                write_line(path, exit_code(store.state), one_line(store.state))
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
