"""A client that dies without a word leaves no process of ours on the host, and no server of the user's is touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.transport.processes import only_the_last_survives, pids_in, until

from specdeck.config.objects import Host

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("verb", ["run", "open"])
async def test_a_killed_client_leaves_nothing_behind(host: Host, tmp_path: Path, verb: str) -> None:
    file = tmp_path / "pids"
    client = start_client(host, file, verb)
    try:
        await until(lambda: bool(pids_in(file)))
    finally:
        client.kill()
        client.wait(5)
    await only_the_last_survives(file)


def start_client(host: Host, file: Path, verb: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.transport.client_program", host.ssh, str(host.ssh_config), str(file), verb],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
