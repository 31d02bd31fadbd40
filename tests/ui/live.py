"""`python -m tests.ui.live [HOSTS]`: the dashboard on a fake deck that changes by itself, to look at and to measure.

With `unseen` behind the number only the deck changes, and nobody draws it: the floor.
"""

import asyncio
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from tests.ui import fleets
from tests.ui.fake_deck import Clock, FakeDeck, lines

from specdeck.state.gpu_snapshot import Gpu
from specdeck.state.snapshot import FleetState, HostState, ServerState, Throughput
from specdeck.ui.app import SpecdeckApp

PERIOD_SECONDS = 2.0
"""Of each host."""


class WallClock(Clock):
    """The real time."""

    def __call__(self) -> float:
        return time.time()


def first_state(names: Sequence[str]) -> FleetState:
    """Hosts of eight GPUs, one server each."""
    hosts = tuple(replace(fleets.blackwell(), name=name, address=name) for name in names)
    servers = tuple(fleets.qwen(f"qwen-{name}", name) for name in names)
    return FleetState(time.time(), hosts, servers, fleets.happenings())


def next_gpu(gpu: Gpu) -> Gpu:
    """Another row of nvidia-smi."""
    load = random.uniform(60, 99)
    return replace(
        gpu,
        utilization_percent=load,
        power_w=random.uniform(300, 400),
        temperature_c=random.uniform(50, 60),
        utilization_history=(*gpu.utilization_history[-39:], load),
    )


def next_host(host: HostState, now: float) -> HostState:
    """The next sample of a host."""
    return replace(host, last_seen=now, gpus=tuple(map(next_gpu, host.gpus)))


def next_server(server: ServerState, now: float) -> ServerState:
    """The next sample of a server."""
    speed = random.uniform(700, 800)
    history = (*server.throughput_history[-299:], (now, speed))
    return replace(
        server,
        throughput=Throughput(speed, "counters", 10.0, now),
        throughput_history=history,
        requests_running=random.randint(1, 40),
    )


async def feed(deck: FakeDeck, names: Sequence[str]) -> None:
    """One host after the other, each every two seconds."""
    number = 0
    while True:
        for name in names:
            await asyncio.sleep(PERIOD_SECONDS / len(names))
            now, state = time.time(), deck.store.state
            number += 1
            deck.logs[f"qwen-{name}"] = [
                *deck.logs.get(f"qwen-{name}", [])[-500:],
                *lines([f"[2026-11-29 14:02:04 TP0] Decode batch, #running-req: {number}"], start=number),
            ]
            hosts = tuple(next_host(host, now) if host.name == name else host for host in state.hosts)
            servers = tuple(next_server(server, now) if server.host == name else server for server in state.servers)
            deck.publish(replace(state, at=now, hosts=hosts, servers=servers))


async def main(hosts: int, *, is_seen: bool) -> None:
    """Until `q`."""
    names = [f"gpu{number:02}" for number in range(1, hosts + 1)]
    deck = FakeDeck(first_state(names), clock=WallClock())
    feeding = asyncio.create_task(feed(deck, names))
    try:
        await (SpecdeckApp(deck).run_async() if is_seen else feeding)
    finally:
        feeding.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else 4, is_seen=sys.argv[2:] != ["unseen"]))
