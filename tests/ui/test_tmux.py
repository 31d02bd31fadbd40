"""What people see in a real tmux: the states at three sizes, with keys and with the mouse, detached and attached."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tmux import Terminal
from tests.ui.states import STATES
from tests.waiting import until

pytestmark = pytest.mark.tmux
SIZES = ((80, 24), (120, 40), (200, 50))
WORDS = {
    "starting": ("◐ STARTING  5/11 weights", "ready in about 7m43s, at 14:09:54", "22/64", "3.3/s"),
    "ready": ("● READY 41m", "0.0 tok/s", "ready after 8m25s"),
    "busy": ("● READY 41m", "1,213 tok/s", "2.41", "TTFT p50 310 ms p95 1.2 s"),
    "stalled": ("▲ STALLED 1m", "3 running, 20 waiting, 0 tok/s for 1m50s", "0.0 tok/s"),
    "unhealthy": ("▲ UNHEALTHY 33s", "was ready, now health 503", "1,213 tok/s"),
    "crashed": ("✖ CRASHED, 2m ago", "CUDA out of memory", "TP3, ", "line 4801, exit "),
    "blocked": ("■ BLOCKED 1m", "pid 41236", "94.2 GiB"),
    "stopping": ("◑ STOPPING 12s", "pivot to eagle3-v1 by ana", "SIGKILL in", "48 s"),
    "stopped": ("○ STOPPED 5m", "stopped as asked"),
    "unreachable": ("◌ UNREACHABLE 4m", "timed out (keepalive); retry in 12 s", "1,213 tok/s"),
}
"""What must be told of each state, whatever the size."""
ROWS = {
    "starting": ("◐ kimi", "starting 5/11 weights", "7m43s", "272/765G"),
    "busy": ("● kimi", "ready 41m", "1,213", "598/765G"),
    "crashed": ("✖ kimi", "crashed, 2m ago", "CUDA out of memory"),
}
MEMORY = {80: "273/765G", 120: "34/96G", 200: "34/96G"}
"""Of the GPUs: in sum where the terminal is small, else each."""


class Stage:
    """The dashboard in a terminal, and the state that it shows."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "stage"
        self.set("starting")
        self.terminal = Terminal(folder, f"{sys.executable} -m tests.ui.staged {self._file}; echo ENDED $?; exec cat")

    def set(self, name: str) -> None:
        """Show this state from now on."""
        self._file.write_text(name)

    async def to_overview(self) -> None:
        """Back from wherever the test before was."""
        self.terminal.press("Escape")
        await self.terminal.shows("SERVER", "STATE")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One dashboard for all tests of this file: the first frame is the dear part."""
    opened = Stage(tmp_path_factory.mktemp("stage"))
    yield opened
    opened.terminal.close()


@pytest.mark.parametrize("size", SIZES)
async def test_what_matters_of_a_state_is_told_at_every_size(stage: Stage, size: tuple[int, int]) -> None:
    terminal = stage.terminal
    terminal.resize(*size)
    await terminal.shows("SERVER", "kimi")
    for state, texts in ROWS.items():
        stage.set(state)
        screen = await terminal.shows(*texts)
        assert max(map(len, screen.splitlines())) <= size[0]
    stage.set("starting")
    await terminal.shows("◐ kimi")
    terminal.press(next(row[0] for row in terminal.screen().splitlines() if "◐ kimi" in row).replace("▸", "Enter"))
    for state in STATES if size == SIZES[0] else ("starting", "busy", "crashed", "unreachable"):
        stage.set(state)
        screen = await terminal.shows("kimi", *WORDS[state], MEMORY[size[0]])
        assert max(map(len, screen.splitlines())) <= size[0]
    stage.set("starting")
    await terminal.shows("STARTING")
    await stage.to_overview()


async def test_the_mouse_chooses_opens_jumps_and_zooms(stage: Stage) -> None:
    terminal = stage.terminal
    terminal.resize(120, 40)
    await terminal.shows("SERVER", "read-write")
    row = next(number for number, text in enumerate(terminal.screen().splitlines()) if "qwen-spec" in text)
    terminal.click(10, row)
    await terminal.shows("▸● qwen-spec")
    terminal.click(10, row)
    screen = await terminal.shows("qwen-spec @ h200-a", "◐ kimi 5/11")
    tabs, keys = screen.splitlines()[0], screen.splitlines()[-1]
    terminal.click(keys.index("Zoom"), 39)
    await until(lambda: "evidence" not in terminal.screen(), "the log alone", limit_seconds=60)
    terminal.press("z")
    await terminal.shows("evidence")
    terminal.click(tabs.index("glm"), 0)
    await terminal.shows("glm @ h200-b", "NCCL timeout")
    await stage.to_overview()
    terminal.wheel_down(10, row)
    await until(lambda: "▸✖ glm" not in terminal.screen(), "the wheel moves the cursor", limit_seconds=60)


async def test_a_client_of_another_size_attaches_and_detaches(stage: Stage) -> None:
    terminal = stage.terminal
    terminal.resize(120, 40)
    await terminal.shows("read-write")
    with terminal.attached(80, 24):
        await terminal.shows("in trouble", "GPU ")
        await until(lambda: len(terminal.screen().splitlines()) == 24, "the small form", limit_seconds=60)
    with terminal.attached(50, 12):
        await terminal.shows("60x15 needed, 50x12 here")
        assert "kimi" not in terminal.screen()
    with terminal.attached(200, 50):
        await terminal.shows("TTFT p95", "kimi")
    await terminal.shows("TTFT p95", "kimi")  # detached again


async def test_leaving_gives_the_terminal_back(stage: Stage) -> None:
    stage.terminal.press("q")
    await stage.terminal.shows("ENDED 0")
