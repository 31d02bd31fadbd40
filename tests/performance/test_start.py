"""How long the command takes to begin, in CPU seconds: what else runs on this machine then counts less.

Half of what the first frame takes above the floor are imports: PyYAML 10 ms, click 6 ms, our own 20 ms.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.performance.budgets import ratio, seconds
from tests.performance.conftest import Tell
from tests.performance.terminal import Terminal, cpu_so_far

EMPTY = Path(__file__).with_name("empty_app.py")
LAST_ROW = b"\x1b[40;1H"
FLEET = """
hosts:
  gpu-a:
    ssh: gpu-a
    ssh_config: {config}
    servers:
      llm01: {{model: /data/models/llm, port: 30000, profiles: [baseline]}}
      llm02: {{model: /data/models/llm, port: 30001, profiles: [baseline]}}
"""


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """Byte code is kept, as it is for whoever has installed it."""
    return {"PYTHONPYCACHEPREFIX": str(tmp_path / "pyc"), "PYTHONDONTWRITEBYTECODE": "", "HOME": str(tmp_path)}


def cost_of(*arguments: str, env: Mapping[str, str]) -> float:
    """CPU seconds of a Python program, the least of five runs."""
    costs = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], env={**os.environ, **env}, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs[1:])


def first_frames(*commands: tuple[Sequence[str], bytes], env: Mapping[str, str], runs: int = 8) -> list[float]:
    """CPU seconds until a command has painted this, for each the least of some runs; in turn, as the machine may become slower."""
    costs = [[cpu_until(painted, command, env) for command, painted in commands] for _ in range(runs)]
    return [min(of_one) for of_one in zip(*costs, strict=True)]


def cpu_until(painted: bytes, command: Sequence[str], env: Mapping[str, str]) -> float:
    """CPU seconds of one run."""
    with Terminal([sys.executable, *command], env=env) as terminal:
        terminal.until(painted)
        cost = cpu_so_far(terminal.pid)
        terminal.kill()
    return cost


def test_version_and_help_come_at_once(env: Mapping[str, str], tell: Tell) -> None:
    floor = cost_of("-c", "pass", env=env)
    for option, budget, most in (("--version", 3, 6), ("--help", 8, 16)):
        cost = cost_of("-m", "specdeck", option, env=env)
        tell(f"`specdeck {option}`", f"{seconds(cost)} ({ratio(cost, floor)})", f"{seconds(floor)} pass", f"{budget} x")
        assert cost < most * floor


def test_the_first_frame_is_as_quick_as_that_of_an_empty_app(
    env: Mapping[str, str], tmp_path: Path, tell: Tell
) -> None:
    (tmp_path / "ssh_config").touch()
    text = FLEET.format(config=tmp_path / "ssh_config")
    fleet, single = tmp_path / "fleet.yaml", tmp_path / "single.yaml"
    fleet.write_text(text)
    single.write_text("".join(text.splitlines(keepends=True)[:-1]))
    floor, cost, cost_of_one = first_frames(
        ([str(EMPTY)], LAST_ROW),
        (["-m", "specdeck", "--fleet", str(fleet)], b"llm02"),
        (["-m", "specdeck", "--fleet", str(single)], b"port 30000"),
        env=env,
    )
    tell("first frame, CPU", f"{seconds(cost)} ({ratio(cost, floor)})", f"{seconds(floor)} empty app", "1.4 x")
    tell("  of a single server, opened at once", f"{seconds(cost_of_one)} ({ratio(cost_of_one, floor)})", "", "")
    assert cost < 2.5 * floor
    assert cost_of_one < 3 * floor
