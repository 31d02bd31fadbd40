"""The demo in a real terminal multiplexer: what its user sees at the usual sizes, and what is left when it ends."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tmux import Terminal
from tests.waiting import until

READY = b"\x1b]9;specdeck: kimi is ready"
pytestmark = pytest.mark.tmux


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, f"{sys.executable} -m specdeck demo --speed 60 --traffic 4; echo ENDED $?; exec cat")
    yield opened
    opened.close()


async def test_the_demo_is_right_at_three_sizes_and_leaves_nothing_behind(terminal: Terminal) -> None:
    terminal.ask("set", "-g", "allow-passthrough", "on")
    with terminal.attached(120, 40) as received:
        await terminal.shows("kimi", "starting")
        await terminal.shows("● kimi")
        await until(lambda: READY in received.read_bytes(), "the terminal outside of tmux is told", limit_seconds=60)
    await terminal.shows("8 x NVIDIA H200", "kimi TP7")

    terminal.resize(80, 24)
    small = await terminal.shows("GPU 0-7", "ready")
    assert max(map(len, small.splitlines())) <= 80

    terminal.resize(200, 50)
    await until(lambda: max(map(len, terminal.screen().splitlines())) > 150, "the wide form", limit_seconds=60)
    await terminal.shows("● kimi")

    assert list(terminal.folder.glob("specdeck-demo-*"))
    terminal.press("q")
    await until(lambda: "ENDED 0" in terminal.screen(), "the demo ends", limit_seconds=60)
    assert not list(terminal.folder.glob("specdeck-demo-*"))
