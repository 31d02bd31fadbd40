"""A TCP relay on loopback that makes a network's faults: swallowed bytes, a freeze, a cut, a slow line, nobody there."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Coroutine

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends RST."""
_PIECE = 65536
_ON_THE_WAY = 256
"""Pieces that a line holds before its sender has to wait."""

_Line = asyncio.Queue[tuple[float, bytes]]
"""Pieces and when each may arrive; an empty one ends it."""


class Relay:
    """Between a client and a loopback port."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.delay_seconds = 0.0
        """Each way, for bytes that come from now on."""
        self.bytes_per_second = 0.0
        """Each way of each connection; 0: as fast as it goes."""
        self.is_gone = False
        """New connections are closed at once."""
        self.connections = 0
        self._target = target
        self._generation = 0
        self._muted = -1
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def swallow(self) -> None:
        """From now on nothing passes on the connections that are open, and nothing is closed; new ones work."""
        self._generation += 1

    def mute(self) -> None:
        """From now on what the host says on the connections that are open is lost; what it is told arrives, but for their end."""
        self._muted = self._generation

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

    def heal(self) -> None:
        """A good line again, for connections that are not lost."""
        self.delay_seconds = self.bytes_per_second = 0.0
        self.is_gone = False
        self.thaw()

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
        self._writers = [each for each in self._writers if not each.is_closing()] + [writer, there_writer]
        if self._muted == self._generation:
            self._generation += 1
        for source, sink in ((reader, there_writer), (there_reader, writer)):
            line: _Line = asyncio.Queue(_ON_THE_WAY)
            self._start(self._take(source, line))
            self._start(self._deliver(line, sink, self._generation, is_answer=sink is writer))

    async def end(self) -> None:
        """Close everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, source: asyncio.StreamReader, line: _Line) -> None:
        """Put what comes on the line, at its pace."""
        now = asyncio.get_running_loop().time
        with contextlib.suppress(ConnectionError):
            while data := await source.read(int(self.bytes_per_second / 10) or _PIECE):
                if self.bytes_per_second:
                    await asyncio.sleep(len(data) / self.bytes_per_second)
                await line.put((now() + self.delay_seconds, data))
        await line.put((now() + self.delay_seconds, b""))

    async def _deliver(self, line: _Line, sink: asyncio.StreamWriter, born: int, *, is_answer: bool) -> None:
        """Let it arrive in time; on a connection that was swallowed nothing does, not even its end."""
        now = asyncio.get_running_loop().time
        while True:
            due, data = await line.get()
            await asyncio.sleep(due - now())
            await self._flows.wait()
            if (is_answer and born == self._muted) or (born != self._generation and born != self._muted):
                continue
            if data:
                sink.write(data)
            elif born != self._muted:
                sink.close()
                return


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
