"""Walks a host through every step between here and its servers; each step is one line: what is wrong and what mends it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from specdeck.config.objects import Host, Server
from specdeck.errors import (
    ChannelRefused,
    ConfigError,
    HostKeyChanged,
    HostKeyUnknown,
    HostUnreachable,
    LoginRefused,
    TransportError,
)
from specdeck.services.connect_words import few_sessions_check, forwarding_check, host_checks, server_checks
from specdeck.services.deck import Check
from specdeck.transport.base import Transport
from specdeck.transport.resolve import resolve, route_words
from specdeck.transport.script import Script, script_text

HOST_SECONDS = 90.0
"""nvidia-smi without persistence mode may take half a minute."""
SERVER_SECONDS = 60.0
ENOUGH_SESSIONS = 4
"""One watches, one follows the log in sight, one is for acts, one for whatever is asked meanwhile."""
_ANY_PORT = 9
"""Discard: whether somebody listens does not matter."""
_STEPS = ("connect", "host key", "login")
_FAILS_AT = ((HostKeyUnknown, 1), (HostKeyChanged, 1), (LoginRefused, 2))


async def check_host(host: Host, transport: Transport) -> AsyncIterator[Check]:
    """Each step as it is known; ends with the first that makes the next ones impossible."""
    is_local = host.ssh == "localhost"
    try:
        if is_local:
            yield Check("resolve", "passed", "this machine, without SSH")
        else:
            route = await resolve(host.ssh, host.ssh_config)
            yield Check("resolve", "passed", route_words(route))
            for words in route.beyond.everything:
                yield Check("configuration", "unknown", words)
    except (ConfigError, TransportError) as error:
        yield Check("resolve", "failed", str(error))
        return
    try:
        await transport.connect()
    except TransportError as error:
        for check in _connect_checks(error):
            yield check
        return
    if not is_local:
        for name in _STEPS:
            yield Check(name, "passed")
    async for check in _connected(host, transport):
        yield check


def _connect_checks(error: TransportError) -> list[Check]:
    """The steps up to the one that failed."""
    failed = next((number for kind, number in _FAILS_AT if isinstance(error, kind)), 0)
    return [*(Check(name, "passed") for name in _STEPS[:failed]), Check(_STEPS[failed], "failed", str(error))]


async def _connected(host: Host, transport: Transport) -> AsyncIterator[Check]:
    try:
        outcome = await transport.run(Script(script_text("check")), limit_seconds=HOST_SECONDS)
    except HostUnreachable as error:
        yield Check("shell", "failed", str(error))
        return
    except TransportError as error:
        yield Check("shell", "failed", f"{error}; the login shell must be able to run `exec /bin/sh`")
        return
    shell, *others = host_checks(outcome.stdout)
    yield shell
    if host.ssh != "localhost":
        yield await _sessions(transport)
    for check in others:
        yield check
    port = host.servers[0].port if host.servers else _ANY_PORT
    try:
        yield forwarding_check(await transport.why_no_forwarding(port), outcome.stdout)
    except TransportError as error:
        yield Check("forwarding", "failed", str(error))
    for server in host.servers:
        for check in await _server(server, transport):
            yield check


async def _sessions(transport: Transport) -> Check:
    """How many scripts may go on at once over one connection."""
    async with AsyncExitStack() as stack:
        for number in range(ENOUGH_SESSIONS):
            try:
                await stack.enter_async_context(transport.open(Script("cat")))
            except ChannelRefused:
                return few_sessions_check(number)
            except TransportError as error:
                return Check("sessions", "failed", str(error))
    return Check("sessions", "passed")


async def _server(server: Server, transport: Transport) -> list[Check]:
    setup = "".join(f"{{ {line}\n}} >&2\n" for line in server.setup)
    arguments = (server.python, server.log or "", server.workdir or "")
    try:
        outcome = await transport.run(
            Script(f"{setup}{script_text('check_server')}", arguments), limit_seconds=SERVER_SECONDS
        )
    except TransportError as error:
        return [Check(f"server {server.name}", "failed", str(error))]
    return server_checks(server, outcome.stdout)
