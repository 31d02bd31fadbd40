"""Starts the demo's first server the way that keys and verbs do, so that there is something to see."""

import time

from specdeck.config.objects import Fleet
from specdeck.errors import UsageError
from specdeck.services.launcher import Launcher
from specdeck.transport.connect import transport_for


async def launch(fleet: Fleet, server: str, profile: str | None = None) -> None:
    """Ask the host to start a server; returns once the host has taken it. Raises Refused, TransportError."""
    host = next((host for host in fleet.hosts if any(each.name == server for each in host.servers)), None)
    if host is None:
        raise UsageError(f"no server is called {server}")
    transport = transport_for(host)
    await transport.connect()
    try:
        launcher = Launcher(fleet, {host.name: transport}, time.time)
        await launcher.perform(await launcher.plan("launch", server, profile))
    finally:
        await transport.close()
