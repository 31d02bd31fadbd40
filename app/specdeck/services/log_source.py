"""Reading pieces of a log file on a host: size, ranges, and the stream of what is appended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from specdeck.quick_dataclass import dataclass
from specdeck.transport.base import Channel, Transport
from specdeck.transport.script import Script, script_text

READ_LIMIT_SECONDS = 60.0
FIRST_PIECE_BYTES = 32 * 1024
LEAST_PIECE_BYTES = 16 * 1024
QUICK_SECONDS, SLOW_SECONDS = 0.3, 1.5
"""A piece that came so fast is followed by one of four times its size; after a slow one half of it is asked for."""
_REASONS = {
    "@missing": "no log file at {}",
    "@unreadable": "the log {} may not be read by this user",
    "@folder": "{} is a folder, not a log file",
    "@special": "{} is not a regular file",
}


@dataclass(frozen=True, slots=True)
class LogSize:
    """The file at one moment."""

    size: int
    age_seconds: float
    """Since it was last written, by the host's own clock."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """One log file of a host."""

    transport: Transport
    path: str

    async def look(self) -> LogSize | str:
        """Its size, or in words why it cannot be read. Raises TransportError."""
        outcome = await self.transport.run(
            Script(script_text("log_size"), (self.path,)), limit_seconds=READ_LIMIT_SECONDS
        )
        tag, *numbers = outcome.stdout.decode("ascii", "replace").split() or [""]
        if tag != "@size" or len(numbers) != 3 or not all(number.isdecimal() for number in numbers):
            return _REASONS.get(tag, "the log {} cannot be read").format(self.path)
        size, written, now = (int(number) for number in numbers)
        return LogSize(size, float(max(0, now - written)))

    async def read(self, offset: int, size: int) -> bytes:
        """A range of it. Raises TransportError."""
        return b"".join([piece async for piece in self.pieces(offset, size)])

    async def pieces(self, offset: int, size: int) -> AsyncIterator[bytes]:
        """A range of it, bit by bit: on a slow line what the monitor says must not wait behind megabytes. Raises TransportError."""
        now, end, piece = asyncio.get_running_loop().time, offset + size, FIRST_PIECE_BYTES
        while offset < end:
            began, wanted = now(), min(piece, end - offset)
            script = Script(script_text("log_read"), (self.path, str(offset), str(wanted)))
            content = (await self.transport.run(script, limit_seconds=READ_LIMIT_SECONDS)).stdout
            yield content
            if len(content) < wanted:  # the file was cut meanwhile
                return
            offset += wanted
            took = now() - began
            if took < QUICK_SECONDS:
                piece *= 4
            elif took > SLOW_SECONDS:
                piece = max(LEAST_PIECE_BYTES, piece // 2)

    def follow(self, offset: int, least: int) -> AbstractAsyncContextManager[Channel]:
        """What is there from `offset` on and what is appended; ends at once if the file is shorter than `least`.

        Raises ChannelRefused where sessions are few.
        """
        return self.transport.open(Script(script_text("log_follow"), (self.path, str(offset), str(least))))
