"""What goes wrong between the dashboard and a host: each is really made, lasts a while, and is over when the function returns."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress

from tests.soak.place import Site


async def sleep_of_a_laptop(site: Site, seconds: float) -> None:
    """What was open is dead for ever and nobody says so; new connections work."""
    site.relay.swallow()


async def lost_network(site: Site, seconds: float) -> None:
    """The same, and nothing new can be made for a while."""
    site.relay.is_gone = True
    site.relay.swallow()
    await asyncio.sleep(seconds)
    site.relay.is_gone = False


async def freeze(site: Site, seconds: float) -> None:
    """Nothing passes for a while, and nothing is lost."""
    site.relay.freeze()
    await asyncio.sleep(seconds)
    site.relay.thaw()


async def cut(site: Site, seconds: float) -> None:
    """All connections are reset."""
    site.relay.cut()


async def slow_line(site: Site, seconds: float) -> None:
    """300 ms each way and 20 KB/s."""
    site.relay.delay_seconds, site.relay.bytes_per_second = 0.3, 20_000.0
    await asyncio.sleep(seconds)
    site.relay.delay_seconds = site.relay.bytes_per_second = 0.0


async def restarted_sshd(site: Site, seconds: float) -> None:
    """Its sessions end, and for a while nobody listens."""
    await asyncio.to_thread(site.sshd.stop)
    await asyncio.sleep(min(seconds, 5.0))
    await asyncio.to_thread(site.sshd.start)


async def killed_sessions(site: Site, seconds: float) -> None:
    """As the out-of-memory killer of a host does."""
    site.sshd.kill_sessions()


async def frozen_host(site: Site, seconds: float) -> None:
    """The host answers nothing for a while: its network does, but no process of it."""
    stopped = site.sshd.sessions()
    for pid in stopped:
        _signal(pid, signal.SIGSTOP)
    await asyncio.sleep(seconds)
    for pid in stopped:
        _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


Fault = Callable[[Site, float], Coroutine[None, None, None]]
FAULTS: tuple[Fault, ...] = (
    sleep_of_a_laptop,
    lost_network,
    freeze,
    cut,
    slow_line,
    restarted_sshd,
    killed_sessions,
    frozen_host,
)
