"""In a real tmux: the terminal is an editor's own while the user types there, the monitors go on, and a problem costs nothing."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.openssh import free_port
from tests.services.desk import text_of
from tests.tmux import Terminal

pytestmark = pytest.mark.tmux
FLEET = """\
# by hand
hosts:
  here:
    ssh: localhost
    servers:
      kimi: {{model: /m/kimi, port: {port}, profiles: [baseline]}}
      glm: {{model: /m/glm, port: {other}, profiles: [baseline]}}
"""
EDITOR = """\
#!/bin/sh
printf '\\033[2J\\033[HEDITING %s' "$1"
read -r word
case $word in
wrong) printf '  more:\\n    shs: localhost\\n' >>"$1" ;;
mended) sed -i 's/shs: localhost/ssh: localhost/' "$1" ;;
esac
"""


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    fleet, editor = tmp_path / "fleet.yaml", tmp_path / "editor"
    fleet.write_text(FLEET.format(port=free_port(), other=free_port()))
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    words = f"EDITOR={editor} VISUAL= XDG_CONFIG_HOME={tmp_path}/config XDG_STATE_HOME={tmp_path}/state"
    opened = Terminal(tmp_path, f"{words} {sys.executable} -m specdeck --fleet {fleet}")
    await opened.shows("kimi", "stopped", "glm")
    yield opened
    opened.close()


async def test_a_file_is_edited_with_a_problem_and_then_without(terminal: Terminal, tmp_path: Path) -> None:
    terminal.press("E")
    await terminal.shows("edit a file", "fleet.yaml")
    terminal.press("Enter")
    await terminal.shows("EDITING")
    assert "kimi" not in terminal.screen()
    terminal.press("wrong", "Enter")
    await terminal.shows("fleet.yaml:9:5:", "hosts.more.shs: unknown", "did you mean ssh?", "kimi", "stopped")
    terminal.press("Enter")
    await terminal.shows("EDITING")
    terminal.press("C-c")
    await terminal.shows("ended with status", "did you mean ssh?")
    terminal.press("Enter")
    await terminal.shows("EDITING")
    terminal.press("mended", "Enter")
    await terminal.shows("the files were read again", "kimi", "2 hosts")
    assert text_of(tmp_path / "fleet.yaml").endswith("  more:\n    ssh: localhost\n")
    terminal.press("q")
