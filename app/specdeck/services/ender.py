"""Ends a worker that an engine left behind and that belongs to no server: after a question, by its identity, on the host."""

from collections.abc import Callable, Mapping

from specdeck.config.objects import Fleet, Server
from specdeck.engines.registry import ENGINES
from specdeck.errors import Refused, TransportError, UsageError
from specdeck.services.deck import Check, Plan
from specdeck.services.gpu_processes import WORKER_TITLES
from specdeck.services.preflight import check_lock
from specdeck.services.runs import Look, SeenProcess, asked_in_time, look, only_at, read_lock
from specdeck.services.target import Target, check_permission
from specdeck.services.who import whoami
from specdeck.state.durations import span
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

KILL_AFTER_SECONDS = 10.0
FOLDER = ".ended"
"""Beside the servers' folders: journal and audit log of what was ended on this host."""


def place_of(host: str) -> Server:
    """The journal's place, for whoever follows it: no port belongs to it."""
    return Server(FOLDER, host, "", 0)


class Ender:
    """Plans and performs like the launcher; keeps nothing between the two."""

    def __init__(self, fleet: Fleet, transports: Mapping[str, Transport], clock: Callable[[], float]) -> None:
        self._fleet = fleet
        self._transports = transports
        self._clock = clock

    async def plan(self, host: str, pid: int) -> Plan:
        """Look and check; nothing is touched. Raises UsageError, Refused, TransportError."""
        if host not in self._transports:
            raise UsageError(f"no host is called {host}")
        seen, process = await self._seen(host, pid)
        await self._refuse_what_a_server_left(host, pid)
        target = Target(pid, process.start_time, seen.boot)
        owner = seen.owned_by.get(pid)
        checks = [*check_permission(seen, target), check_lock(seen, self._clock(), 0)]
        if owner is not None:
            checks.append(Check("owner", "failed", f"{owner.words} looks after it: end it there"))
        family = sorted(seen.members, key=lambda member: (member.pid != pid, member.pid))
        return Plan(
            act="end",
            server=f"pid {pid}",
            host=host,
            old_profile=None,
            new_profile=None,
            pid=pid,
            start_time=process.start_time,
            family=tuple((member.pid, member.name) for member in family),
            gpu_memory_mib=sum(seen.gpu_mib.get(member.pid, 0) for member in family) if seen.gpu_mib else None,
            notes=(_description(seen, process),),
            checks=tuple(checks),
            kill_after_seconds=KILL_AFTER_SECONDS,
        )

    async def perform(self, plan: Plan) -> None:
        """Hand it to the host; returns once its actor has begun. Raises Refused, TransportError."""
        failed = [check.detail for check in plan.checks if check.state == "failed"]
        if failed or plan.pid is None:
            raise Refused(f"{plan.server} stays as it is: {'; '.join(failed)}")
        seen, process = await self._seen(plan.host, plan.pid)
        if process.start_time != plan.start_time:
            raise Refused(f"{plan.server} of {plan.host} is another process by now: look again")
        args = _ask_args(plan, f"{process.pid}:{process.start_time}", seen.boot)
        outcome = await self._transports[plan.host].run(
            Script(asked_in_time(seen), args, is_urgent=True), limit_seconds=30
        )
        answer = outcome.stdout.decode("utf-8", "replace").strip()
        if answer.startswith("locked"):
            holder = read_lock(f"held {answer.removeprefix('locked').strip()}")
            raise Refused(f"{plan.host}: somebody else ends a process there now ({holder.words(self._clock())})")
        if answer != "taken":
            said = answer or outcome.stderr.decode("utf-8", "replace").strip()
            raise TransportError(f"{plan.host} did not take the end of {plan.server}: {said}")

    async def _seen(self, host: str, pid: int) -> tuple[Look, SeenProcess]:
        """The process and its family. Raises Refused if it is no worker that was left behind."""
        seen = await look(self._transports[host], place_of(host), f"{pid}:")
        process = next((member for member in seen.members if member.pid == pid), None)
        if process is None:
            raise Refused(f"there is no process {pid} on {host}, or this user may not see it")
        if not _is_left_behind(seen, process):
            raise Refused(
                f"pid {pid} of {host} ({process.words}) is no worker that an engine left behind: it is not touched"
            )
        return seen, process

    async def _refuse_what_a_server_left(self, host: str, pid: int) -> None:
        """A run that is known ends its own: its story and its lock are there."""
        for server in self._servers(host):
            seen = await look(self._transports[host], server)
            if any(member.pid == pid for member in seen.members):
                raise Refused(f"pid {pid} is of the family of {server.name}: stop {server.name}")

    def _servers(self, host: str) -> tuple[Server, ...]:
        found = self._fleet.host(host)
        return found.servers if found else ()


def _is_left_behind(seen: Look, process: SeenProcess) -> bool:
    """A worker by its title under the first process, which is no engine itself, as it is in a container."""
    titles = (process.name, process.argv[0] if process.argv else "")
    if process.parent != 1 or not any(title.startswith(WORKER_TITLES) for title in titles):
        return False
    first = seen.first
    return first is None or not any(engine.recognises_command(first.argv) for engine in ENGINES.values())


def _description(seen: Look, process: SeenProcess) -> str:
    """`sglang::scheduler_TP0 of user ops, 3h old, left behind by its server`."""
    age = f", {span(seen.uptime - process.start_time / 100)} old" if seen.uptime is not None else ""
    return f"{process.words} of user {seen.user(process.user_id)}{age}, left behind by its server"


def _ask_args(plan: Plan, target: str, boot: str) -> tuple[str, ...]:
    """The arguments of ask.sh: nothing is staged, and there is no port."""
    actor = "\n".join((only_at(""), *map(script_text, ("proc", "lock", "journal", "act"))))
    nothing_staged = ("-", "", "", "", "", "-")
    seconds = str(int(plan.kill_after_seconds))
    stop = (target, boot, "", "-", seconds, seconds, "-", "", "-", "", "-", "-", "-")
    return (FOLDER, actor, "", *nothing_staged, "end", whoami(), plan.server.replace(" ", "-"), "0", *stop)


def for_question(plan: Plan) -> str:
    """What is asked before it is done, in one sentence."""
    held = f", which holds {plan.gpu_memory_mib:,} MiB of GPU memory" if plan.gpu_memory_mib else ""
    return f"end {plan.server} on {plan.host} ({'; '.join(plan.notes)}){held}?"
