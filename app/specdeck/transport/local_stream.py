"""A /bin/sh of this machine as a stream, in a session of its own."""

import asyncio
from contextlib import suppress
from typing import cast

from specdeck.errors import ConnectionLost, HostUnreachable
from specdeck.transport.channel import Inbox

_END_SECONDS = 3.0
"""The guard sends SIGTERM at once and SIGKILL after two seconds."""


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
