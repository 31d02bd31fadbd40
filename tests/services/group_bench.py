"""A server that spans two hosts, each with its own state folder and GPU: the stand-in engine, and the launcher for all."""

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tests.services.bench import end, is_alive
from tests.services.stand_in import StandIn, make_stand_in, profile
from tests.waiting import until_listened

from specdeck.config.objects import Fleet, Group, Host, Server
from specdeck.services.acting import act_on_all
from specdeck.services.groups import GroupLauncher
from specdeck.services.runs import Look, look
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport

HOSTS = ("lab", "lab2")
ARGS = {"nnodes": "{nnodes}", "node-rank": "{node_rank}", "dist-init-addr": "{head}:5000"}


@dataclass
class Pair:
    """The group `kimi` on lab (the head) and lab2."""

    trees: tuple[StandIn, ...]
    fleet: Fleet
    transports: dict[str, Transport]

    @property
    def launcher(self) -> GroupLauncher:
        """Another one each time: it keeps nothing."""
        return GroupLauncher(self.fleet, self.transports, time.time)

    def member(self, rank: int) -> Server:
        """The server of a rank."""
        return self.fleet.hosts[rank].servers[0]

    async def do(self, kind: ActKind, profile_name: str | None = None) -> list[tuple[int, str]]:
        """Plan and do one act to its end: (rank, step) as they came."""
        plan = await self.launcher.plan(kind, "kimi", profile_name)
        async with asyncio.timeout(90):
            return [
                (each.group.rank if each.group else 0, step.name)
                async for each, step in act_on_all(self.launcher, self.transports, self.fleet, plan)
            ]

    def runs(self, rank: int) -> Path:
        """The state folder of a rank on its host."""
        return self.trees[rank].folder / "state" / "specdeck" / self.member(rank).name

    def pid(self, rank: int, run: str = "0001") -> int:
        """The pid that the wrapper recorded."""
        return int((self.runs(rank) / run / "pid").read_text().split()[0])

    def argv(self, rank: int) -> list[str]:
        """What the engine got."""
        return (self.trees[rank].gpus / "argv").read_text().split("\0")

    def holders(self, rank: int) -> list[int]:
        """The living processes that hold GPU memory on the host of a rank."""
        found = [int(file.name) for file in self.trees[rank].gpus.iterdir() if file.name.isdigit()]
        return [pid for pid in found if is_alive(pid)]

    async def look(self, rank: int) -> Look:
        """One look at a rank."""
        member = self.member(rank)
        return await look(self.transports[member.host], member)

    async def until_all_listen(self) -> None:
        """All ranks are up."""
        await until_listened(*(self.member(rank).port for rank in range(len(HOSTS))))


def make_pair(folder: Path, hosts: tuple[Host, ...], mode: str = "healthy", **changes: object) -> Pair:
    """One tree for each host; on one machine each rank needs a port of its own."""
    trees = tuple(make_stand_in(folder / host.name) for host in hosts)
    built = []
    for rank, (tree, host) in enumerate(zip(trees, hosts, strict=True)):
        group = Group("kimi", rank, HOSTS, "head.example")
        name = "kimi.1" if rank else "kimi"
        values = {"name": name, "host": host.name, "group": group, "args": ARGS, "env": {"STAND_IN": mode}, **changes}
        built.append(replace(host, env=tree.env, servers=(tree.server(**values),)))
    profiles = {"one": profile("one"), "two": profile("two", args={"page-size": 16})}
    return Pair(trees, Fleet(tuple(built), profiles), {})


def end_all(pair: Pair) -> None:
    """Whatever a test has left, by the pids that were recorded."""
    for tree in pair.trees:
        for file in tree.folder.glob("state/specdeck/*/*/pid"):
            pid, start_time = map(int, file.read_text().split())
            end(pid, start_time)
        for file in tree.gpus.glob("[0-9]*"):
            end(int(file.name), started_before=file.stat().st_mtime)
