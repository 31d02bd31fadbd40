"""In a real tmux: job control, the mouse given back and taken again, the title, and what is left afterwards."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.tmux
MODES = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"
DASHBOARD, SHELL = "1 1 0", "0 0 1"


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    top = Path(__file__).parents[2]
    opened = Terminal(tmp_path, f"cd {top} && PS1='$ ' XDG_STATE_HOME={tmp_path} TZ=UTC exec sh -i")
    await opened.shows("$")
    opened.press(f"{sys.executable} -m tests.ui.falling_program NONE", "Enter")
    yield opened
    opened.close()


def asked(terminal: Terminal, words: str) -> str:
    return terminal.ask("display-message", "-p", words).strip()


async def modes(terminal: Terminal, wanted: str) -> None:
    try:
        await until(lambda: asked(terminal, MODES) == wanted, "", limit_seconds=60)
    except AssertionError:
        pytest.fail(f"{asked(terminal, MODES)} is not {wanted}:\n{terminal.screen()}")


async def test_ctrl_z_the_mouse_and_the_title(terminal: Terminal) -> None:
    await terminal.shows("kimi", "crashed")
    await modes(terminal, DASHBOARD)
    await until(
        lambda: asked(terminal, "#{pane_title}") == "✖ glm crashed +2 - specdeck", "the title", limit_seconds=60
    )

    terminal.press("C-z")
    await terminal.shows("Stopped")
    await modes(terminal, SHELL)
    assert "specdeck" not in asked(terminal, "#{pane_title}")
    terminal.press("fg", "Enter")
    await modes(terminal, DASHBOARD)
    await terminal.shows("kimi", "crashed")

    terminal.press("M")
    await modes(terminal, "1 0 0")
    terminal.press("M")
    await modes(terminal, DASHBOARD)

    terminal.press("q")
    await modes(terminal, SHELL)
    assert "specdeck" not in asked(terminal, "#{pane_title}")
