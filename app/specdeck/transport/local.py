"""This machine, without SSH: the same scripts in sessions of their own, the same guard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from specdeck.config.objects import Host
from specdeck.errors import ScriptTimeout
from specdeck.transport.base import Channel, Outcome
from specdeck.transport.channel import ScriptChannel
from specdeck.transport.http import tls_context
from specdeck.transport.local_stream import LocalStream, open_stream
from specdeck.transport.marks import new_mark
from specdeck.transport.script import Script

_BEGIN_SECONDS = 15.0


class LocalTransport:
    """Implements `base.Transport` with subprocesses."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._streams: set[LocalStream] = set()
        self._closed = asyncio.Event()

    @property
    def address(self) -> str:
        """This machine."""
        return "localhost"

    @property
    def route(self) -> str:
        """There is none."""
        return "this machine, without SSH"

    async def connect(self) -> None:
        """There is nothing to connect to."""
        self._closed.clear()

    async def wait_lost(self) -> str:
        """This machine is never lost; ends when the transport is closed."""
        await self._closed.wait()
        return "closed"

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Run a script to its end."""
        mark = new_mark()
        try:
            async with asyncio.timeout(limit_seconds), self._shell() as stream:
                channel = ScriptChannel(stream, mark)
                await channel.begin(script.render(mark, env=self._host.env))
                return await channel.outcome()
        except TimeoutError as err:
            raise ScriptTimeout(f"localhost: a script did not end within {limit_seconds:g} s") from err

    @asynccontextmanager
    async def open(self, script: Script) -> AsyncIterator[Channel]:
        """Start a script that goes on; leaving the context ends it and its children."""
        mark = new_mark()
        async with self._shell() as stream:
            channel = ScriptChannel(stream, mark)
            try:
                async with asyncio.timeout(_BEGIN_SECONDS):
                    await channel.begin(script.render_channel(mark, env=self._host.env))
            except TimeoutError as err:
                raise ScriptTimeout(f"localhost: /bin/sh did not begin within {_BEGIN_SECONDS:g} s") from err
            yield channel

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """httpx's own transport, without the proxies of the environment."""
        context = tls_context(verify)
        return httpx.AsyncHTTPTransport(verify=True if context is None else context, trust_env=False)

    async def why_no_forwarding(self, port: int) -> str | None:
        """Nothing is forwarded here."""
        return None

    async def close(self) -> None:
        """End all scripts."""
        self._closed.set()
        for stream in tuple(self._streams):
            await stream.close()

    @asynccontextmanager
    async def _shell(self) -> AsyncIterator[LocalStream]:
        stream = await open_stream()
        self._streams.add(stream)
        try:
            yield stream
        finally:
            self._streams.discard(stream)
            await stream.close()
