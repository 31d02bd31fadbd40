"""A client that a test kills: runs or opens a script with children, as specdeck does.

usage: client_program.py SSH SSH_CONFIG FILE run|open
"""

import asyncio
import sys
from pathlib import Path

from tests.transport.processes import children

from specdeck.config.objects import Host
from specdeck.transport.connect import transport_for


async def main(ssh: str, config: str, file: str, verb: str) -> None:
    """Goes on until it is killed."""
    transport = transport_for(Host(name="lab", ssh=ssh, ssh_config=Path(config)))
    await transport.connect()
    if verb == "run":
        await transport.run(children(Path(file)), limit_seconds=600)
    async with transport.open(children(Path(file))) as channel:
        async for _ in channel.chunks():
            pass


asyncio.run(main(*sys.argv[1:]))
