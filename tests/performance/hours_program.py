"""python -m tests.performance.hours_program HOURS: the dashboard over simulated hours; prints MiB after each as a JSON list."""

import asyncio
import json
import os
import sys
from dataclasses import replace

from tests.performance.terminal import resident_mib
from tests.ui.fake_deck import Clock, FakeDeck
from tests.ui.fleets import BOOT, gpu

from specdeck.engines.reader import LogReader
from specdeck.services.log_ring import LogRing
from specdeck.services.store import Store
from specdeck.state import events
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import HttpWitness, PortWitness, ProcessWitness, RunIdentity
from specdeck.ui.app import SpecdeckApp

STEP_SECONDS = 2
LINES_PER_STEP = 4


class BusyDeck(FakeDeck):
    """Its fleet serves; every step brings what real monitors would say."""

    def __init__(self) -> None:
        super().__init__(clock=Clock(1_796_220_131.0))
        self.store = Store(initial_state(self.fleet, self.clock.at), reduce, self.clock)
        self.servers = [server for host in self.fleet.hosts for server in host.servers]
        self.rings = {server.name: LogRing() for server in self.servers}
        self.readers = {server.name: LogReader("sglang") for server in self.servers}
        self.steps = 0

    def log_lines(self, server: str, after: int) -> list:  # type: ignore[type-arg]
        """As the real deck keeps them."""
        return list(self.rings[server].after(after))

    def begin(self) -> None:
        """All hosts are up, all servers run."""
        for host in self.fleet.hosts:
            self.store.apply(events.HostConnected(host.name))
        for number, server in enumerate(self.servers):
            pid = 4_000 + number
            run = RunIdentity("0001", pid, 8_812_345, BOOT, server.profiles[0], "/x/log", self.clock.at, "ana")
            self.store.apply(events.RunFound(server.name, run))
            self.store.apply(events.ProcessSeen(server.name, ProcessWitness("alive", pid, (pid,))))
            self.store.apply(events.PortSeen(server.name, PortWitness("ours", pid)))
            self.feed(server.name, "[2026-11-29 15:00:01] The server is fired up and ready to roll!\n")

    def step(self) -> None:
        """Two seconds of all hosts and servers."""
        self.clock.at += STEP_SECONDS
        self.steps += 1
        for host in self.fleet.hosts:
            load = 40 + self.steps % 60
            gpus = [
                gpu(i, name="H200", load=load, used=120_000 + load, total=143_771, watts=400 + load, celsius=50)
                for i in range(8)
            ]
            self.store.apply(events.HostHeard(host.name))
            self.store.apply(
                events.GpusSampled(host.name, tuple(replace(each, utilization_history=()) for each in gpus))
            )
        for server in self.servers:
            self.serve(server.name)
        self.store.apply(events.Ticked())

    def serve(self, name: str) -> None:
        """Log lines, counters, health; now and then the counters are off, which is a happening."""
        for turn in range(LINES_PER_STEP):
            self.feed(
                name,
                f"[2026-11-29 15:{self.steps % 60:02}:{turn:02} TP0] Decode batch, #running-req: {self.steps % 9}, #token: 4001, "
                f"token usage: 0.21, cuda graph: True, gen throughput (token/s): {800 + self.steps % 97}.31, #queue-req: 0\n",
            )
        self.store.apply(events.LogAdvanced(name, self.readers[name].story))
        self.store.apply(
            events.LoadSampled(name, LoadReading(800.0 * self.steps, running=3), note=f"note {self.steps // 50}")
        )
        if self.steps % 5 == 0:
            self.store.apply(events.HealthAnswered(name, HttpWitness("ok", 200, 0.004, self.clock.at)))

    def feed(self, name: str, text: str) -> None:
        """As the follower does."""
        self.rings[name].add(self.readers[name].feed(text.encode(), self.clock.at))


async def main(hours: int) -> None:
    """Draw every tenth step: what is kept does not depend on how often it is drawn."""
    deck, sizes = BusyDeck(), []
    app = SpecdeckApp(deck, clock=deck.clock)
    async with app.run_test(size=(120, 40)) as pilot:
        deck.begin()
        for _ in range(hours):
            for step in range(3600 // STEP_SECONDS):
                deck.step()
                if step % 10 == 0:
                    app.fleet = deck.store.state
                    await pilot.pause()
                if step % 600 == 0:
                    await pilot.press("enter" if step % 1200 == 0 else "escape")
            sizes.append(resident_mib(os.getpid()))
    print(json.dumps(sizes))


asyncio.run(main(int(sys.argv[1])))
