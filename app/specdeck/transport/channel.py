"""A script on a pair of streams, whoever carries them: begin, output, exit status."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Protocol

from specdeck.errors import ConnectionLost, TransportError
from specdeck.transport.base import Outcome
from specdeck.transport.marks import Leader, MarkCutter
from specdeck.transport.words import said

_STDERR_KEPT = 256 * 1024
_INBOX_LIMIT = 1024 * 1024


class Stream(Protocol):
    """A running /bin/sh: what it says and what it is told."""

    @property
    def place(self) -> str:
        """The host, for sentences."""

    async def read(self) -> tuple[bytes, bytes]:
        """The next bytes of stdout and stderr; both empty at the end. Raises ConnectionLost, ChannelRefused."""

    async def write(self, data: bytes) -> None:
        """Send bytes to its stdin. Raises ConnectionLost."""

    @property
    def exit_status(self) -> int | None:
        """Its status after the end; None if a signal ended it."""

    async def close(self) -> None:
        """End it: its stdin ends, the guard of the script does the rest."""


class Inbox:
    """Bytes that callbacks bring and one task takes; says when the sender should pause."""

    def __init__(self) -> None:
        self._parts: dict[bool, list[bytes]] = {False: [], True: []}
        self._size = 0
        self._has_ended = False
        self._error: Exception | None = None
        self._news = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """More than a mebibyte waits."""
        return self._size >= _INBOX_LIMIT

    def put(self, data: bytes, *, is_stderr: bool) -> None:
        """Bytes came."""
        self._parts[is_stderr].append(data)
        self._size += len(data)
        self._news.set()

    def end(self, error: Exception | None = None) -> None:
        """Nothing more will come; the first call counts."""
        if not self._has_ended:
            self._has_ended, self._error = True, error
        self._news.set()

    async def take(self) -> tuple[bytes, bytes]:
        """All that waits (stdout, stderr), at least one byte; both empty at the end. Raises the error of the end."""
        while not self._size and not self._has_ended:
            self._news.clear()
            await self._news.wait()
        if not self._size and self._error is not None:
            raise self._error
        stdout, stderr = b"".join(self._parts[False]), b"".join(self._parts[True])
        self._parts = {False: [], True: []}
        self._size = 0
        return stdout, stderr


class ScriptChannel:
    """Implements `base.Channel` over any stream."""

    def __init__(self, stream: Stream, mark: str) -> None:
        self._stream = stream
        self._stdout = MarkCutter(mark)
        self._stderr = MarkCutter(mark)
        self._errors = bytearray()
        self._early = b""

    @property
    def exit_status(self) -> int | None:
        """The script's own status; None as long as it runs, or if a signal ended it."""
        return self._stdout.exit_status

    @property
    def has_begun(self) -> bool:
        """The script's shell was heard."""
        return self._stdout.has_begun

    @property
    def leader(self) -> Leader | None:
        """The script's shell on the host."""
        return self._stdout.leader

    @property
    def stderr(self) -> bytes:
        """What the script wrote to stderr, up to a limit."""
        return bytes(self._errors)

    async def begin(self, script: bytes) -> None:
        """Send the script and wait until the shell has read all of it."""
        with suppress(ConnectionLost):  # it may have ended before it was told a word: what it said tells why
            await self._stream.write(script)
        while not self._stdout.has_begun:
            if not await self._read():
                raise TransportError(self._why_not_begun())

    async def write(self, data: bytes) -> None:
        """Send bytes to the script's stdin."""
        await self._stream.write(data)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The script's stdout as it comes."""
        is_open = True
        while True:
            chunk, self._early = self._early, b""
            if chunk:
                yield chunk
            if self._stdout.has_ended or not is_open:
                return
            is_open = await self._read()

    async def outcome(self) -> Outcome:
        """All that the script says until it ends."""
        stdout = [chunk async for chunk in self.chunks()]
        while not self._stderr.has_ended and await self._read():
            pass
        return Outcome(b"".join(stdout), self.stderr, self.exit_status)

    async def _read(self) -> bool:
        stdout, stderr = await self._stream.read()
        is_open = bool(stdout or stderr)
        self._early += self._stdout.feed(stdout) if is_open else self._stdout.rest()
        errors = self._stderr.feed(stderr) if is_open else self._stderr.rest()
        self._errors += errors[: _STDERR_KEPT - len(self._errors)]
        return is_open

    def _why_not_begun(self) -> str:
        words = said(self._stderr.noise + b" " + self._stdout.noise)
        status = self._stream.exit_status
        return (
            f"{self._stream.place}: the login shell ended (status {status}) before it ran the script; "
            f"it said: {words or 'nothing'}"
        )
