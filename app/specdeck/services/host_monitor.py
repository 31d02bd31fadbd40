"""Watches one host for ever: connects, asks each tick, reconnects; what goes wrong here becomes state and ends nothing else."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TypeVar

from specdeck.config.objects import Host
from specdeck.errors import (
    ChannelRefused,
    ConnectionLost,
    HostKeyChanged,
    HostKeyUnknown,
    LoginRefused,
    ScriptTimeout,
    TransportError,
)
from specdeck.parsing.nvidia_smi import process_row
from specdeck.services.back_off import BackOff
from specdeck.services.births import Births
from specdeck.services.disk_watch import DiskWatch
from specdeck.services.gpu_checkup import GpuCheckUps
from specdeck.services.gpu_processes import gpu_process
from specdeck.services.gpu_watch import GpuWatch
from specdeck.services.host_place import Place
from specdeck.services.monitor_channel import Monitor, MonitorChannel, MonitorInTurns, monitor_script
from specdeck.services.presence import read_watchers
from specdeck.services.racing import error_of, wait_at_most
from specdeck.services.run_records import HostClock
from specdeck.services.server_monitor import ServerMonitor
from specdeck.services.smi_call import WHOLE_SECONDS
from specdeck.services.survey import Survey, describe, take_survey
from specdeck.state.events import (
    Event,
    GpuProcessesSampled,
    HostConnected,
    HostHeard,
    HostLost,
    HostMemorySampled,
    Noted,
    WatchersSeen,
)
from specdeck.state.snapshot import Watcher
from specdeck.transport.base import Transport
from specdeck.transport.questions import Patience

CONNECT_SECONDS = 45.0
TICK_SECONDS = 2.0
FAST_TICK_SECONDS = 1.0
"""While something starts or stops."""
ANSWER_SECONDS = 20.0
SURVEY_SECONDS = 30.0
LEAST_SURVEY_SECONDS = 1.0
GPUS_KNOWN_SECONDS = 1.5
"""The first look at all processes waits so long for the first rows of nvidia-smi: a second call at once would slow both."""
GPU_TURN_SECONDS = 20.0
"""So long the look at all processes waits for a slow nvidia-smi to end; then it goes on without it."""
FAULT_PAUSE_SECONDS = 2.0
CALM_SECONDS = 30.0
"""A part that worked so long starts over with short pauses."""
TURNS_SECONDS = 60.0
"""After so long without a channel it is tried again."""
HURRIED_TICKS = 3

_log = logging.getLogger(__name__)
_E = TypeVar("_E", bound=BaseException)


class HostMonitor:
    """Of one host."""

    def __init__(
        self,
        host: Host,
        transport: Transport,
        servers: Sequence[ServerMonitor],
        post: Callable[[Event], None],
        clock: Callable[[], float],
        is_hurried: Callable[[str], bool] = lambda host: False,
        patience: Patience | None = None,
        presence: str | None = None,
    ) -> None:
        self.host = host
        self.transport = transport
        self.servers = list(servers)
        self.answered = asyncio.Event()
        """Every question was answered once, or the host could not be reached."""
        self.born = asyncio.Event()
        """A process began there that looks like a server's."""
        self._post = post
        self._clock = clock
        self._is_hurried = is_hurried
        self._patience = patience or Patience(CONNECT_SECONDS)
        self._presence = presence
        """The question that tells the host who watches; None: nobody who would be in anybody's way."""
        self._watchers: tuple[Watcher, ...] | None = None
        self._births = Births()
        self._back_off = BackOff()
        self._greeted = asyncio.Event()
        """The host has answered on this connection: a login alone says little of an account that may run nothing."""
        self._hurry = asyncio.Event()
        self._look_again = asyncio.Event()
        self._survey_due = asyncio.Event()
        self._joined: asyncio.Queue[ServerMonitor] = asyncio.Queue()
        self._gpus = GpuWatch(host.name, post)
        self._gpu_checkups = GpuCheckUps(host.name, self._gpus, post, clock)
        self._disks = DiskWatch(host.name, self._log_paths, post)
        self._place = Place()
        self._told: set[str] = set()
        self._are_processes_asked = False
        self._processes_at = 0.0
        self._gpu_pids: set[int] = set()

    def refresh(self) -> None:
        """Look again now; a host that is not tried by itself any more is tried once."""
        self._look_again.set()
        self._survey_due.set()
        self._hurry.set()

    def add(self, server: ServerMonitor) -> None:
        """Watch one more server: it was found on the host."""
        server.begin(self._place)
        self.servers.append(server)
        self._joined.put_nowait(server)
        self._hurry.set()

    async def watch(self) -> None:
        """Endless, until it is cancelled."""
        while True:
            self._look_again.clear()
            pause = await self._life()
            self.answered.set()
            if pause is None:
                await self._look_again.wait()
            else:
                await wait_at_most(self._look_again, pause)

    async def _life(self) -> float | None:
        """One connection from its begin to its end; how long to wait before the next, None: until asked."""
        error = await error_of(self._connection())
        if error is None:
            return self._lost("the monitor ended", self._back_off.next_seconds())
        cause = _first(error, TransportError) or _first(error, Exception) or error
        if isinstance(cause, LoginRefused | HostKeyUnknown | HostKeyChanged):
            return self._lost(str(cause), None)
        if not isinstance(cause, TransportError):
            _log.error("%s: the monitor failed", self.host.name, exc_info=error)
        return self._lost(_words(cause), self._back_off.next_seconds())

    async def _connection(self) -> None:
        await self._connect()
        await self._observe()

    def _lost(self, reason: str, retry_in_seconds: float | None) -> float | None:
        self._post(HostLost(self.host.name, reason, retry_in_seconds))
        return retry_in_seconds

    async def _connect(self) -> None:
        self._greeted.clear()
        try:
            async with self._patience.limit():
                await self.transport.connect()
        except TimeoutError as error:
            raise ConnectionLost(f"no connection within {CONNECT_SECONDS:.0f} s") from error

    async def _observe(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._end_when_lost())
            tasks.create_task(self._supervise("monitor", self._monitor))
            await self._greeted.wait()
            tasks.create_task(self._supervise("survey", self._keep_surveying))
            tasks.create_task(self._supervise("GPU check", lambda: self._gpu_checkups.run(self.transport)))
            tasks.create_task(self._supervise("disk check", lambda: self._disks.run(self.transport)))
            for server in self.servers:
                self._watch_server(tasks, server)
            while True:
                self._watch_server(tasks, await self._joined.get())

    def _log_paths(self) -> list[str]:
        """Of all servers, and where specdeck's own runs write."""
        followed = [server.follower.path for server in self.servers]
        return [path for path in (*followed, self._place.state_folder) if path and path.startswith("/")]

    def _watch_server(self, tasks: asyncio.TaskGroup, server: ServerMonitor) -> None:
        name = server.server.name
        tasks.create_task(self._supervise(f"log of {name}", lambda: server.follower.run(self.transport)))
        tasks.create_task(self._supervise(f"health of {name}", lambda: server.probes.run(self.transport)))

    async def _end_when_lost(self) -> None:
        raise ConnectionLost(await self.transport.wait_lost())

    async def _supervise(self, part: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a part again and again: a fault is told and tried anew, only a lost connection ends all parts.

        So does a host that lets us in and then runs nothing: it is down, with its words, and tried again later.
        """
        back_off = BackOff(first_seconds=FAULT_PAUSE_SECONDS)
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            error = await error_of(work())
            if error is not None:
                lost = _first(error, ConnectionLost if self._greeted.is_set() else TransportError)
                if lost is not None:
                    raise lost
                self._tell_fault(part, error)
            if loop.time() - began > CALM_SECONDS:
                back_off.reset()
            await asyncio.sleep(back_off.next_seconds())

    def _tell_fault(self, part: str, error: BaseException) -> None:
        cause = _first(error, Exception) or error
        if isinstance(cause, ChannelRefused):
            return
        if not isinstance(cause, TransportError):
            _log.error("%s: %s failed", self.host.name, part, exc_info=error)
        self._post(Noted(self.host.name, f"{part}: {_words(cause)}; trying again", "warning"))

    async def _monitor(self) -> None:
        """The channel of the monitor, or one script a tick where the host allows no more."""
        try:
            async with self.transport.open(monitor_script()) as channel:
                await self._ask_through(MonitorChannel(channel, self._take_gpu_line))
        except ChannelRefused as error:
            self._tell_once(str(error))
            await self._ask_through(MonitorInTurns(self.transport, self._take_gpu_line), TURNS_SECONDS)

    def _take_gpu_line(self, line: str) -> None:
        self._gpus.take(line)
        if not self._gpus.known.is_set():  # the first rows are told once they are whole, not with the next tick
            asyncio.get_running_loop().call_later(WHOLE_SECONDS, self._gpus.flush)

    async def _ask_through(self, monitor: Monitor, seconds: float | None = None) -> None:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(monitor.read())
            await self._greet(monitor)
            gpus = tasks.create_task(self._supervise("nvidia-smi", lambda: self._gpus.run(monitor)))
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._keep_ticking(monitor)
            reading.cancel()
            gpus.cancel()

    def _tell_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self._post(Noted(self.host.name, words, "warning"))

    async def _greet(self, monitor: Monitor) -> None:
        words = (await monitor.ask((), ANSWER_SECONDS)).words
        if not self._greeted.is_set():
            self._post(HostConnected(self.host.name, self.transport.route))
            self._greeted.set()
        theirs = float(words["clock"]) if words.get("clock", "").isdecimal() else self._clock()
        self._place = Place(
            boot_id=words.get("boot", ""),
            home=words.get("home", "/"),
            state_folder=words.get("state", ""),
            clock=HostClock(theirs - self._clock()),
            booted_at=float(booted) if (booted := words.get("booted", "")).isdecimal() else None,
        )
        for server in self.servers:
            server.begin(self._place)
        if self._presence is not None:
            await monitor.tell(self._presence)
        self._watchers = None
        self._births = Births()
        self._back_off.reset()
        self._are_processes_asked = False
        if not self.servers:  # else the first tick says what must be looked for
            self._survey_due.set()

    async def _keep_ticking(self, monitor: Monitor) -> None:
        while True:
            self._hurry.clear()
            for _ in range(HURRIED_TICKS):
                if not await self._tick(monitor):
                    break
            self._gpus.flush()
            self._gpu_checkups.look_at_rows()
            if self._gpus.known.is_set() and not (self._are_processes_asked or self._gpus.is_stuck):
                self._survey_due.set()
            if any(server.wants_survey for server in self.servers):
                self._survey_due.set()
            await wait_at_most(self._hurry, self._pace)

    @property
    def _pace(self) -> float:
        return FAST_TICK_SECONDS if self._is_hurried(self.host.name) else TICK_SECONDS

    async def _tick(self, monitor: Monitor) -> bool:
        """Ask for all servers at once; True: a new run was found, ask again."""
        servers = {str(number): server for number, server in enumerate(self.servers)}
        questions = [question for key, server in servers.items() for question in server.questions(key)]
        ports = " ".join(sorted({f"{server.server.port:04X}" for server in servers.values()}))
        if ports:
            questions.append(f"ports {ports}")
        questions += ["watchers -", self._births.question()]
        answers = await monitor.ask(questions, ANSWER_SECONDS)
        self._post(HostHeard(self.host.name))
        self._take_watchers(read_watchers(answers.watchers, self._place.clock))
        if self._births.take(answers, asyncio.get_running_loop().time()):
            self.born.set()
        hurried = [server.take(key, answers) for key, server in servers.items()]
        return any(hurried)

    def _take_watchers(self, watchers: tuple[Watcher, ...]) -> None:
        if watchers != self._watchers:
            self._watchers = watchers
            self._post(WatchersSeen(self.host.name, watchers))

    async def _keep_surveying(self) -> None:
        await wait_at_most(self._gpus.known, GPUS_KNOWN_SECONDS)
        while True:
            await wait_at_most(self._survey_due, SURVEY_SECONDS)
            self._survey_due.clear()
            try:
                await self._survey()
            except ScriptTimeout as error:
                self._post(Noted(self.host.name, str(error), "warning"))
            if all(not server.wants_survey for server in self.servers):
                self.answered.set()
            await asyncio.sleep(LEAST_SURVEY_SECONDS)

    @property
    def _are_processes_fresh(self) -> bool:
        """On a host where nvidia-smi is slow, a change of something else is no reason to ask it again."""
        age = asyncio.get_running_loop().time() - self._processes_at
        return self._are_processes_asked and age < SURVEY_SECONDS - 1.0

    async def _survey(self) -> None:
        inodes = [inode for server in self.servers for inode in server.begin_survey()]
        survey = await self._take_survey(inodes)
        unknown = [pid for server in self.servers for pid in server.take_survey(survey)]
        if unknown:
            described = await describe(self.transport, unknown)
            for server in self.servers:
                server.take_description(survey, described)
        self._tell_survey(survey)

    async def _take_survey(self, inodes: Sequence[str]) -> Survey:
        """With the processes on the GPUs, unless nvidia-smi hangs; where it is slow, in turn with its calls."""
        gpus = self._gpus
        if gpus.is_stuck or not (gpus.known.is_set() or gpus.is_slow):
            return await take_survey(self.transport, inodes, with_gpus=False)
        if not gpus.is_slow:
            return await self._survey_with_gpus(inodes)
        if self._are_processes_fresh or not await gpus.has_turn(GPU_TURN_SECONDS):
            return await take_survey(self.transport, inodes, with_gpus=False)
        try:
            return await self._survey_with_gpus(inodes)
        finally:
            gpus.turn.release()

    async def _survey_with_gpus(self, inodes: Sequence[str]) -> Survey:
        survey = await take_survey(self.transport, inodes, with_gpus=True, living_gpus=self._gpus.living_ids)
        self._are_processes_asked = True
        self._processes_at = asyncio.get_running_loop().time()
        return survey

    def _tell_survey(self, survey: Survey) -> None:
        memory = survey.memory
        if survey.hung_pid is not None:
            self._tell_once(
                f"nvidia-smi (pid {survey.hung_pid}) hangs: who holds GPU memory is not asked until it ends"
            )
        self._post(HostMemorySampled(self.host.name, memory.total_mib, memory.available_mib))
        if survey.gpu_rows is None:
            return
        owners = {pid: server.server.name for server in self.servers for pid in server.family}
        rows = [row for line in survey.gpu_rows if (row := process_row(line))]
        self._look_for_ends({row.pid for row in rows})
        processes = tuple(gpu_process(row, survey, owners.get(row.pid), self._clock()) for row in rows)
        self._post(GpuProcessesSampled(self.host.name, processes))
        shares = [row.memory_mib for row in rows]
        known = [share for share in shares if share is not None]
        used = self._gpus.used_mib
        for server in self.servers:
            server.unclaimed_mib = used - sum(known) if used is not None and len(known) == len(shares) else None

    def _look_for_ends(self, pids: set[int]) -> None:
        """Who is gone from the GPUs may have died of an error that the driver wrote down."""
        if self._gpu_pids - pids:
            self._gpu_checkups.ask_soon()
        self._gpu_pids = pids


def _first(error: BaseException, kind: type[_E]) -> _E | None:
    """The first error of a kind, looked for inside groups."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for each in error.exceptions if (found := _first(each, kind))), None)
    return error if isinstance(error, kind) else None


def _words(error: BaseException) -> str:
    return str(error) if isinstance(error, TransportError) else f"{type(error).__name__}: {error}"
