"""The dashboard ends when its terminal does: with a hang-up, and also where nobody sends one."""

import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT_SECONDS = 30.0


def fleet_file(folder: Path) -> Path:
    path = folder / "fleet.yaml"
    path.write_text("hosts: {here: {ssh: localhost}}\n")
    return path


def painted(fd: int, wanted: bytes) -> None:
    """Read until it was painted."""
    seen, end = b"", time.monotonic() + LIMIT_SECONDS
    while wanted not in seen:
        assert time.monotonic() < end, seen[-300:]
        seen += os.read(fd, 65536)


@pytest.mark.parametrize("way", ["hang-up", "silence"])
def test_a_dashboard_whose_terminal_is_gone_ends(tmp_path: Path, way: str) -> None:
    begin: Callable[[], None] | None = os.setsid if way == "silence" else None
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "specdeck", "--fleet", str(fleet_file(tmp_path))]
    if way == "hang-up":  # a terminal of its own, as a shell gives it: its end is a SIGHUP
        command = [sys.executable, "-c", HANG_UP, *command]
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=begin,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    try:
        os.close(theirs)
        painted(ours, b"specdeck")
        os.close(ours)
        process.wait(LIMIT_SECONDS)
    finally:
        process.kill()
        process.wait()
    assert process.returncode != 0


HANG_UP = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
