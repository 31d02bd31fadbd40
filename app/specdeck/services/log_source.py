"""Reading pieces of a log file on a host: size, ranges, and the stream of what is appended."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from specdeck.transport.base import Channel, Transport
from specdeck.transport.script import Script, script_text

READ_LIMIT_SECONDS = 60.0
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
        script = Script(script_text("log_read"), (self.path, str(offset), str(size)))
        return (await self.transport.run(script, limit_seconds=READ_LIMIT_SECONDS)).stdout

    def follow(self, offset: int, least: int) -> AbstractAsyncContextManager[Channel]:
        """What is there from `offset` on and what is appended; ends at once if the file is shorter than `least`.

        Raises ChannelRefused where sessions are few.
        """
        return self.transport.open(Script(script_text("log_follow"), (self.path, str(offset), str(least))))
