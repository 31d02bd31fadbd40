"""A TCP relay on loopback that can swallow everything without closing, as a network that forgot a connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Relay:
    """Old connections stay dead after `swallow`; new ones work."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self._target = target
        self._generation = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def swallow(self) -> None:
        """From now on nothing passes on the connections that are open, and nothing is closed."""
        self._generation += 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
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
