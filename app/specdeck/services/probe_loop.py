"""Asks one server's HTTP endpoints from its host, sparingly: some cost a generation. Keys are read here and shown nowhere."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from specdeck.config.objects import Server
from specdeck.engines.base import Engine, LoadReading, Probe
from specdeck.services.racing import run_until, wait_at_most
from specdeck.state.events import Event, HealthAnswered, LoadSampled
from specdeck.state.snapshot import HttpWitness
from specdeck.transport.asking import Asker, NoReply, Reply
from specdeck.transport.base import Transport

UNSURE_SECONDS = 2.0
"""Between two health requests until the first 200: a server that starts answers 503 at once and at no cost."""
LEAST_SECONDS = 1.0
METRICS_OFF_SECONDS = 30.0
METRICS_FLAGS = {"sglang": "--enable-metrics", "llamacpp": "--metrics"}
"""What a user must add to have counters; vLLM always has them."""


class ProbeLoop:
    """Of one server; told by the monitor where it listens."""

    def __init__(self, server: Server, post: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self._server = server
        self._post = post
        self._clock = clock
        self._address: str | None = None
        self._engine: Engine | None = None
        self._moved = asyncio.Event()
        self._poked = asyncio.Event()
        self._is_up = asyncio.Event()
        self._note: str | None = None

    def aim(self, address: str | None, engine: Engine | None) -> None:
        """Where the server listens now (None: nowhere), and what it is."""
        if (address, engine) == (self._address, self._engine):
            return
        self._address, self._engine = address, engine
        self._note = None
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
        asker = self._asker(transport, address)
        try:
            async with asyncio.TaskGroup() as tasks:
                for probe in engine.probes:
                    ask = self._keep_asking_health if probe.kind == "health" else self._keep_asking_load
                    tasks.create_task(ask(asker, engine, probe))
        finally:
            await asker.close()

    def _asker(self, transport: Transport, address: str) -> Asker:
        tls = self._server.tls
        verify: bool | str = True if tls is None else (tls.ca or tls.verify)
        scheme = "http" if tls is None else "https"
        key = api_key(self._server)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Asker(transport, f"{scheme}://{address}:{self._server.port}", verify=verify, headers=headers)

    async def _keep_asking_health(self, asker: Asker, engine: Engine, probe: Probe) -> None:
        while True:
            self._poked.clear()
            reply = await asker.get(probe.path, limit_seconds=probe.limit_seconds)
            http = witness(reply, self._clock())
            self._post(HealthAnswered(self._server.name, http))
            if http.state in ("ok", "key-needed"):
                self._is_up.set()
            await asyncio.sleep(LEAST_SECONDS)
            pause = probe.every_seconds if http.state == "ok" else max(UNSURE_SECONDS, (http.seconds or 0.0) / 2)
            await wait_at_most(self._poked, pause - LEAST_SECONDS)

    async def _keep_asking_load(self, asker: Asker, engine: Engine, probe: Probe) -> None:
        while True:
            await self._is_up.wait()
            reply = await asker.get(probe.path, limit_seconds=probe.limit_seconds)
            is_told = isinstance(reply, Reply) and reply.status == 200
            if probe.kind == "metrics":
                self._note = None if is_told else _why_no_metrics(reply, engine) or self._note
            if isinstance(reply, Reply) and is_told:
                self._post(_sample(self._server.name, engine.read_answer(probe, reply.body), self._note))
            elif probe.kind == "metrics" and self._note:
                self._post(LoadSampled(self._server.name, note=self._note))
            await asyncio.sleep(probe.every_seconds if is_told else max(probe.every_seconds, METRICS_OFF_SECONDS))


def witness(reply: Reply | NoReply, at: float) -> HttpWitness:
    """What an answer of the health endpoint means."""
    if isinstance(reply, NoReply):
        return HttpWitness(reply.why, at=at, detail=reply.detail)
    status = reply.status
    if status in (401, 403):
        return HttpWitness("key-needed", status, reply.seconds, at, "the server asks for an API key")
    if 200 <= status < 300:
        return HttpWitness("ok", status, reply.seconds, at)
    return HttpWitness("unavailable" if status == 503 else "error", status, reply.seconds, at)


def api_key(server: Server) -> str | None:
    """The key from this machine's environment or a file of this machine; a missing one is no error: 401 will tell."""
    if server.api_key_env:
        return os.environ.get(server.api_key_env) or None
    if server.api_key_file:
        try:
            return Path(server.api_key_file).expanduser().read_text("utf-8").strip() or None
        except (OSError, UnicodeDecodeError):
            return None
    return None


def _why_no_metrics(reply: Reply | NoReply, engine: Engine) -> str | None:
    if isinstance(reply, NoReply):
        return None
    if reply.status in (401, 403):
        return "metrics need an API key"
    flag = METRICS_FLAGS.get(engine.name)
    off = f"metrics are off ({flag})" if flag else "metrics are off"
    return off if reply.status in (404, 501) else None


def _sample(server: str, reading: LoadReading, note: str | None) -> LoadSampled:
    return LoadSampled(
        server,
        decode_tokens=reading.decode_tokens,
        counter_series=reading.counter_series,
        running=reading.running,
        queued=reading.queued,
        kv_usage=reading.kv_usage,
        accept_length=reading.accept_length,
        engine_version=reading.engine_version,
        note=note,
    )
