"""Remembers how long starts took: reads the host's past starts for each new run, writes this one's once it is ready."""

import asyncio
import logging
from collections.abc import Mapping

from specdeck.config.objects import Host, Server
from specdeck.errors import SpecdeckError
from specdeck.services.start_cache import StartCache
from specdeck.services.start_records import read_start, start_line
from specdeck.services.store import Store
from specdeck.state.events import StartsRecalled
from specdeck.state.snapshot import FleetState, RunIdentity, ServerState, Word
from specdeck.state.starts import PastStart, is_first_since_boot, lengths
from specdeck.state.timings import lengths_without_log, refined
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

LOOK_SECONDS = 1.0
LIMIT_SECONDS = 20.0
RETRY_SECONDS = 30.0
COMPLETE_SECONDS = 15.0
"""So long after it is ready its log may still be read, and its version be told by an endpoint."""
LONGEST_IMPORT_SECONDS = 900.0

_log = logging.getLogger(__name__)
_Life = tuple[str, str, int, int]


class StartHistory:
    """Of the servers of one host that have run folders."""

    def __init__(self, host: Host, transport: Transport, store: Store, cache: StartCache) -> None:
        self._host = host
        self._transport = transport
        self._store = store
        self._cache = cache
        self._servers: Mapping[str, Server] = {server.name: server for server in host.servers}
        self._starts: dict[tuple[str, str, float], PastStart] = {}
        self._recalled: set[_Life] = set()
        self._seen_starting: set[_Life] = set()
        self._written: set[_Life] = set()
        self._ready_at: dict[_Life, float] = {}

    async def keep(self) -> None:
        """Endless; a host that does not answer is asked again later."""
        if not self._servers:
            return
        self._add(self._cache.load(self._host.ssh))
        async for state in self._store.changes(at_most_every_seconds=LOOK_SECONDS):
            try:
                await self._look(state)
            except SpecdeckError:
                _log.info("%s: past starts", self._host.name, exc_info=True)
                await asyncio.sleep(RETRY_SECONDS)

    async def _look(self, state: FleetState) -> None:
        host = state.host(self._host.name)
        if host is None or host.link != "up":
            return
        for server in state.servers:
            if server.host == self._host.name and server.run is not None and server.run.run:
                await self._take(server, server.run, state.at)

    async def _take(self, server: ServerState, run: RunIdentity, at: float) -> None:
        life = (server.name, run.run, run.pid, run.start_time)
        if life not in self._recalled:
            self._tell()
            await self._read()
            self._recalled.add(life)
            self._tell()
        if server.word is Word.STARTING:
            self._seen_starting.add(life)
        if server.word is Word.READY and life not in self._written:
            self._ready_at.setdefault(life, at)
            start = self._start(server, run, is_watched=life in self._seen_starting)
            is_whole = start is not None and start.engine_version is not None
            if is_whole or at - self._ready_at[life] > COMPLETE_SECONDS:
                await self._write(start)
                self._written.add(life)

    async def _read(self) -> None:
        outcome = await self._transport.run(Script(script_text("starts_read"), ()), limit_seconds=LIMIT_SECONDS)
        found = []
        for line in outcome.stdout.decode("utf-8", "replace").split("\n"):
            tag, _, rest = line.partition(" ")
            server, _, rest = rest.partition(" ")
            run, _, told = rest.partition(" ")
            if tag == "@start" and (start := read_start(server, run, told)):
                found.append(start)
        self._add(tuple(found))
        self._cache.keep(self._host.ssh, found)

    async def _write(self, start: PastStart | None) -> None:
        if start is None or (start.server, start.run, start.started_at) in self._starts:
            return
        script = Script(script_text("starts_write"), (start.server, start.run, start_line(start)))
        await self._transport.run(script, limit_seconds=LIMIT_SECONDS)
        self._add((start,))
        self._cache.keep(self._host.ssh, (start,))
        self._tell()

    def _start(self, server: ServerState, run: RunIdentity, *, is_watched: bool) -> PastStart | None:
        """This run as a past start; None: neither its log nor the engine tells times."""
        story, configured = server.story, self._servers.get(server.name)
        if story is None or configured is None or run.started_at is None:
            return None
        timings = story.timings or server.timings
        if not story.has_ready_line and timings is None:
            return None
        importing = None if story.zero_at is None or not is_watched else story.zero_at - run.started_at
        if importing is not None and not 0 <= importing < LONGEST_IMPORT_SECONDS:
            importing = None
        told = lengths(story.phases, importing) if story.has_ready_line else ()
        phases = refined(told, timings) or lengths_without_log(timings)
        if not phases:
            return None
        started_at = round(run.started_at, 1)
        return PastStart(
            server=server.name,
            run=run.run,
            model=configured.model,
            profile=run.profile,
            engine=server.engine,
            engine_version=_version(server),
            boot_id=run.boot_id,
            started_at=started_at,
            phases=phases,
            is_cold=is_first_since_boot(run.boot_id, started_at, self._of_model(configured.model)),
        )

    def _add(self, starts: tuple[PastStart, ...]) -> None:
        self._starts |= {(start.server, start.run, start.started_at): start for start in starts}

    def _of_model(self, model: str) -> tuple[PastStart, ...]:
        return tuple(start for start in self._starts.values() if start.model == model)

    def _tell(self) -> None:
        for name, server in self._servers.items():
            self._store.apply(StartsRecalled(name, self._of_model(server.model)))


def _version(server: ServerState) -> str | None:
    return server.engine_version or (server.story.engine_version if server.story is not None else None)
