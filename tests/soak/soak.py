"""python -m tests.soak.soak --minutes 30: eight hosts behind relays, a fault every 20 seconds, the dashboard all the while.

Ends with every host live, exactly one set of remote processes on each, no line of a log lost or doubled, and flat memory;
else it says what is wrong and exits with 1. Takes all hosts from this machine: sshd on loopback ports, ended with it.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.faults import FAULTS
from tests.soak.place import Site, running_site

FIRST_SECONDS = 300.0
"""Eight hosts begin at once, perhaps on a machine that does other work."""
LAST_SECONDS = 240.0
"""A line that swallows everything is lost after 48 s, and a host that was away often is tried once a minute."""
END_SECONDS = 30.0
LINE_SECONDS = 0.5
LOOK_SECONDS = 3.0
GROWTH_PERCENT, GROWTH_MIB = 5.0, 3.0
OLD_LINES = 6_000
"""More than the dashboard keeps of a log: what it keeps is full from the beginning."""


@dataclass
class Soak:
    """What was seen so far."""

    sites: Sequence[Site]
    watcher: asyncio.subprocess.Process
    told: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    async def listen(self) -> None:
        """Take what the dashboard says of itself."""
        assert self.watcher.stdout is not None
        while line := await self.watcher.stdout.readline():
            self.told.append(json.loads(line) | {"at": time.monotonic()})

    async def write_logs(self) -> None:
        """The servers go on saying something, whatever happens to the network."""
        while True:
            for site in self.sites:
                site.write_line()
            await asyncio.sleep(LINE_SECONDS)

    async def look(self) -> None:
        """Remember every process of specdeck that ever runs on a host."""
        while True:
            for site in self.sites:
                site.look()
                await asyncio.sleep(LOOK_SECONDS / len(self.sites))

    def what_is_wrong(self) -> list[str]:
        """Nothing, if all is as it should be now."""
        if self.watcher.returncode is not None or not self.told:
            return [
                f"the dashboard ended with {self.watcher.returncode}" if self.told else "the dashboard says nothing yet"
            ]
        newest = self.told[-1]
        wrong = [
            f"{name} is {link}: {newest['why'].get(name)}" for name, link in newest["hosts"].items() if link != "up"
        ]
        wrong += [f"{name} is {word}" for name, word in newest["words"].items() if word != "ready"]
        wrong += [f"the log of {name} lost or doubled a line" for name in newest["faulty"]]
        for site in self.sites:
            missing = site.lines - newest["lines"][f"llm-{site.name}"]
            if missing > 20:
                wrong.append(f"{site.name}: {missing} lines of its log did not come")
            if words := site.what_is_wrong():
                wrong.append(words)
        return wrong

    async def until_well(self, seconds: float) -> list[str]:
        """Wait until nothing is wrong; what still is."""
        end = time.monotonic() + seconds
        while (wrong := self.what_is_wrong()) and time.monotonic() < end:  # noqa: ASYNC110 - processes set no event
            await asyncio.sleep(1.0)
        return wrong

    async def until_gone(self, seconds: float) -> list[str]:
        """Kill the dashboard, which cannot say goodbye then; what it leaves on the hosts."""
        if self.watcher.returncode is None:
            self.watcher.kill()
            await self.watcher.wait()
        end = time.monotonic() + seconds
        while (left := self._left()) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(1.0)
        return left

    def _left(self) -> list[str]:
        return [f"{site.name}: left after the end: {sorted(pids)}" for site in self.sites if (pids := site.survivors())]

    def growth(self) -> tuple[float, float]:
        """Memory in the second quarter of the time and in the last one, in MiB."""
        sizes = [each["mib"] for each in self.told]
        quarter = len(sizes) // 4
        return statistics.median(sizes[quarter : 2 * quarter]), statistics.median(sizes[-quarter:])


@asynccontextmanager
async def running(folder: Path, hosts: int) -> AsyncIterator[Soak]:
    """All hosts up, and the dashboard started."""
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(running_site(f"h{n}", folder / f"h{n}")) for n in range(1, hosts + 1)]
        for site in sites:
            for _ in range(OLD_LINES):
                site.write_line()
        fleet = folder / "fleet.yaml"
        fleet.write_text("hosts:\n" + "".join(site.fleet_text for site in sites))
        watcher = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.soak.watcher", str(fleet), stdout=asyncio.subprocess.PIPE
        )
        soak = Soak(sites, watcher)
        tasks = [asyncio.create_task(work) for work in (soak.listen(), soak.write_logs(), soak.look())]
        try:
            yield soak
        finally:
            if watcher.returncode is None:
                watcher.kill()
            await watcher.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def make_faults(soak: Soak, *, seconds: float, every: float, chance: random.Random) -> None:
    """One at a time every so often, on a host by chance; all are over at the end."""
    end = time.monotonic() + seconds
    order: list[int] = []
    async with asyncio.TaskGroup() as tasks:
        while time.monotonic() < end:
            order = order or chance.sample(range(len(FAULTS)), len(FAULTS))
            fault, site = FAULTS[order.pop()], chance.choice(soak.sites)
            soak.faults.append(fault.__name__)
            print(
                f"{seconds - end + time.monotonic():6.0f} s  {site.name}  {fault.__name__}", file=sys.stderr, flush=True
            )
            tasks.create_task(fault(site, chance.uniform(2.0, every * 1.5)))
            await asyncio.sleep(every)
    for site in soak.sites:
        site.relay.heal()


async def soaked(folder: Path, *, hosts: int, minutes: float, every: float, seed: int) -> list[str]:
    """Everything; what is wrong at the end. The figures go to stderr."""
    async with running(folder, hosts) as soak:
        if wrong := await soak.until_well(FIRST_SECONDS):
            return ["before the first fault", *wrong]
        await make_faults(soak, seconds=60 * minutes, every=every, chance=random.Random(seed))
        began = time.monotonic()
        wrong = await soak.until_well(LAST_SECONDS)
        before, after = soak.growth()
        if after - before > max(GROWTH_MIB, before * GROWTH_PERCENT / 100):
            wrong.append(f"memory grew from {before:.1f} to {after:.1f} MiB")
        _tell(soak, time.monotonic() - began)
        return wrong + await soak.until_gone(END_SECONDS)


def _tell(soak: Soak, healing_seconds: float) -> None:
    late = sorted(each["late"] for each in soak.told)
    tasks = [each["tasks"] for each in soak.told]
    before, after = soak.growth()
    logins = sum(site.relay.connections for site in soak.sites)
    lines = sum(site.lines for site in soak.sites)
    processes = sum(len(site.seen) for site in soak.sites)
    down = sum(link != "up" for each in soak.told for link in each["hosts"].values())
    print(
        f"{len(soak.faults)} faults on {len(soak.sites)} hosts, {logins} logins, {lines} lines, {processes} remote processes seen\n"
        f"{down} host seconds not live; all well again {healing_seconds:.0f} s after the last fault\n"
        f"memory {before:.1f} -> {after:.1f} MiB, tasks at most {max(tasks)}, {tasks[-1]} at the end\n"
        f"the event loop was late by {late[len(late) // 2] * 1000:.0f} ms (median of the worst of each second), "
        f"{late[int(len(late) * 0.99)] * 1000:.0f} ms (99 %), {late[-1] * 1000:.0f} ms at most",
        file=sys.stderr,
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--every", type=float, default=20.0, metavar="SECONDS", help="between two faults")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of what happens where")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        wrong = asyncio.run(
            soaked(Path(folder), hosts=asked.hosts, minutes=asked.minutes, every=asked.every, seed=asked.seed)
        )
    print("\n".join(wrong) or "all well")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
