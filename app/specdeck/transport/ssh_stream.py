"""One session channel of an SSH connection, running /bin/sh, as a stream."""

import asyncio
from collections.abc import Callable
from secrets import token_hex

import asyncssh

from specdeck.errors import ChannelRefused, ConnectionLost, TransportError
from specdeck.transport.channel import Inbox
from specdeck.transport.login import Link
from specdeck.transport.opening import opened
from specdeck.transport.words import said

_SHELL = "exec /bin/sh -s"
"""With a name of its own, which `ps` shows, so that it is found again if it was never heard; its mark stays unseen."""

_WINDOW = 2 * 1024 * 1024
_WINDOW_OF_A_STREAM = 64 * 1024
"""What the host may send before it was taken: of a fast log on a slow line so much, and no more, is before the monitor's words."""


class SshStream(asyncssh.SSHClientSession[bytes]):
    """Implements `channel.Stream`; made by `open_stream`."""

    def __init__(self, link: Link, place: str) -> None:
        self._link = link
        self.place = place
        self.name = f"specdeck-{token_hex(8)}"
        """Of its shell on the host."""
        self._is_over = False
        """The shell has ended, or we closed the channel."""
        self._inbox = Inbox()
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_paused = False
        self.exit_status: int | None = None
        self.closed = asyncio.Event()
        self.on_confirmed: Callable[[], None] = lambda: None
        """Called when the host has closed the channel too: only then it knows that the script shall end."""

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """The channel is open, also where nobody waits for it any more."""
        self._link.guardian.gave_a_session = True
        self._channel = chan

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """The host wrote to stdout or stderr."""
        self._inbox.put(data, is_stderr=datatype == asyncssh.EXTENDED_DATA_STDERR)
        if self._inbox.is_full and not self._is_paused and self._channel:
            self._is_paused = True
            self._channel.pause_reading()

    def eof_received(self) -> bool:
        """The host closed its output; what we write may still matter to it."""
        return True

    def exit_status_received(self, status: int) -> None:
        """The shell ended."""
        self.exit_status = status
        self._is_over = True

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        """A signal ended the shell: its own guard, if the script has ended."""
        self._is_over = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is gone; with an error if the connection is."""
        if exc is None and not self._link.guardian.is_dropped:
            self.on_confirmed()
        if exc is None and not self._is_over:
            exc = asyncssh.ConnectionLost("it was closed")
        self._inbox.end(ConnectionLost(f"{self.place}: the SSH connection broke: {said(exc)}") if exc else None)
        self._may_write.set()
        self.closed.set()

    def pause_writing(self) -> None:
        """The host does not read."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """The host reads again."""
        self._may_write.set()

    async def read(self) -> tuple[bytes, bytes]:
        """The next bytes of stdout and stderr."""
        parts = await self._inbox.take()
        if self._is_paused and self._channel:
            self._is_paused = False
            self._channel.resume_reading()
        return parts

    async def write(self, data: bytes) -> None:
        """Send bytes to stdin."""
        await self._may_write.wait()
        if self._channel is None or self.closed.is_set():
            raise ConnectionLost(f"{self.place}: the script has ended; nothing can be written to it")
        try:
            self._channel.write(data)
        except (BrokenPipeError, OSError) as err:
            raise ConnectionLost(f"{self.place}: the script has ended: {err}") from err

    async def close(self) -> None:
        """Close the channel; the guard on the host ends the script."""
        self._is_over = True
        if self._channel:
            self._channel.abort()
        self._inbox.end()

    def take_away(self, error: TransportError) -> None:
        """Close the channel under its reader, who gets the error."""
        self._inbox.end(error)
        if self._channel:
            self._channel.abort()


async def open_stream(link: Link, place: str, *, goes_on: bool = False) -> SshStream:
    """Start /bin/sh on the host. Raises ConnectionLost, ChannelRefused."""
    stream = SshStream(link, place)
    window = _WINDOW_OF_A_STREAM if goes_on else _WINDOW
    try:
        session = link.connection.create_session(
            lambda: stream, f"{_SHELL} {stream.name}", encoding=None, request_pty=False, window=window
        )
        await opened(session, lambda pair: pair[0].abort())
    except asyncssh.ChannelOpenError as err:
        if link.guardian.lost.is_set():
            raise ConnectionLost(f"{place}: the SSH connection broke: {link.guardian.reason}") from err
        raise ChannelRefused(
            f"{place} takes no further session on this connection (MaxSessions): {said(err.reason)}"
        ) from err
    except (asyncssh.Error, OSError) as err:
        raise ConnectionLost(f"{place}: the SSH connection broke: {said(err)}") from err
    return stream
