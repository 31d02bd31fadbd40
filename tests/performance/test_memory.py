"""Hours of a busy fleet, told to the real reduce, store and dashboard with a clock that runs ahead."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.performance.conftest import Tell
from tests.performance.terminal import Terminal, resident_mib

FOLDER = Path(__file__).parent
pytestmark = pytest.mark.long


def test_memory_is_flat_over_hours(tmp_path: Path, tell: Tell) -> None:
    with Terminal([sys.executable, str(FOLDER / "empty_app.py"), "imports"], env={"HOME": str(tmp_path)}) as terminal:
        terminal.watch(4)
        floor = resident_mib(terminal.pid)
    program = [sys.executable, "-m", "tests.performance.hours_program", "6"]
    done = subprocess.run(program, cwd=FOLDER.parents[1], capture_output=True, text=True, timeout=300, check=True)
    sizes: list[float] = json.loads(done.stdout)
    said = " ".join(f"{size:.0f}" for size in sizes)
    tell("memory after hours 1 to 6", f"{said} MiB", f"{floor:.0f} MiB", "1.5 x, flat")
    assert sizes[-1] < 2.5 * floor
    assert sizes[-1] - sizes[2] < 0.1 * sizes[2]
