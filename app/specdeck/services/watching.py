"""The deck: transports, monitors, launcher and store of one fleet, wired together."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from functools import partial

from specdeck.config.objects import Fleet, Host, Server
from specdeck.config.places import state_folder
from specdeck.engines.recovery import Recovered
from specdeck.errors import Refused, SpecdeckError, UsageError
from specdeck.parsing.lines import Line
from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.services.acting import last_step
from specdeck.services.deck import Plan
from specdeck.services.diagnosis import diagnose
from specdeck.services.discovery import Found, as_server, as_servers, discover, joined
from specdeck.services.ender import Ender, place_of
from specdeck.services.fleet_change import change_of
from specdeck.services.front_desk import FrontDesk, HostQuestions
from specdeck.services.group_watch import GroupWatch
from specdeck.services.groups import GroupLauncher
from specdeck.services.host_monitor import HostMonitor
from specdeck.services.log_older import OlderLines
from specdeck.services.presence import watch_question
from specdeck.services.racing import wait_at_most
from specdeck.services.server_monitor import ServerMonitor
from specdeck.services.start_cache import StartCache
from specdeck.services.start_history import StartHistory
from specdeck.services.store import Store
from specdeck.services.supervised import supervised
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.events import Event, FleetRead, Noted, ServerDiscovered, Ticked
from specdeck.state.snapshot import ActKind, Question, Word
from specdeck.transport.base import Transport

DISCOVERY_SECONDS = 30.0
DISCOVERY_RETRY_SECONDS = 3.0
LEAST_DISCOVERY_SECONDS = 3.0
CLOSE_SECONDS = 5.0
FAST_AFTER_ACT_SECONDS = 10.0
_CHANGING = (Word.STARTING, Word.STOPPING)

_log = logging.getLogger(__name__)


class WatchingDeck:
    """Implements `deck.Deck`."""

    def __init__(
        self,
        fleet: Fleet,
        store: Store,
        transport_of: Callable[[Host], tuple[Transport, HostQuestions | None]],
        clock: Callable[[], float],
        *,
        is_read_only: bool,
        is_announced: bool = False,
        desk: FrontDesk | None = None,
        finds: Collection[str] = (),
        remembers: bool = True,
    ) -> None:
        self.fleet = fleet
        self._profiles = fleet.profiles
        """Those of the files: what a found server is compared with."""
        self.store = store
        self.is_read_only = is_read_only
        self._presence = watch_question(is_read_only=is_read_only) if is_announced else None
        self._file = fleet
        """As the file says: without what was found."""
        self._transport_of = transport_of
        self._transports: dict[str, Transport] = {}
        self._desk = desk or FrontDesk()
        self._clock = clock
        self._launcher = GroupLauncher(fleet, self._transports, clock)
        self._cache = StartCache(state_folder() / "starts.sqlite" if remembers else None)
        self._ender = Ender(fleet, self._transports, clock)
        self._ends: asyncio.Queue[Plan] = asyncio.Queue()
        self._in_sight: str | None = None
        self._is_looked_at = False
        """By a dashboard, which shows few servers at once; for a command line all are in sight."""
        self._servers: dict[str, ServerMonitor] = {}
        self._acted_at: dict[str, float] = {}
        self._searched = {host.name: asyncio.Event() for host in fleet.hosts if not host.servers or host.name in finds}
        """Hosts whose servers must be found, and whether they were searched once."""
        self._strangers: dict[str, tuple[Recovered, ...]] = {}
        """Servers of other hosts that the fleet file does not name: known, and not watched."""
        self._found: dict[tuple[str, int], Found] = {}
        """What the newest look found, by host and port."""
        self._recovered: dict[str, Recovered] = {}
        """Servers that were found and are watched."""
        self._hosts = {host.name: self._monitor(host) for host in fleet.hosts}
        self._tasks: asyncio.TaskGroup | None = None
        self._host_tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._group_watch: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Watch everything, endless; no host waits for another."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(supervised("clock", self._tick, self._post))
            tasks.create_task(supervised("ends", self._follow_ends, self._post))
            self._tasks = tasks
            self._watch_groups(tasks)
            for host in self.fleet.hosts:
                self._watch_host(tasks, host)

    def _watch_groups(self, tasks: asyncio.TaskGroup) -> None:
        if self._group_watch is not None:
            self._group_watch.cancel()
        if not self.is_read_only:
            watch = GroupWatch(self.fleet, self.store, self._transports, self._launcher, self._post)
            self._group_watch = tasks.create_task(supervised("groups", watch.watch, self._post))

    def _watch_host(self, tasks: asyncio.TaskGroup, host: Host) -> None:
        monitor = self._hosts[host.name]
        history = StartHistory(host, self._transports[host.name], self.store, self._cache)
        parts: dict[str, Callable[[], Coroutine[None, None, None]]] = {
            f"monitor of {host.name}": monitor.watch,
            f"discovery on {host.name}": partial(self._keep_discovering, monitor),
            f"past starts on {host.name}": history.keep,
        }
        self._host_tasks[host.name] = [
            tasks.create_task(supervised(name, work, self._post)) for name, work in parts.items()
        ]

    async def take(self, fleet: Fleet) -> None:
        """The fleet file was read anew: what it says now is watched; hosts of which it says the same go on untouched."""
        change = change_of(self._file, fleet, self.fleet)
        old = self.fleet
        self._file, self._profiles = fleet, fleet.profiles
        for name in change.ended:
            await self._end_host(name)
        self.fleet = self._with_what_was_found(fleet, old, {host.name for host in change.begun})
        self._post(FleetRead(self.fleet))
        self._searched |= {host.name: asyncio.Event() for host in change.begun if not host.servers}
        self._launcher = GroupLauncher(self.fleet, self._transports, self._clock)
        self._ender = Ender(self.fleet, self._transports, self._clock)
        for host in change.begun:
            self._hosts[host.name] = self._monitor(host)
        for server in change.joined:
            self._hosts[server.host].add(self._server_monitor(server))
        for server in (*change.joined, *(each for host in change.begun for each in host.servers)):
            self._tell_process(server)
        for server in change.joined:
            self._servers[server.name].searched()
        if self._tasks is not None:
            for host in change.begun:
                self._watch_host(self._tasks, host)
            self._watch_groups(self._tasks)

    def _tell_process(self, server: Server) -> None:
        """What runs on its port was seen already."""
        found = self._found.get((server.host, server.port))
        if found is not None:
            self._servers[server.name].suspect(found.process, found.engine)

    def _with_what_was_found(self, fleet: Fleet, old: Fleet, begun: Collection[str]) -> Fleet:
        """Hosts that go on keep the servers that were found on them, and these their profiles."""
        hosts, profiles = [], dict(fleet.profiles)
        for host in fleet.hosts:
            names = {server.name for server in host.servers}
            known = old.host(host.name) if host.name not in begun else None
            kept = [each for each in (known.servers if known else ()) if each.name in self._recovered.keys() - names]
            hosts.append(replace(host, servers=(*host.servers, *kept)))
            profiles = {(own := self._recovered[each.name].profile).name: own for each in kept} | profiles
        return replace(fleet, hosts=tuple(hosts), profiles=profiles)

    async def _end_host(self, name: str) -> None:
        """Stop watching it; nothing on it is touched."""
        tasks = self._host_tasks.pop(name, [])
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        monitor, transport = self._hosts.pop(name), self._transports.pop(name)
        for server in monitor.servers:
            self._servers.pop(server.server.name, None)
            self._recovered.pop(server.server.name, None)
        self._strangers.pop(name, None)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await transport.close()

    async def close(self) -> None:
        """Close all connections at once, within a limit."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                closing = (transport.close() for transport in self._transports.values())
                await asyncio.gather(*closing, return_exceptions=True)

    async def wait_answered(self, seconds: float) -> None:
        """Until every host was asked everything once or could not be reached, with a limit; a user who is asked takes longer."""
        events = [monitor.answered for monitor in self._hosts.values()] + list(self._searched.values())
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    for event in events:
                        await event.wait()
            if not any(host.question for host in self.store.state.hosts):
                return

    def look_at(self, server: str | None) -> None:
        """Follow this server's log closely, and ask the others for less."""
        self._in_sight, self._is_looked_at = server, True
        for name, monitor in self._servers.items():
            monitor.look(is_in_sight=name == server)

    def log_lines(self, server: str, after: int) -> Sequence[Line]:
        """The kept lines after a line number; numbers begin again at 1 with a new run."""
        monitor = self._servers.get(server)
        return monitor.follower.ring.after(after) if monitor else ()

    async def older_lines(self, server: str, before: Line) -> OlderLines:
        """Read on the server's host."""
        known = self._known(server)
        return await self._servers[server].follower.older(self._transports[known.host], before)

    async def refresh(self) -> None:
        """Look again, now."""
        for monitor in self._hosts.values():
            monitor.refresh()

    def answer(self, question: Question, answer: str | None) -> None:
        """The user's answer to the question of a login."""
        self._desk.answer(question, answer)

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """Look and check; nothing is touched."""
        if act == "end":
            pid, _, host = server.partition("@")
            return await self._ender.plan(host, int(pid))
        self._known(server)
        return await self._launcher.plan(act, server, profile)

    async def perform(self, plan: Plan) -> None:
        """Ask the host to do what the plan says."""
        if self.is_read_only:
            raise Refused(f"read-only: no {plan.act} of {plan.server}")
        if plan.act == "end":
            await self._ender.perform(plan)
            self._ends.put_nowait(plan)
            return
        await self._launcher.perform(plan)
        for member in self.fleet.members(self._known(plan.server)):
            self._acted_at[member.host] = self._clock()
            self._hosts[member.host].refresh()

    async def diagnose(self, server: str) -> Diagnosis:
        """Why it is as it is. Raises UsageError, TransportError."""
        known = self._known(server)
        state = self.store.state
        seen = state.server(server)
        if seen is None:
            raise UsageError(f"nothing is known of `{server}`")
        transport = self._transports[known.host]
        return await diagnose(transport, seen, state.host(known.host), self._servers[server].follower.path)

    def _known(self, name: str) -> Server:
        server = self.fleet.server(name)
        if server is None:
            raise UsageError(f"there is no server `{name}`")
        return server

    def _monitor(self, host: Host) -> HostMonitor:
        servers = [self._server_monitor(server) for server in host.servers]
        self._transports[host.name], questions = self._transport_of(host)
        return HostMonitor(
            host,
            self._transports[host.name],
            servers,
            self._post,
            self._clock,
            self._is_hurried,
            questions.patience if questions else None,
            self._presence,
        )

    def _server_monitor(self, server: Server, engine: str | None = None) -> ServerMonitor:
        profile = self.fleet.profiles.get(server.profiles[0]) if server.profiles else None
        known = engine or (profile.engine if profile else None)
        monitor = ServerMonitor(server, known, self._post, self._clock, self._profiles, is_searched=False)
        self._servers[server.name] = monitor
        if self._is_looked_at:
            monitor.look(is_in_sight=server.name == self._in_sight)
        return monitor

    def _is_hurried(self, host: str) -> bool:
        """Something starts or stops there, or was just asked to."""
        if self._clock() - self._acted_at.get(host, 0.0) < FAST_AFTER_ACT_SECONDS:
            return True
        servers = (server for server in self.store.state.everyone if server.host == host)
        return any(server.word in _CHANGING or (server.act and not server.act.is_over) for server in servers)

    def _post(self, event: Event) -> None:
        """Events go on to the store; one that cannot be applied must not end the monitor that saw it."""
        try:
            self.store.apply(event)
        except Exception:
            _log.exception("an event could not be applied: %s", type(event).__name__)
            if not isinstance(event, Noted):
                self._post(Noted("specdeck", f"a {type(event).__name__} could not be applied", "error"))

    async def _follow_ends(self) -> None:
        """Tell how the end of a left-behind worker went: no server tells it."""
        while True:
            plan = await self._ends.get()
            try:
                last = await last_step(self._transports[plan.host], place_of(plan.host), plan.act)
            except SpecdeckError as error:
                self._post(Noted(plan.host, f"end {plan.server}: {error}", "warning"))
                continue
            words = f"end {plan.server}: {last.name}{f', {last.detail}' if last.detail else ''}"
            self._post(Noted(plan.host, plain(words), "info" if last.name == "done" else "error"))
            self._hosts[plan.host].refresh()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self._post(Ticked())

    async def _keep_discovering(self, monitor: HostMonitor) -> None:
        """Look now and then for servers that others started: those of the fleet may not listen yet, others may be unknown."""
        while True:
            await monitor.answered.wait()
            monitor.born.clear()
            pause = DISCOVERY_SECONDS
            try:
                await self._discover(monitor)
            except SpecdeckError:
                pause = DISCOVERY_RETRY_SECONDS
                _log.info("%s: nothing could be discovered", monitor.host.name, exc_info=True)
            seen = self.store.state.host(monitor.host.name)
            for server in monitor.servers if seen is not None and seen.link == "up" else ():
                server.searched()
            if monitor.host.name in self._searched:
                self._searched[monitor.host.name].set()
            await asyncio.sleep(LEAST_DISCOVERY_SECONDS)
            await wait_at_most(monitor.born, pause - LEAST_DISCOVERY_SECONDS)

    async def _discover(self, monitor: HostMonitor) -> None:
        name, watched = monitor.host.name, {server.server.port: server for server in monitor.servers}
        found: dict[int, Found] = {}
        for each in await discover(monitor.transport):
            found.setdefault(each.port, each)
        self._found = {at: each for at, each in self._found.items() if at[0] != name}
        self._found |= {(name, port): each for port, each in found.items()}
        unknown = [each for port, each in found.items() if port not in watched]
        for port, each in found.items():
            if port in watched:
                watched[port].suspect(each.process, each.engine)
        if name in self._searched:
            for each in unknown:
                self._add(monitor, each)
        else:
            self._strangers[name] = tuple(as_servers(unknown, name, self._servers, self._profiles))

    def _add(self, monitor: HostMonitor, found: Found) -> None:
        """A host without servers in the fleet file has one that nobody knew of."""
        seen = as_server(found, monitor.host.name, self._servers, self._profiles)
        server = seen.server
        self._recovered[server.name] = seen
        self._join(seen)
        self._post(ServerDiscovered(monitor.host.name, server.name, server.port, found.engine, server.profiles))
        watched = self._server_monitor(server, found.engine)
        monitor.add(watched)
        watched.suspect(found.process, found.engine)

    @property
    def strangers(self) -> Sequence[Recovered]:
        """Servers that were found and stand in no fleet file: those that are watched all the same, then the others."""
        others = (each for host in self._strangers.values() for each in host)
        return (*self._recovered.values(), *others)

    def _join(self, seen: Recovered) -> None:
        """The fleet as it is known now has one server more, and the profile that it runs."""
        self.fleet = joined(self.fleet, seen)
        self._launcher = GroupLauncher(self.fleet, self._transports, self._clock)
