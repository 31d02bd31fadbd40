"""What the dashboard costs while it just runs: the real command in a real terminal, eight GPUs and an engine a host, over sshd.

Of four hosts in the overview drawing takes a quarter, HTTP a fifth, SSH and asyncio a third.
`discover.sh` finds more to read on a machine on which many engines run.
"""

import sys
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.performance.conftest import Tell
from tests.performance.fleet_lab import FleetLab, fleet_lab
from tests.performance.terminal import Cost, Terminal, resident_mib

EMPTY = Path(__file__).with_name("empty_app.py")
pytestmark = [pytest.mark.sshd, pytest.mark.long]


def dashboard(lab: FleetLab) -> Terminal:
    """The command on the lab's fleet."""
    return Terminal([sys.executable, "-m", "specdeck", "--fleet", str(lab.fleet)], env=lab.env)


def empty_app(lab: FleetLab) -> Cost:
    """The floor."""
    with Terminal([sys.executable, str(EMPTY)], env=lab.env) as terminal:
        terminal.watch(2)
        return terminal.watch(5)


def test_four_hosts_cost_little_in_the_overview_and_with_a_plot(tmp_path: Path, openssh: OpenSsh, tell: Tell) -> None:
    with fleet_lab(tmp_path / "lab", openssh, hosts=4) as lab:
        floor = empty_app(lab)
        with dashboard(lab) as terminal:
            terminal.until(b"ready")
            terminal.watch(10)
            overview = terminal.watch(15)
            terminal.type(b"\r")
            terminal.watch(5)
            plot = terminal.watch(15)
    for what, cost, cpu, kilobytes in (("overview", overview, 3, 3), ("a server with a plot", plot, 6, 8)):
        tell(f"4 hosts x 8 GPUs, {what}", f"{cost.cpu_percent:.1f} %", f"{floor.cpu_percent:.1f} %", f"{cpu} %")
        speed = f"{cost.bytes_per_second / 1000:.1f} KB/s"
        tell(f"  to the terminal, {what}", speed, f"{floor.bytes_per_second / 1000:.1f} KB/s", f"{kilobytes} KB/s")
        assert cost.cpu_percent < 4 * cpu
        assert cost.bytes_per_second < 2_000 * kilobytes


def test_sixty_four_hosts_leave_the_core_to_others(tmp_path: Path, openssh: OpenSsh, tell: Tell) -> None:
    with fleet_lab(tmp_path / "lab", openssh, hosts=64) as lab, dashboard(lab) as terminal:
        terminal.until(b"ready", 60)
        terminal.watch(30)
        cost = terminal.watch(20)
        memory = resident_mib(terminal.pid)
    tell("64 hosts x 8 GPUs, overview", f"{cost.cpu_percent:.1f} %", "", "30 %")
    tell("  to the terminal; memory", f"{cost.bytes_per_second / 1000:.1f} KB/s; {memory:.0f} MiB", "", "")
    assert cost.cpu_percent < 90


def test_a_fleet_in_which_nothing_changes_writes_next_to_nothing(tmp_path: Path, openssh: OpenSsh, tell: Tell) -> None:
    with (
        fleet_lab(tmp_path / "lab", openssh, hosts=4, lines_per_second=0, is_still=True) as lab,
        dashboard(lab) as terminal,
    ):
        terminal.until(b"ready")
        terminal.watch(25)  # the window of the rates, and the first look for servers
        cost = terminal.watch(10)
    tell("  to the terminal while nothing changes", f"{cost.bytes_per_second:.0f} B/s", "0 B/s", "near 0")
    assert cost.bytes_per_second < 1_000
