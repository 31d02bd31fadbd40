"""From the host to the screen, and from a key to the screen: the real command in a real terminal over sshd."""

import random
import sys
import time
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.performance.conftest import Tell
from tests.performance.fleet_lab import FleetLab, fleet_lab
from tests.performance.terminal import Terminal

pytestmark = [pytest.mark.sshd, pytest.mark.long]
EMPTY = Path(__file__).with_name("empty_app.py")
SEARCH = b"earch the log"
"""Of the search line's hint; its first letter is under the cursor."""


def server_view(lab: FleetLab) -> Terminal:
    """The command, which opens the only server by itself."""
    return Terminal([sys.executable, "-m", "specdeck", "--fleet", str(lab.fleet)], env=lab.env)


def quantile(values: list[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def test_a_line_on_the_host_is_soon_on_the_screen(tmp_path: Path, openssh: OpenSsh, tell: Tell) -> None:
    """The pauses between two lines are uneven, so that no rhythm of the dashboard favours them."""
    uneven, delays = random.Random(4), []
    with fleet_lab(tmp_path / "lab", openssh, hosts=1, lines_per_second=0) as lab, server_view(lab) as terminal:
        terminal.until(b"fired up")
        terminal.watch(4)
        for number in range(60):
            terminal.watch(uneven.uniform(0.1, 0.6))
            with lab.logs[0].open("a") as log:
                log.write(f"a line that was just written, mark{number:04}\n")
            began = time.monotonic()
            delays.append(terminal.until(f"mark{number:04}".encode()) - began)
    half, most = quantile(delays, 0.5), quantile(delays, 0.99)
    tell("a line on the host to the screen", f"{half * 1000:.0f}, {most * 1000:.0f} ms", "", "half 150, 99 % 350 ms")
    assert half < 1


def echo_delays(count: int) -> list[float]:
    """The floor: from a key to its letter in a line of an otherwise empty app."""
    delays = []
    with Terminal([sys.executable, str(EMPTY), "echo"], env={}) as terminal:
        terminal.watch(2)
        for number in range(count):
            terminal.watch(0.1)
            letter = b"abcdefghij"[number % 10 : number % 10 + 1]
            began = time.monotonic()
            terminal.type(letter)
            delays.append(terminal.until(letter) - began)
    return delays


def test_keys_are_answered_while_a_log_rushes_by(tmp_path: Path, openssh: OpenSsh, tell: Tell) -> None:
    uneven, delays, floor = random.Random(4), [], echo_delays(40)
    with fleet_lab(tmp_path / "lab", openssh, hosts=1, lines_per_second=1000) as lab, server_view(lab) as terminal:
        terminal.until(b"Decode batch")
        terminal.watch(6)
        for _ in range(40):
            terminal.watch(uneven.uniform(0.2, 0.4))
            began = time.monotonic()
            terminal.type(b"/")
            delays.append(terminal.until(SEARCH) - began)
            terminal.watch(0.1)
            terminal.type(b"\x1b")
            terminal.watch(0.3)
        cost = terminal.watch(5)
    said, of_floor = (f"{quantile(d, 0.5) * 1000:.0f}, {quantile(d, 0.99) * 1000:.0f} ms" for d in (delays, floor))
    tell("key to frame under 1,000 log lines/s", said, f"{of_floor} echo", "99 % within 50 ms")
    tell("  CPU meanwhile", f"{cost.cpu_percent:.0f} %", "", "")
    assert quantile(delays, 0.5) < 0.5
