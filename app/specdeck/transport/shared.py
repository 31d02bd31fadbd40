"""Shares the few sessions that a host's sshd allows (ten, at some sites two or one) between watchers and the user's acts.

A session that is refused means busy, not down: the limit is learned, and who only watches makes room.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import httpx

from specdeck.errors import ChannelRefused
from specdeck.transport.base import Channel, Outcome, Transport
from specdeck.transport.script import Script

USUAL_SESSIONS = 10
"""MaxSessions of sshd, unless somebody changed it."""
WAIT_SECONDS = 20.0
"""How long a script waits for a free session."""
RETRY_SECONDS = 0.2


class WatchChannel:
    """A channel that may lose its session to something more urgent: `chunks` then raises ChannelRefused."""

    def __init__(self, inner: Channel, is_last_resort: bool) -> None:
        self._inner = inner
        self.is_last_resort = is_last_resort
        self.evicted = asyncio.Event()

    @property
    def exit_status(self) -> int | None:
        """The script's status once `chunks` has ended."""
        return self._inner.exit_status

    async def write(self, data: bytes) -> None:
        """Send bytes to the script's stdin."""
        await self._inner.write(data)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The script's stdout until it ends or has to make room."""
        chunks = self._inner.chunks()
        evicted = asyncio.ensure_future(self.evicted.wait())
        try:
            while True:
                coming = asyncio.ensure_future(anext(chunks, None))
                try:
                    await asyncio.wait({coming, evicted}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not coming.done():
                        coming.cancel()
                        await asyncio.wait({coming})
                if coming.cancelled():
                    raise ChannelRefused("the session was needed for something more urgent")
                chunk = coming.result()
                if chunk is None:
                    return
                yield chunk
        finally:
            evicted.cancel()


class SharedTransport:
    """Implements `base.Transport` over another one: `run` and `open` wait for a session instead of failing."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._used = 0
        self._watching: list[WatchChannel] = []
        self._freed = asyncio.Event()
        self.sessions = USUAL_SESSIONS
        """How many sessions the host allows, as far as is known."""

    @property
    def address(self) -> str:
        """How the user calls the host, and where it leads."""
        return self._inner.address

    async def connect(self) -> None:
        """Connect and log in."""
        await self._inner.connect()
        self.sessions = USUAL_SESSIONS

    async def wait_lost(self) -> str:
        """Wait until the connection is gone; the reason in words."""
        return await self._inner.wait_lost()

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """An httpx transport whose connections start on the host; they need no session."""
        return self._inner.http(verify=verify)

    async def close(self) -> None:
        """Close the connection."""
        await self._inner.close()

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Run a script to its end; a watcher makes room if no session is free."""
        deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
        while True:
            await self._take(deadline)
            try:
                return await self._inner.run(script, limit_seconds=limit_seconds)
            except ChannelRefused:
                self._learn(deadline)
            finally:
                self._release()
            await asyncio.sleep(RETRY_SECONDS)

    @asynccontextmanager
    async def open(self, script: Script) -> AsyncIterator[Channel]:
        """Start a script that goes on and keeps its session."""
        deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
        is_open = False
        while True:
            await self._take(deadline)
            try:
                async with self._inner.open(script) as channel:
                    is_open = True
                    yield channel
                    return
            except ChannelRefused:
                if is_open:
                    raise
                self._learn(deadline)
            finally:
                self._release()
            await asyncio.sleep(RETRY_SECONDS)

    def open_monitor(self, script: Script) -> AbstractAsyncContextManager[Channel]:
        """Start a script that goes on and is the last of the watchers to make room."""
        return self._watch(script, free=0, is_last_resort=True)

    def open_watch(self, script: Script) -> AbstractAsyncContextManager[Channel]:
        """Start a script that goes on only while sessions are plenty. Raises ChannelRefused at once where they are not."""
        return self._watch(script, free=2, is_last_resort=False)

    @asynccontextmanager
    async def _watch(self, script: Script, *, free: int, is_last_resort: bool) -> AsyncIterator[Channel]:
        if self.sessions - self._used <= free:
            raise ChannelRefused(f"this host allows {self.sessions} sessions at once, and all are in use")
        self._used += 1
        watch: WatchChannel | None = None
        try:
            async with self._inner.open(script) as channel:
                watch = WatchChannel(channel, is_last_resort)
                self._watching.append(watch)
                yield watch
        except ChannelRefused:
            if watch is None:
                self.sessions = max(1, self._used - 1)
            raise
        finally:
            if watch is not None:
                self._watching.remove(watch)
            self._release()

    async def _take(self, deadline: float) -> None:
        """Wait for a session; whoever only watches makes room."""
        while self._used >= self.sessions:
            self._evict()
            self._freed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._freed.wait()
                    continue
            raise ChannelRefused(f"this host allows {self.sessions} sessions at once, and all stayed in use")
        self._used += 1

    def _release(self) -> None:
        self._used -= 1
        self._freed.set()

    def _learn(self, deadline: float) -> None:
        """The host refused a session: it allows no more than the others that are open."""
        self.sessions = max(1, self._used - 1)
        if asyncio.get_running_loop().time() > deadline:
            raise ChannelRefused("this host takes no session: it allows too few at once, or others hold them")

    def _evict(self) -> None:
        candidates = [watch for watch in self._watching if not watch.evicted.is_set()]
        candidates.sort(key=lambda watch: watch.is_last_resort)
        if candidates and not any(watch.evicted.is_set() for watch in self._watching):
            candidates[0].evicted.set()
