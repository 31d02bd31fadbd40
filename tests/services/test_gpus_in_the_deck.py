"""From nvidia-smi on the host to the warnings of a real server's row, through the whole deck: heat, a slow link, a stranger."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.lab import Lab
from tests.services.smi_host import GPU, SmiHost
from tests.services.waiting import kimi, until

from specdeck.cli.state_json import server_json
from specdeck.services import host_monitor
from specdeck.services.open_deck import open_deck
from specdeck.state.warnings import warnings_of

HOT = {**GPU, "clocks_event_reasons.active": "0x0000000000000048", "pcie.link.gen.current": 1, "pcie.link.gen.max": 5}
LINK = {"pcie.link.width.current": 16, "pcie.link.width.max": 16}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks and surveys as short as they can be."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "SURVEY_SECONDS", 1.0)


@pytest.fixture
def stranger() -> Iterator[int]:
    """A process of somebody who has nothing to do with the server."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield process.pid
        process.kill()


def holds(pid: int, name: str, mib: int) -> dict[str, object]:
    """A row of the process list."""
    return {"gpu_uuid": GPU["uuid"], "pid": pid, "process_name": name, "used_gpu_memory": mib}


async def test_what_its_gpu_explains_stands_in_the_warnings_of_a_server(tmp_path: Path, stranger: int) -> None:
    lab, smi = Lab(tmp_path), SmiHost(tmp_path)
    host = lab.local().hosts[0]
    env = {**host.env, **smi.host.env, "PATH": f"{smi.folder / 'bin'}:{os.environ['PATH']}"}
    with lab.run() as process:
        smi.say(
            gpus=[{**HOT, **LINK}],
            apps=[holds(process.pid, "sglang::scheduler", 60_000), holds(stranger, "python3, a job", 8_192)],
        )
        async with open_deck(replace(lab.local(), hosts=(replace(host, env=env),))) as deck:
            state = await until(deck, lambda state: kimi(state).word == "ready" and len(warnings_of(kimi(state))) >= 3)
    server = kimi(state)
    told = server_json(server, state.host("lab"), state.at)
    warnings = list(warnings_of(server))
    assert warnings[:2] == [
        "GPU 0: slowed down: too hot (hardware thermal slowdown)",
        "GPU 0: PCIe gen 1 x16 of gen 5 x16 under load",
    ]
    assert f"pid {stranger} python3, a job of user" in warnings[2]
    assert warnings[2].endswith("holds 8.0 GiB beside it")
    assert told["warnings"] == warnings
    assert server.gpu_memory_mib == 60_000
