"""Two servers of one host, on GPUs and ports of their own: an act on one leaves the other exactly as it is."""

import time
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import free_port
from tests.services import way
from tests.services.bench import end, is_alive
from tests.services.stand_in import StandIn, make_stand_in, profile
from tests.waiting import until_listened

from specdeck.config.objects import Fleet
from specdeck.services.acting import act
from specdeck.services.launcher import Launcher
from specdeck.services.runs import look
from specdeck.state.snapshot import ActKind
from specdeck.transport.connect import transport_for


class TwoServers:
    """`kimi` and `small` on one host; each has a folder of its own as its GPUs, and one nvidia-smi lists both."""

    def __init__(self, stand_in: StandIn, other_port: int) -> None:
        self.stand_in = stand_in
        gpus = {name: stand_in.folder / "gpus" / name for name in ("kimi", "small")}
        for folder in gpus.values():
            folder.mkdir()
        smi = stand_in.folder / "bin" / "nvidia-smi"
        smi.write_text(smi.read_text().replace('"$GPUS"/[0-9]*', '"$GPUS"/*/[0-9]*'))
        self.servers = {
            name: stand_in.server(name=name, port=port, env={"STAND_IN": "healthy", "GPUS": str(gpus[name])})
            for name, port in (("kimi", stand_in.port), ("small", other_port))
        }
        host = replace(way.host(), env=stand_in.env, servers=tuple(self.servers.values()))
        self.transport = transport_for(host)
        fleet = Fleet((host,), {"one": profile("one"), "two": profile("two", args={"page-size": 16})})
        self.launcher = Launcher(fleet, {"lab": self.transport}, time.time)

    def end(self) -> None:
        """Whatever a test has left, by the pids that were recorded."""
        for file in self.stand_in.folder.glob("state/specdeck/*/*/pid"):
            pid, start_time = map(int, file.read_text().split())
            end(pid, start_time)
        for file in self.stand_in.folder.glob("gpus/*/[0-9]*"):
            end(int(file.name), started_before=file.stat().st_mtime)

    async def do(self, kind: ActKind, name: str) -> list[str]:
        plan = await self.launcher.plan(kind, name)
        return [step.name async for step in act(self.launcher, self.transport, self.servers[name], plan)]

    async def launch(self, name: str) -> None:
        await self.do("launch", name)
        await until_listened(self.servers[name].port)

    def holders(self, name: str) -> list[int]:
        files = (self.stand_in.folder / "gpus" / name).glob("[0-9]*")
        return sorted(int(file.name) for file in files if is_alive(int(file.name)))

    def identity(self, name: str) -> str:
        return (self.stand_in.folder / "state" / "specdeck" / name / "0001" / "pid").read_text()

    def serves(self, name: str) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.servers[name].port}/health", timeout=5) as answer:
            return bool(answer.status == 200)


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[TwoServers]:
    made = TwoServers(make_stand_in(tmp_path), free_port())
    await made.transport.connect()
    yield made
    await made.transport.close()
    made.end()


def start_time_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


@pytest.mark.parametrize("kind", ["stop", "pivot"])
async def test_an_act_on_one_leaves_processes_port_and_memory_of_the_other(two: TwoServers, kind: ActKind) -> None:
    await two.launch("kimi")
    await two.launch("small")
    pid, start_time = map(int, two.identity("small").split())
    holders = two.holders("small")
    before = await look(two.transport, two.servers["small"])
    assert len(holders) == 2
    steps = await two.do(kind, "kimi")
    assert steps[-1] == "done"
    assert "kill" not in steps
    after = await look(two.transport, two.servers["small"])
    assert start_time_of(pid) == start_time
    assert two.holders("small") == holders
    assert [(each.pid, each.start_time) for each in after.members] == [
        (each.pid, each.start_time) for each in before.members
    ]
    assert {pid: after.gpu_mib[pid] for pid in holders} == dict.fromkeys(holders, 1000)
    assert two.serves("small")
    assert not any(pid in holders for pid in two.holders("kimi"))
    assert not (two.stand_in.folder / "state" / "specdeck" / "small" / "0001" / "stop").exists()
