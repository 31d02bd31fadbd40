"""The log in a real tmux, at three sizes: searched, filtered, saved, and copied into tmux's own buffer and the terminal outside."""

import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.tmux


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    top = Path(__file__).parents[2]
    opened = Terminal(tmp_path, f"cd {top} && XDG_STATE_HOME={tmp_path} exec {sys.executable} -m tests.ui.live 1")
    opened.ask("set", "-g", "set-clipboard", "on")
    opened.ask("set", "-g", "allow-passthrough", "on")
    await opened.shows("#running-req: 3")
    yield opened
    opened.close()


async def test_the_log_is_searched_filtered_copied_and_saved(terminal: Terminal, tmp_path: Path) -> None:
    terminal.press("/")
    await terminal.shows("search the log, Enter goes", "Enter Go", "Esc Leave")
    terminal.press("req: 2", "Enter")
    await terminal.shows("/req: 2 ", "f follows", "v Pivot")

    terminal.press("Escape", "&")
    await terminal.shows("only lines with this text")
    terminal.resize(80, 24)
    terminal.press("req: 1", "Enter")
    narrow = await terminal.shows("&req: 1: ", " lines", "#running-req: 1")
    assert "#running-req: 2" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80

    terminal.press("T")
    await terminal.shows("14:32 or 14:32:05")
    terminal.press("14:02", "Enter")
    terminal.resize(200, 50)
    await terminal.shows("▶ [2026-11-29 14:02:04 TP0]")
    line = "[2026-11-29 14:02:04 TP0] Decode batch, #running-req: 1"
    with terminal.attached(200, 50) as received:
        terminal.press("y")
        await until(lambda: terminal.ask("show-buffer").rstrip("\n") == line, "tmux has it", limit_seconds=60)
        copied = b"\x1b]52;c;" + b64encode(line.encode()) + b"\x07"
        await until(lambda: copied in received.read_bytes(), "the terminal outside has it", limit_seconds=60)

    terminal.press("s")
    await terminal.shows("save to ", "/specdeck/logs/")
    terminal.press("Enter")
    await terminal.shows("saved ")
    (saved,) = (tmp_path / "specdeck" / "logs").iterdir()
    assert saved.read_text().splitlines()[0] == line
