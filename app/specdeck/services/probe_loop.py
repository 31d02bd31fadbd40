"""Asks one server's HTTP endpoints from its host, sparingly: some cost a generation. Keys are read here and shown nowhere."""

import asyncio
from collections.abc import Callable, Set

from specdeck.config.objects import Server
from specdeck.config.versions import satisfies
from specdeck.engines.base import Engine, Probe
from specdeck.services.api_keys import Key, read_key
from specdeck.services.health_words import witness
from specdeck.services.racing import run_until, wait_at_most
from specdeck.state.events import Event, HealthAnswered, LoadSampled
from specdeck.state.load import LoadReading, gauges_of, without_gauges
from specdeck.state.snapshot import HttpWitness
from specdeck.transport.asking import Asker, NoReply, Reply
from specdeck.transport.base import Transport

UNSURE_SECONDS = 2.0
"""Between two health requests until the first 200: a server that starts answers 503 at once and at no cost."""
LEAST_SECONDS = 1.0
METRICS_OFF_SECONDS = 30.0
GAUGES_SECONDS = 10.0
"""So long after the load was told, the page of metrics is not asked for the same."""
RATE_ANSWERS = 2
"""So many answers make a rate."""
KEY_AGAIN_SECONDS = 30.0
"""How often a key that the server refused is read again: the user may have put it right."""


class ProbeLoop:
    """Of one server; told by the monitor where it listens."""

    def __init__(self, server: Server, post: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self._server = server
        self._post = post
        self._clock = clock
        self.is_in_sight = True
        self._address: str | None = None
        self._engine: Engine | None = None
        self._moved = asyncio.Event()
        self._poked = asyncio.Event()
        self._is_up = asyncio.Event()
        self._note: str | None = None
        self._version: str | None = None
        """Of the engine, by its own answers: it decides which endpoint tells its health."""
        self._has_no_ready = False
        """The cheap endpoint of this version is not there after all."""
        self._key = Key()
        self._gauges: Set[str] = frozenset()
        """What the endpoint that is asked for the load has ever told: the page of metrics may tell it late."""
        self._gauges_at = 0.0

    def aim(self, address: str | None, engine: Engine | None) -> None:
        """Where the server listens now (None: nowhere), and what it is."""
        if (address, engine) == (self._address, self._engine):
            return
        self._address, self._engine = address, engine
        self._note = self._version = None
        self._has_no_ready = False
        self._gauges = frozenset()
        self._is_up.clear()
        self._moved.set()

    def poke(self) -> None:
        """The log or the port said something new: one health request more than usual."""
        self._poked.set()

    async def run(self, transport: Transport) -> None:
        """Ask whatever is aimed at; endless. Raises ConnectionLost."""
        while True:
            self._moved.clear()
            if self._address is None or self._engine is None:
                await self._moved.wait()
            else:
                await run_until(self._moved, self._ask_all(transport, self._address, self._engine))

    async def _ask_all(self, transport: Transport, address: str, engine: Engine) -> None:
        self._key = await read_key(transport, self._server)
        try:
            asker = self._asker(transport, address)
        except OSError as error:
            await self._say_untrusted(error)
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._keep_asking_health(transport, asker, engine))
                for probe in engine.probes:
                    if probe.kind != "health":
                        tasks.create_task(self._keep_asking_load(asker, engine, probe))
        finally:
            await asker.close()

    async def _say_untrusted(self, error: OSError) -> None:
        """The file of the authorities is missing or holds none; tried again after a while."""
        words = f"tls: ca {self._server.tls.ca if self._server.tls else ''}: {error.strerror or error}"
        self._post(HealthAnswered(self._server.name, HttpWitness("tls", at=self._clock(), detail=words)))
        await asyncio.sleep(KEY_AGAIN_SECONDS)

    def _asker(self, transport: Transport, address: str) -> Asker:
        """Raises OSError where the authorities cannot be read."""
        tls = self._server.tls
        verify: bool | str = True if tls is None else (tls.ca or tls.verify)
        scheme = "http" if tls is None else "https"
        headers = {"Authorization": f"Bearer {self._key.value}"} if self._key.value else {}
        return Asker(transport, f"{scheme}://{address}:{self._server.port}", verify=verify, headers=headers)

    async def _keep_asking_health(self, transport: Transport, asker: Asker, engine: Engine) -> None:
        """One request at a time, however long it takes."""
        key_at = self._clock()
        while True:
            self._poked.clear()
            probe = self._health_probe(engine)
            reply = await asker.get(probe.path, limit_seconds=probe.limit_seconds)
            if probe.requires and isinstance(reply, Reply) and reply.status == 404:
                self._has_no_ready = True
                continue
            http = witness(reply, self._clock(), self._key, tls=self._server.tls, is_known=bool(engine.name))
            self._post(HealthAnswered(self._server.name, http))
            if http.state in ("ok", "key-needed"):
                self._is_up.set()
            if http.state == "key-needed" and self._clock() - key_at > KEY_AGAIN_SECONDS:
                key_at = self._clock()
                if await read_key(transport, self._server) != self._key:
                    self._moved.set()
            await asyncio.sleep(LEAST_SECONDS)
            pause = probe.every_seconds if http.state == "ok" else max(UNSURE_SECONDS, (http.seconds or 0.0) / 2)
            await wait_at_most(self._poked, pause - LEAST_SECONDS)

    def _health_probe(self, engine: Engine) -> Probe:
        """The cheapest that this version is known to have."""
        probes = [probe for probe in engine.probes if probe.kind == "health"]
        version = None if self._has_no_ready else self._version
        fitting = [each for each in probes if each.requires and version and satisfies(version, each.requires)]
        return fitting[0] if fitting else next(each for each in probes if not each.requires)

    async def _keep_asking_load(self, asker: Asker, engine: Engine, probe: Probe) -> None:
        told = 0
        while True:
            await self._is_up.wait()
            reply = await asker.get(probe.path, limit_seconds=probe.limit_seconds)
            is_told = isinstance(reply, Reply) and reply.status == 200
            if probe.kind == "metrics":
                self._note = None if is_told else _why_no_metrics(reply, engine) or self._note
            if isinstance(reply, Reply) and is_told:
                reading = self._newest_gauges(probe, engine.read_answer(probe, reply.body))
                self._version = reading.engine_version or self._version
                self._post(LoadSampled(self._server.name, reading, self._note))
            elif probe.kind == "metrics" and self._note:
                self._post(LoadSampled(self._server.name, note=self._note))
            told += is_told
            await asyncio.sleep(self._pause(probe, told) if is_told else max(probe.every_seconds, METRICS_OFF_SECONDS))

    def _pause(self, probe: Probe, told: int) -> float:
        """A rate is known from the second answer on; then a server out of sight can wait."""
        is_in_sight = self.is_in_sight or told < RATE_ANSWERS
        return probe.every_seconds if is_in_sight or probe.unseen_seconds is None else probe.unseen_seconds

    def _newest_gauges(self, probe: Probe, reading: LoadReading) -> LoadReading:
        if probe.kind == "load":
            self._gauges, self._gauges_at = self._gauges | gauges_of(reading), self._clock()
        elif probe.kind == "metrics" and self._clock() - self._gauges_at <= GAUGES_SECONDS:
            return without_gauges(reading, self._gauges)
        return reading


def _why_no_metrics(reply: Reply | NoReply, engine: Engine) -> str | None:
    if isinstance(reply, NoReply):
        return None
    if reply.status in (401, 403):
        return "metrics need an API key"
    off = f"metrics are off ({engine.metrics_flag})" if engine.metrics_flag else "metrics are off"
    return off if reply.status in (404, 501) else None
