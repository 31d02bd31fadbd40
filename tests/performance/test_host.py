"""What watching costs the GPU host: no process is started, and the monitor's shell idles."""

import sys
import time
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.performance.conftest import Tell
from tests.performance.fleet_lab import fleet_lab
from tests.performance.terminal import Terminal, cpu_so_far
from tests.services.lab import processes_below

pytestmark = [pytest.mark.sshd, pytest.mark.long]
WATCHED_SECONDS = 20.0


def shells_of(sshd: OpenSsh) -> set[int]:
    """specdeck's processes on the host, but not the stand-in for nvidia-smi and its sleeps."""
    found = processes_below(sshd.sessions())
    smi = {pid for pid in found if b"nvidia-smi" in command_of(pid)}
    return found - smi - processes_below(sorted(smi))


def command_of(pid: int) -> bytes:
    """Empty where it has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_steady_watch_starts_no_process_and_takes_no_cpu(tmp_path: Path, own_openssh: OpenSsh, tell: Tell) -> None:
    with (
        fleet_lab(tmp_path / "lab", own_openssh, hosts=1) as lab,
        Terminal([sys.executable, "-m", "specdeck", "--fleet", str(lab.fleet)], env=lab.env) as terminal,
    ):
        terminal.until(b"fired up")
        terminal.watch(6)
        before, began = {pid: cpu_so_far(pid) for pid in shells_of(own_openssh)}, time.monotonic()
        seen = set(before)
        while time.monotonic() - began < WATCHED_SECONDS:
            terminal.watch(0.2)
            seen |= shells_of(own_openssh)
        took = time.monotonic() - began
        cost = 100 * sum(cpu_so_far(pid) - before[pid] for pid in before) / took
    tell("on the host: processes started in 20 s", f"{len(seen - set(before))}", "0", "0 but each 30 s")
    tell("on the host: CPU of the scripts", f"{cost:.2f} %", "", "1 % of a core")
    assert before
    assert len(seen - set(before)) <= 12
    assert cost < 3
