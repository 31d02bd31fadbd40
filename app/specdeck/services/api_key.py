"""Brings the API key of the user's own environment to the host, for the server that is launched next."""

import os

from specdeck.config.objects import Server
from specdeck.errors import TransportError
from specdeck.services.deck import Check
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text


def check_key(server: Server) -> tuple[Check, ...]:
    """The key is there to be brought; that of a file is among the paths that must be on the host."""
    name = server.api_key_env
    if not name:
        return ()
    if not os.environ.get(name):
        return (Check("API key", "failed", f"{name} is not set where specdeck runs: set it, or use `api_key_file`"),)
    return (Check("API key", "passed", f"{name} of your own environment"),)


async def bring_key(transport: Transport, server: Server) -> None:
    """It travels within the script, on the way to its stdin: no argument list ever holds it. Raises TransportError."""
    key = os.environ.get(server.api_key_env or "", "")
    if not key:
        return
    outcome = await transport.run(Script(script_text("bring_key"), (server.name, key), is_urgent=True))
    if outcome.exit_status != 0:
        said = outcome.stdout.decode("utf-8", "replace").strip()
        raise TransportError(f"{server.host} did not take the API key of {server.name}: {said}")
