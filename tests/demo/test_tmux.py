"""The demo in a real terminal multiplexer: what its user sees at the usual sizes, and what is left when it ends."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.demo.waiting import until

TMUX = shutil.which("tmux")
pytestmark = pytest.mark.tmux


class Terminal:
    """A private tmux server with one window."""

    def __init__(self, folder: Path, command: str) -> None:
        self._socket = str(folder / secrets.token_hex(4))
        env = {**os.environ, "TMPDIR": str(folder), "TERM": "xterm-256color"}
        for name in ("TMUX", "COLUMNS", "LINES"):  # a size of some other terminal
            env.pop(name, None)
        self.folder = folder
        self._env = env
        self.ask("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", command)
        self.ask("set", "-g", "remain-on-exit", "on")

    def ask(self, *words: str) -> str:
        """One tmux command."""
        assert TMUX is not None
        done = subprocess.run(
            [TMUX, "-S", self._socket, *words], env=self._env, capture_output=True, text=True, check=False
        )
        return done.stdout

    def screen(self) -> str:
        """What stands there now."""
        return self.ask("capture-pane", "-p")

    def resize(self, width: int, height: int) -> None:
        self.ask("resize-window", "-x", str(width), "-y", str(height))

    def press(self, *keys: str) -> None:
        self.ask("send-keys", *keys)

    def close(self) -> None:
        self.ask("kill-server")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if TMUX is None:
        pytest.skip("tmux is not installed")
    opened = Terminal(tmp_path, f"{sys.executable} -m specdeck demo --speed 60 --traffic 4; echo ENDED $?")
    yield opened
    opened.close()


async def shown(terminal: Terminal, *texts: str) -> str:
    """Wait until all of these are on the screen."""
    try:
        await until(lambda: all(text in terminal.screen() for text in texts), "", limit_seconds=60)
    except AssertionError:
        pytest.fail(f"{texts} are not all there:\n{terminal.screen()}")
    return terminal.screen()


async def test_the_demo_is_right_at_three_sizes_and_leaves_nothing_behind(terminal: Terminal) -> None:
    await shown(terminal, "kimi", "starting")
    await shown(terminal, "● kimi")
    await shown(terminal, "8 x NVIDIA H200", "kimi TP7")

    terminal.resize(80, 24)
    small = await shown(terminal, "GPU 0-7", "ready")
    assert max(map(len, small.splitlines())) <= 80

    terminal.resize(200, 50)
    await until(lambda: max(map(len, terminal.screen().splitlines())) > 150, "the wide form", limit_seconds=60)
    await shown(terminal, "● kimi")

    assert list(terminal.folder.glob("specdeck-demo-*"))
    terminal.press("q")
    await until(lambda: "ENDED 0" in terminal.screen(), "the demo ends", limit_seconds=60)
    assert not list(terminal.folder.glob("specdeck-demo-*"))
