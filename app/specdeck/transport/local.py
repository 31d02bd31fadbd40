"""This machine, without SSH: the same scripts in sessions of their own, the same guard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import httpx

from specdeck.config.objects import Host
from specdeck.errors import ConnectionLost, HostUnreachable, ScriptTimeout
from specdeck.transport.base import Channel, Outcome
from specdeck.transport.channel import Inbox, ScriptChannel
from specdeck.transport.http import tls_context
from specdeck.transport.marks import new_mark
from specdeck.transport.script import Script

_END_SECONDS = 3.0
"""The guard sends SIGTERM at once and SIGKILL after two seconds."""
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

    async def close(self) -> None:
        """End all scripts."""
        self._closed.set()
        for stream in tuple(self._streams):
            await stream.close()

    @asynccontextmanager
    async def _shell(self) -> AsyncIterator["LocalStream"]:
        stream = await open_stream()
        self._streams.add(stream)
        try:
            yield stream
        finally:
            self._streams.discard(stream)
            await stream.close()


class LocalStream(asyncio.SubprocessProtocol):
    """A /bin/sh of this machine as a `channel.Stream`; made by `open_stream`."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._transport: asyncio.SubprocessTransport | None = None
        self._open_pipes = {1, 2}
        self._exited = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_paused = False

    @property
    def place(self) -> str:
        """This machine."""
        return "localhost"

    @property
    def exit_status(self) -> int | None:
        """The shell's status; None as long as it runs or if a signal ended it."""
        status = self._transport.get_returncode() if self._transport else None
        return status if status is not None and status >= 0 else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The shell runs."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """The script wrote to stdout or stderr."""
        self._inbox.put(data, is_stderr=fd == 2)
        if self._inbox.is_full and not self._is_paused:
            self._is_paused = True
            for pipe in self._outputs():
                pipe.pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe was closed."""
        self._open_pipes.discard(fd)
        if fd == 0:
            self._may_write.set()
        if not self._open_pipes:
            self._inbox.end()

    def process_exited(self) -> None:
        """The shell ended; what its children still write comes through the pipes."""
        self._exited.set()

    def pause_writing(self) -> None:
        """The script does not read."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """The script reads again."""
        self._may_write.set()

    async def read(self) -> tuple[bytes, bytes]:
        """The next bytes of stdout and stderr."""
        parts = await self._inbox.take()
        if self._is_paused:
            self._is_paused = False
            for pipe in self._outputs():
                pipe.resume_reading()
        return parts

    async def write(self, data: bytes) -> None:
        """Send bytes to stdin."""
        await self._may_write.wait()
        stdin = self._stdin()
        if stdin is None or stdin.is_closing() or self._exited.is_set():
            raise ConnectionLost("localhost: the script has ended; nothing can be written to it")
        stdin.write(data)

    async def close(self) -> None:
        """End stdin; the guard ends the process group, and what ignores that is killed."""
        if self._transport is None:
            return
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.abort()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await self._exited.wait()
        finally:
            self._transport.close()
            self._inbox.end()

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        return cast(asyncio.WriteTransport | None, pipe)

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = [self._transport.get_pipe_transport(fd) for fd in (1, 2)] if self._transport else []
        return [cast(asyncio.ReadTransport, pipe) for pipe in pipes if pipe is not None]


async def open_stream() -> LocalStream:
    """Start /bin/sh in a session of its own: the guard's `kill 0` must not reach this process."""
    try:
        _, stream = await asyncio.get_running_loop().subprocess_exec(LocalStream, "/bin/sh", start_new_session=True)
    except OSError as err:
        raise HostUnreachable(f"localhost: /bin/sh cannot be started: {err.strerror}") from err
    return stream
