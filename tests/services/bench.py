"""One stand-in server on one host and the launcher for it: on this machine, or over a real OpenSSH server."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services import way
from tests.services.stand_in import StandIn, make_stand_in
from tests.waiting import until, until_listened

from specdeck.config.objects import Host, Profile, Server
from specdeck.services.acting import act
from specdeck.services.journal import Step
from specdeck.services.launcher import Launcher
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for

Made = Callable[..., Awaitable["Bench"]]


class Bench:
    """One server on one host, and the launcher for it."""

    def __init__(self, stand_in: StandIn, transport: Transport, host: Host, server: Server, *profiles: Profile) -> None:
        self.stand_in = stand_in
        self.host = host
        self.transport = transport
        self.server = server
        self.launcher = Launcher(stand_in.fleet(host, *profiles), {"lab": transport}, time.time)

    async def do(self, kind: ActKind, profile_name: str | None = None) -> list[Step]:
        """Plan and do one act to its end."""
        plan = await self.launcher.plan(kind, "kimi", profile_name)
        async with asyncio.timeout(90):
            return [step async for step in act(self.launcher, self.transport, self.server, plan)]

    async def until_it_listens(self) -> None:
        """The launched server is up."""
        await until_listened(self.server.port)

    async def until_memory_is_waited_for(self) -> None:
        """nvidia-smi is asked again and again; who takes the first answer for the last asks twice at most."""
        asked = self.stand_in.gpus / "asked"
        before = len(read(asked).splitlines())
        await until(lambda: len(read(asked).splitlines()) > before + 4, "the memory is waited for", limit_seconds=90)

    def pid(self, run: str = "0001") -> int:
        """The pid that the wrapper recorded."""
        return int((self.stand_in.runs / run / "pid").read_text().split()[0])

    def holders(self) -> list[int]:
        """The living processes that hold GPU memory."""
        return [
            int(file.name) for file in self.stand_in.gpus.iterdir() if file.name.isdigit() and is_alive(int(file.name))
        ]

    async def until(self, file: str, run: str = "0001") -> str:
        """The text of a file of the run's folder, once it is there."""
        path = self.stand_in.runs / run / file
        async with asyncio.timeout(90):
            while not (text := read(path)):  # noqa: ASYNC110 - a file on the host tells nobody that it is there
                await asyncio.sleep(0.02)
        return text


def read(path: Path) -> str:
    """The text of a file; empty while it is not there."""
    return path.read_text() if path.exists() else ""


def end(pid: int, start_time: int | None = None, started_before: float = 0.0) -> None:
    """End a process that a test recorded, if the pid still is that process."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        boot = next(
            float(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime")
        )
        born = boot + int(stat[19]) / os.sysconf("SC_CLK_TCK")
        if start_time == int(stat[19]) or born < started_before + 1:
            os.kill(pid, signal.SIGKILL)


def open_files(pid: int) -> dict[str, str]:
    """What each descriptor of a process leads to."""
    found: dict[str, str] = {}
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that this very listing uses
            found[number] = os.readlink(f"/proc/{pid}/fd/{number}")
    return found


def is_alive(pid: int, start_time: int | None = None) -> bool:
    """There is such a process (that began then) and it is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return stat[0] != "Z" and start_time in (None, int(stat[19]))


def names(steps: list[Step]) -> list[str]:
    return [step.name for step in steps]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    made = make_stand_in(tmp_path)
    yield made
    for file in made.folder.glob("state/specdeck/*/*/pid"):
        pid, start_time = map(int, file.read_text().split())
        end(pid, start_time)
    for file in made.gpus.glob("[0-9]*"):
        end(int(file.name), started_before=file.stat().st_mtime)


@pytest.fixture(params=[pytest.param("local", marks=pytest.mark.long), pytest.param("ssh", marks=pytest.mark.sshd)])
async def bench(request: pytest.FixtureRequest, stand_in: StandIn) -> AsyncIterator[Made]:
    """Makes a Bench over SSH, in the long run also on this machine; the transports are closed at the end."""
    host = Host(name="lab", ssh="localhost", env=stand_in.env)
    if request.param == "ssh":
        openssh: OpenSsh = request.getfixturevalue("openssh")
        host = replace(openssh.host(name="lab"), env=stand_in.env)
    async for make in benches(stand_in, host):
        yield make


@pytest.fixture
async def local_bench(stand_in: StandIn) -> AsyncIterator[Made]:
    """On this machine only, where the way to the host changes nothing."""
    async for make in benches(stand_in, replace(way.host(), env=stand_in.env)):
        yield make


async def benches(stand_in: StandIn, host: Host) -> AsyncIterator[Made]:
    open_ones: list[Transport] = []

    async def make(*profiles: Profile, mode: str = "", **changes: object) -> Bench:
        server = stand_in.server(env={"STAND_IN": mode}, **changes)
        full = replace(host, servers=(server,))
        transport = transport_for(full)
        await transport.connect()
        open_ones.append(transport)
        return Bench(stand_in, transport, full, server, *profiles)

    yield make
    for transport in open_ones:
        await transport.close()
