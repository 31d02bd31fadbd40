"""`python -m tests.ui.live`: the dashboard on a fake deck that changes by itself, to look at and to measure."""

import asyncio
import random
import time
from dataclasses import replace

from tests.ui import fleets
from tests.ui.fake_deck import Clock, FakeDeck, lines

from specdeck.state.snapshot import FleetState, Gpu, HostState, ServerState, Throughput
from specdeck.ui.app import SpecdeckApp

EVERY_SECONDS = 0.5
HOSTS = ("gpu-a", "gpu-b", "gpu-c", "gpu-d")


class WallClock(Clock):
    """The real time."""

    def __call__(self) -> float:
        return time.time()


def first_state() -> FleetState:
    """Four hosts of eight GPUs, one server each."""
    hosts = tuple(replace(fleets.blackwell(), name=name, address=name) for name in HOSTS)
    servers = tuple(replace(fleets.qwen(f"qwen-{name}", name), throughput_history=()) for name in HOSTS)
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


async def feed(deck: FakeDeck) -> None:
    """One host after the other, each every two seconds."""
    number = 0
    while True:
        for name in HOSTS:
            await asyncio.sleep(EVERY_SECONDS)
            now, state = time.time(), deck.store.state
            number += 1
            deck.logs[f"qwen-{name}"] = [
                *deck.logs.get(f"qwen-{name}", [])[-500:],
                *lines([f"[2026-11-29 14:02:04 TP0] Decode batch, #running-req: {number}"], start=number),
            ]
            hosts = tuple(next_host(host, now) if host.name == name else host for host in state.hosts)
            servers = tuple(next_server(server, now) if server.host == name else server for server in state.servers)
            deck.publish(replace(state, at=now, hosts=hosts, servers=servers))


async def main() -> None:
    """Until `q`."""
    deck = FakeDeck(first_state(), clock=WallClock())
    feeding = asyncio.create_task(feed(deck))
    try:
        await SpecdeckApp(deck).run_async()
    finally:
        feeding.cancel()


if __name__ == "__main__":
    asyncio.run(main())
