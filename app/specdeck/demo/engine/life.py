"""The serving life of the engine: HTTP up, warm-up, ready, and every way to end."""

import asyncio
import os
import signal

from specdeck.demo.engine import failures
from specdeck.demo.engine.arguments import ServerArgs
from specdeck.demo.engine.endpoints import Endpoints
from specdeck.demo.engine.figures import FREE_GB, memory, speculation
from specdeck.demo.engine.log import Log
from specdeck.demo.engine.pace import Pace
from specdeck.demo.engine.ranks import Family
from specdeck.demo.engine.scheduler import Scheduler
from specdeck.demo.engine.web import Web
from specdeck.demo.identity import owner_lives

PORT_TAKEN = 1
"""The exit code where the port was taken."""
_WATCHDOG_SECONDS = 5.0
_FIRED_UP = "The server is fired up and ready to roll!"
_FAILS_AFTER_SECONDS = 12.0
"""How long the profiles that fail while serving do well."""


def serve(args: ServerArgs, log: Log, family: Family, pace: Pace, free_gb: float) -> int:
    """Until the end; the exit code (most ends are by SIGKILL, as the real ones)."""
    return asyncio.run(Life(args, log, family, pace, free_gb).run())


class Life:
    """One server, from `Started server process` on."""

    def __init__(self, args: ServerArgs, log: Log, family: Family, pace: Pace, free_gb: float) -> None:
        self._args, self._log, self._family, self._pace = args, log, family, pace
        pool = memory(args)
        self._scheduler = Scheduler(
            log,
            family,
            max_running=args.number("max_running_requests", 2048),
            tokens=pool.tokens,
            drafting=speculation(args),
            mib=pool.mib(FREE_GB - free_gb),
        )
        self._endpoints = Endpoints(args, log, self._scheduler, pace)
        self._web = Web(self._endpoints, log, self._count)
        self._is_interrupted = asyncio.Event()
        self._is_ready = asyncio.Event()

    def _count(self, path: str, method: str, status: int) -> None:
        http = self._scheduler.counters.http
        http[path, method, status] = http.get((path, method, status), 0) + 1

    async def run(self) -> int:
        """Serve until told otherwise."""
        self._announce()
        if not await self._bind():
            return PORT_TAKEN
        self._watch_children()
        async with asyncio.TaskGroup() as tasks:
            works = [tasks.create_task(work) for work in (self._scheduler.run(), self._watchdog(), self._fail())]
            await self._warm_up()
            await self._is_interrupted.wait()
            for task in works:
                task.cancel()
        self._family.kill()
        return 0

    def _announce(self) -> None:
        log = self._log
        log.web(f"Started server process [{os.getpid()}]")
        log.web("Waiting for application startup.")
        log.main("Using default chat sampling params from model generation config: {'temperature': 1.0}")
        log.web("Application startup complete.")

    async def _bind(self) -> bool:
        """uvicorn's bind, which comes last of all; the warm-up believes whoever answers on the port."""
        host, port = self._args.text("host") or "127.0.0.1", self._args.number("port", 30000)
        try:
            if failures.wanted() == "port":
                raise OSError(98, "address already in use")
            await self._web.listen(host, port)
        except OSError as error:
            words = f"[Errno {error.errno}] error while attempting to bind on address ('{host}', {port}): "
            self._log.main(f"ERROR:    {words}address already in use")
            self._log.web("Waiting for application shutdown.")
            await asyncio.sleep(self._pace.serving(1.0))
            self._log.main(_FIRED_UP)
            self._log.web("Application shutdown complete.")
            self._family.kill()
            return False
        self._log.web(f"Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)")
        return True

    async def _warm_up(self) -> None:
        """One request to itself: /health says 503 until it is answered."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        host, port = "127.0.0.1", 40000 + os.getpid() % 20000
        self._log.web(f'{host}:{port} - "GET /model_info HTTP/1.1" 200 OK')
        self._scheduler.prefill_line(1, 27)
        await asyncio.sleep(25 / self._pace.speed)
        self._log.web(f'{host}:{port + 1} - "POST /generate HTTP/1.1" 200 OK')
        self._endpoints.is_starting = False
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        self._log.main(_FIRED_UP)
        self._is_ready.set()

    def _terminated(self) -> None:
        """SIGTERM: no new work; the watchdog ends it."""
        if not self._endpoints.is_draining:
            self._endpoints.drain()
            self._log.main("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")

    def _interrupted(self) -> None:
        """SIGINT: uvicorn closes at once and the process ends well."""
        self._log.web("Shutting down")
        self._web.close()
        self._scheduler.abort_all()
        self._is_interrupted.set()

    async def _watchdog(self) -> None:
        """Every five seconds: is there still something to drain, and is there still a demo?"""
        while True:
            await asyncio.sleep(self._pace.serving(_WATCHDOG_SECONDS))
            if not owner_lives():
                failures.end_by_kill(self._family)
            if self._endpoints.is_draining:
                self._drain()

    def _drain(self) -> None:
        left = [request.rid for request in [*self._scheduler.running, *self._scheduler.queue]]
        self._log.main(
            f"Gracefully exiting... Remaining number of requests {len(left)}. Remaining requests remaining_rids={left}."
        )
        if not left:
            failures.end_by_kill(self._family)

    def _watch_children(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._child_ended)
        self._child_ended()

    def _child_ended(self) -> None:
        for rank, code in self._family.dead():
            if rank < 0:
                continue
            pid = self._family.ranks[rank].pid
            log = self._log
            log.main(
                f"Subprocess scheduler_{rank} (pid={pid}) crashed with exit code {code}. Triggering SIGQUIT for cleanup..."
            )
            log.main("SIGQUIT received. signum=None, frame=None. It usually means one child failed.")
            failures.end_by_kill(self._family)

    async def _fail(self) -> None:
        """The failures that come while serving."""
        if failures.wanted() not in ("hang", "crash"):
            return
        await self._is_ready.wait()
        await asyncio.sleep(self._pace.serving(_FAILS_AFTER_SECONDS))
        if failures.wanted() == "hang":
            self._scheduler.must_hang = True
        else:
            os.kill(self._family.ranks[0].pid, signal.SIGKILL)
