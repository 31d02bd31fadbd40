"""What drawing many hosts costs, apart from watching them: scripted states of 64 hosts, each new every two seconds."""

import sys
from pathlib import Path

import pytest
from tests.performance.conftest import Tell
from tests.performance.terminal import Cost, Terminal

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]


def cost_of(hosts: int, home: Path, *, is_seen: bool = True) -> Cost:
    """After it has settled."""
    command = [sys.executable, "-m", "tests.ui.live", str(hosts), *([] if is_seen else ["unseen"])]
    with Terminal(command, env={"HOME": str(home), "PYTHONPATH": str(ROOT)}) as terminal:
        if is_seen:
            terminal.until(b"qwen-gpu01", 60)
        terminal.watch(8)
        return terminal.watch(10)


def test_sixty_four_hosts_are_drawn_for_little_more_than_four(tmp_path: Path, tell: Tell) -> None:
    floor = cost_of(64, tmp_path, is_seen=False)
    many, few = cost_of(64, tmp_path), cost_of(4, tmp_path)
    drawn = many.cpu_percent - floor.cpu_percent
    tell("drawing 64 hosts x 8 GPUs", f"{drawn:.1f} %", f"{few.cpu_percent:.1f} % with 4 hosts", "30 % with watching")
    speed, least = (f"{cost.bytes_per_second / 1000:.1f} KB/s" for cost in (many, few))
    tell("  to the terminal, 24 rows in sight", speed, f"{least} with 4 hosts", "")
    assert drawn < 60
    assert many.bytes_per_second < 40_000
