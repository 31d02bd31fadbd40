"""A private tmux server with one window, and clients that attach to it: what people look at for hours."""

import fcntl
import os
import pty
import secrets
import shutil
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import until

TMUX = shutil.which("tmux")
SHOWN_WITHIN_SECONDS = 60.0


class Terminal:
    """Detached, at first 120 x 40."""

    def __init__(self, folder: Path, command: str) -> None:
        if TMUX is None:
            pytest.skip("tmux is not installed")
        self.folder = folder
        self._socket = str(folder / secrets.token_hex(4))
        self._env = {**os.environ, "TMPDIR": str(folder), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        for name in ("TMUX", "COLUMNS", "LINES"):  # a size of some other terminal
            self._env.pop(name, None)
        self.ask("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", command)
        self.ask("set", "-g", "remain-on-exit", "on")
        self.ask("set", "-g", "status", "off")

    def ask(self, *words: str) -> str:
        """One tmux command."""
        done = subprocess.run(self._command(*words), env=self._env, capture_output=True, text=True, check=False)
        return done.stdout

    def _command(self, *words: str) -> list[str]:
        assert TMUX is not None
        return [TMUX, "-u", "-S", self._socket, *words]

    def screen(self) -> str:
        """What stands there now."""
        return self.ask("capture-pane", "-p")

    def resize(self, width: int, height: int) -> None:
        """While nobody is attached."""
        self.ask("resize-window", "-x", str(width), "-y", str(height))

    def press(self, *keys: str) -> None:
        """As tmux names them."""
        self.ask("send-keys", *keys)

    def click(self, column: int, row: int) -> None:
        """The left button, at cells counted from 0, as terminals tell it (SGR)."""
        self._mouse(f"0;{column + 1};{row + 1}M", f"0;{column + 1};{row + 1}m")

    def wheel_down(self, column: int, row: int) -> None:
        """One notch."""
        self._mouse(f"65;{column + 1};{row + 1}M")

    def _mouse(self, *reports: str) -> None:
        for report in reports:
            self.ask("send-keys", "-l", f"\x1b[<{report}")

    @contextmanager
    def attached(self, width: int, height: int) -> Iterator[Path]:
        """A client with a terminal of this size looks on, and detaches at the end; all that its terminal gets is in the file."""
        self.ask("set", "-w", "window-size", "latest")
        received = self.folder / secrets.token_hex(4)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        client = subprocess.Popen(
            self._command("attach"), env=self._env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        with received.open("wb") as file:
            reader = subprocess.Popen(["cat"], stdin=ours, stdout=file)
        os.close(theirs)
        try:
            yield received
        finally:
            self.ask("detach-client")
            client.wait(20)
            os.close(ours)
            reader.kill()
            reader.wait(20)

    async def shows(self, *texts: str) -> str:
        """Wait until all of these are on the screen."""
        try:
            await until(lambda: all(text in self.screen() for text in texts), "", limit_seconds=SHOWN_WITHIN_SECONDS)
        except AssertionError:
            missing = [text for text in texts if text not in self.screen()]
            pytest.fail(f"not there: {missing}\n{self.screen()}")
        return self.screen()

    def close(self) -> None:
        """The end of the server and of what runs in it."""
        self.ask("kill-server")
