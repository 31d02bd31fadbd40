"""A TCP relay on loopback that makes a network's faults: swallowed bytes, a freeze, a cut, a slow line, nobody there."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends RST."""


class Relay:
    """Between a client and a loopback port."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.delay_seconds = 0.0
        """Each way, for bytes that come from now on."""
        self.is_gone = False
        """New connections are closed at once."""
        self.connections = 0
        self._target = target
        self._generation = 0
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def swallow(self) -> None:
        """From now on nothing passes on the connections that are open, and nothing is closed; new ones work."""
        self._generation += 1

    def freeze(self) -> None:
        """Nothing passes until `thaw`, and nothing is lost."""
        self._flows.clear()

    def thaw(self) -> None:
        """What was held passes."""
        self._flows.set()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            sock = writer.get_extra_info("socket")
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()
        self._writers.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if self.is_gone:
            writer.close()
            return
        self.connections += 1
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        self._writers += [writer, there_writer]
        for source, sink in ((reader, there_writer), (there_reader, writer)):
            self._tasks.add(asyncio.create_task(self._pass_on(source, sink, self._generation)))

    async def end(self) -> None:
        """Close everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, born: int) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                await self._flows.wait()
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                if born == self._generation:
                    sink.write(data)
        if born == self._generation:
            sink.close()


@contextlib.asynccontextmanager
async def running_relay(target: int) -> AsyncIterator[Relay]:
    """A relay to a loopback port while the context is open."""
    relay = Relay(target)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        await relay.end()
        await server.wait_closed()
