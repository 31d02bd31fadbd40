"""A program on a terminal of its own (a pty that is its controlling terminal): what it writes until it ends, and how it ends."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

LIMIT_SECONDS = 40.0
OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class RealTerminal:
    """One program; 120 columns, 40 lines."""

    def __init__(self, arguments: Sequence[str], folder: Path, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "LINES", "TMUX", "STY", "NO_COLOR")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, sys.executable, *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs,
            env={**kept, "TERM": "xterm-256color", "XDG_STATE_HOME": str(folder / "state"),
                 "XDG_CONFIG_HOME": str(folder / "config"), **environment},
        )  # fmt: skip
        os.close(theirs)
        self.written = b""

    def until(self, words: bytes) -> None:
        """Read on until it has written this."""
        end = time.monotonic() + LIMIT_SECONDS
        while words not in self.written:
            assert time.monotonic() < end, self.written[-500:]
            assert self._read(0.2) or self.process.poll() is None, self.written[-2000:]

    def type(self, keys: bytes) -> None:
        """As a terminal sends them, also what is no text."""
        os.write(self._ours, keys)

    def look(self, seconds: float) -> None:
        """Take what it writes meanwhile; only the newest is kept."""
        end = time.monotonic() + seconds
        self._read(0.0)
        while (left := end - time.monotonic()) > 0:
            self._read(left)
        self.written = self.written[-100_000:]

    def resize(self, columns: int, lines: int) -> None:
        """As a window manager does."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _read(self, seconds: float) -> bool:
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self._ours, 65536)
        except OSError:  # what Linux says when the other side has ended
            return False
        self.written += got
        return bool(got)

    def press(self, keys: str) -> None:
        """As a user does."""
        os.write(self._ours, keys.encode())

    def send(self, number: int) -> None:
        """A signal to the program."""
        os.kill(self.process.pid, number)

    def end(self) -> int:
        """Its exit code; all that it wrote is there."""
        end = time.monotonic() + LIMIT_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < end, self.written[-500:]
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.process.returncode

    def close(self) -> None:
        """Whatever happened, nothing is left."""
        if self.process.poll() is None:
            self.send(signal.SIGKILL)
            self.process.wait()
        os.close(self._ours)
