"""Follows the log of one server's newest run: attach, resume after a lost connection, take up a file that was cut or replaced."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from specdeck.engines.reader import LogReader
from specdeck.errors import ChannelRefused, Refused, ScriptTimeout
from specdeck.parsing.lines import NOT_IN_FILE, Line
from specdeck.quick_dataclass import dataclass
from specdeck.services.log_lag import LogLag
from specdeck.services.log_older import OlderLines, read_older
from specdeck.services.log_ring import LogRing
from specdeck.services.log_scan import read_whole
from specdeck.services.log_source import LogSize, LogSource
from specdeck.services.racing import run_until, wait_at_most
from specdeck.state.events import Event, LogAdvanced, LogUnreadable
from specdeck.transport.base import Transport

WHOLE_BYTES = 8 * 1024 * 1024
"""A log up to this size is read whole; of a longer one the head (how it started) and the tail (how it is)."""
HEAD_BYTES = 1024 * 1024
TAIL_BYTES = 2 * 1024 * 1024
ANCHOR_BYTES = 512
"""Kept of what was read last: a file that does not hold it at its place was cut or replaced."""
SLICE_BYTES = 64 * 1024
"""Fed at once; between slices other tasks run."""
PUBLISH_SECONDS = 0.2
AGAIN_SECONDS = 0.5
END_QUIET_SECONDS = 0.5
TURN_SECONDS = 5.0
TURN_SECONDS_IN_SIGHT = 1.0
"""Between two reads where the host has no session left for a stream."""


@dataclass(frozen=True, slots=True)
class LogTarget:
    """Which log of which life of the server."""

    path: str
    life: str
    engine: str | None


class LogFollower:
    """Of one server; survives reconnects with its reader, its offset and its kept lines."""

    def __init__(self, server: str, post: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self.ring = LogRing()
        self.is_in_sight = False
        self.awaited_path: str | None = None
        """A file that is not there yet: the monitor looks for it without a process."""
        self._server = server
        self._post = post
        self._clock = clock
        self._target: LogTarget | None = None
        self._retargeted = asyncio.Event()
        self._appeared = asyncio.Event()
        self._over = asyncio.Event()
        self._skips = asyncio.Event()
        self._changed = asyncio.Event()
        self._start_over()

    def aim(self, target: LogTarget | None) -> None:
        """Follow this log from now on; a new life of the server begins with a fresh reader."""
        if target == self._target:
            return
        self._target = target
        self._start_over()
        self._retargeted.set()

    def appeared(self) -> None:
        """The monitor saw the awaited file."""
        self._appeared.set()

    @property
    def path(self) -> str | None:
        """Of the log that is followed."""
        return self._target.path if self._target is not None else None

    async def older(self, transport: Transport, before: Line) -> OlderLines:
        """The lines before a kept one. Raises TransportError, Refused."""
        if self._target is None or before.offset == NOT_IN_FILE:
            raise Refused("there is no log of a run to read older lines from")
        source = LogSource(transport, self._target.path)
        return await read_older(source, before, unnumbered_before=self._gap_end)

    def over(self) -> None:
        """The process is gone: once nothing more comes, the last line counts although it has no end."""
        if not self._is_ended:
            self._over.set()

    async def run(self, transport: Transport) -> None:
        """Follow whatever is aimed at; endless. Raises ConnectionLost."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._publish())
            tasks.create_task(self._end_when_over(transport))
            tasks.create_task(self._watch_lag(transport))
            tasks.create_task(self._follow_targets(transport))

    def _start_over(self) -> None:
        self._reader = LogReader(self._target.engine if self._target else None)
        self._offset = 0
        self._anchor = b""
        self._complete_at = 0
        self._is_taken_up = False
        self._is_ended = False
        self._has_gap = False
        self._gap_end = 0
        self._lag = LogLag()
        self._over.clear()
        self._skips.clear()
        self.awaited_path = None
        self.ring.clear()

    async def _follow_targets(self, transport: Transport) -> None:
        while True:
            self._retargeted.clear()
            if self._target is None:
                await self._retargeted.wait()
            else:
                await run_until(self._retargeted, self._follow(LogSource(transport, self._target.path)))

    async def _follow(self, source: LogSource) -> None:
        while True:
            found = await source.look()
            if isinstance(found, str):
                await self._wait_for_file(source.path, found)
                continue
            try:
                await self._take_up(source, found)
                if await run_until(self._skips, self._stream(source)):
                    await asyncio.sleep(AGAIN_SECONDS)
            except ChannelRefused:
                await asyncio.sleep(TURN_SECONDS_IN_SIGHT if self.is_in_sight else TURN_SECONDS)

    async def _wait_for_file(self, path: str, reason: str) -> None:
        self._post(LogUnreadable(self._server, reason))
        self._appeared.clear()
        self.awaited_path = path
        await wait_at_most(self._appeared, 60.0)
        self.awaited_path = None

    async def _take_up(self, source: LogSource, found: LogSize) -> None:
        """Read what is there and was not read yet, in the right order, once."""
        at = self._clock() - found.age_seconds
        self._complete_at = found.size
        if self._offset and not await self._is_continued(source, found.size):
            await self._find_place(source, found.size, at)
        behind, tail = found.size - self._offset, self._lag.tail_bytes(TAIL_BYTES)
        if behind > WHOLE_BYTES or (self._skips.is_set() and behind > tail):
            await self._skip_middle(source, found.size, at, tail)
        self._skips.clear()
        self._lag.over()
        async for piece in source.pieces(self._offset, found.size - self._offset):
            await self._feed(piece, at)
        self._complete_at = 0
        self._is_taken_up = True
        self._changed.set()

    async def _is_continued(self, source: LogSource, size: int) -> bool:
        """The file still holds what was read last, at its place."""
        if size < self._offset:
            return False
        kept = len(self._anchor)
        return await source.read(self._offset - kept, kept) == self._anchor

    async def _find_place(self, source: LogSource, size: int, at: float) -> None:
        """The file was cut or replaced: go on after what was read last, else from its begin."""
        base = max(0, size - WHOLE_BYTES)
        content = await source.read(base, size - base)
        place = content.rfind(self._anchor)
        self._offset = base + place + len(self._anchor) if place >= 0 else 0
        if place < 0:
            self._feed_note("the log was cut or replaced here", at)

    async def _skip_middle(self, source: LogSource, size: int, at: float, tail_bytes: int) -> None:
        """Of a long log the head and the tail, with the gap marked."""
        if not self._offset:
            await self._feed(await source.read(0, HEAD_BYTES), at)
        self._has_gap = True
        begin = size - tail_bytes
        gap = begin - self._offset
        tail = await source.read(begin, tail_bytes)
        cut = tail.find(b"\n") + 1
        self._offset, self._anchor = begin + cut, b""  # what was read before the gap is not beside the tail
        self._gap_end = self._offset
        why = ": it grows faster than its line carries" if self._skips.is_set() else ""
        self._feed_note(f"{gap / 1e6:.0f} MB of the log were not read{why}", at)
        await self._feed(tail[cut:], at)

    async def _stream(self, source: LogSource) -> None:
        """What is appended; it begins with what was read last, so that a file that was replaced meanwhile is noticed."""
        known = self._anchor
        async with source.follow(self._offset - len(known), self._offset) as channel:
            begin = b""
            async for chunk in channel.chunks():
                if known:
                    begin += chunk
                    if len(begin) < len(known):
                        continue
                    if not begin.startswith(known):
                        return
                    chunk, known = begin[len(known) :], b""
                if chunk:
                    await self._feed(chunk, self._clock())
                    self._changed.set()

    def _feed_note(self, words: str, at: float) -> None:
        """A line of our own; what follows it begins at the present offset of the file."""
        newline = "\n" if self._reader.open_line else ""
        *ended, note = self._reader.feed(f"{newline}[specdeck: {words}]\n".encode(), at)
        self.ring.add([*ended, note._replace(offset=NOT_IN_FILE)])
        self._reader.jump(note.number + 1, self._offset)

    async def _feed(self, content: bytes, at: float) -> None:
        """Give bytes of the file to the reader, in slices."""
        for begin in range(0, len(content), SLICE_BYTES):
            part = content[begin : begin + SLICE_BYTES]
            self.ring.add(self._reader.feed(part, at))
            self._offset += len(part)
            self._anchor = (self._anchor + part)[-ANCHOR_BYTES:]
            if begin + SLICE_BYTES < len(content):
                await asyncio.sleep(0)

    async def _end_when_over(self, transport: Transport) -> None:
        """The last words may still be on their way when the process is gone."""
        while True:
            await self._over.wait()
            read = self._offset
            await asyncio.sleep(END_QUIET_SECONDS)
            if not self._over.is_set() or not self._is_taken_up or self._complete_at or read != self._offset:
                continue
            self._over.clear()
            self._is_ended = True
            self.ring.add(self._reader.end())
            self._changed.set()
            if self._has_gap and self._target is not None and self._reader.story.cause is None:
                await self._look_in_the_gap(LogSource(transport, self._target.path))

    async def _look_in_the_gap(self, source: LogSource) -> None:
        """Why it ended may stand in the part of a long log that was not read."""
        target, size = self._target, self._offset
        with suppress(ScriptTimeout):
            whole = await read_whole(source, target.engine if target else None, size, self._clock(), is_over=True)
            if target == self._target and whole.reader.story.cause is not None:
                self._reader = whole.reader
                self._changed.set()

    async def _watch_lag(self, transport: Transport) -> None:
        """Of a fast log: how far behind we are, and when it is better to go on at its end."""
        while True:
            lag, before, told = self._lag, self._offset, self._lag.behind_bytes
            await asyncio.sleep(lag.pause)
            if self._target is None or lag is not self._lag or self._complete_at or not self._is_taken_up:
                continue
            taken = self._offset - before
            if not lag.is_worth_a_look(taken):
                lag.over()
            else:
                with suppress(ChannelRefused, ScriptTimeout):
                    found = await LogSource(transport, self._target.path).look()
                    if isinstance(found, LogSize) and lag is self._lag:
                        lag.measured(found.size - self._offset, taken)
            if lag.is_old_news:
                self._skips.set()
            if lag.behind_bytes != told:
                self._changed.set()

    async def _publish(self) -> None:
        """Report the story when it changed, a few times a second; not while old content is being read."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._target is not None and not self._complete_at:
                self._post(LogAdvanced(self._server, self._reader.story, self._lag.behind_bytes))
            await asyncio.sleep(PUBLISH_SECONDS)
