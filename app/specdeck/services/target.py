"""Which process an act is about: by the run's record, by who owns the port, by its command line. In doubt nothing is touched."""

from collections.abc import Sequence

from specdeck.config.objects import Server
from specdeck.engines.recovery import named_port
from specdeck.engines.registry import ENGINES
from specdeck.errors import Refused
from specdeck.parsing.cgroup import Owner
from specdeck.quick_dataclass import dataclass
from specdeck.services.deck import Check
from specdeck.services.runs import Look, SeenProcess

_INTO_CONTAINERS = ("docker-proxy", "rootlessport", "slirp4netns", "conmon")
"""They hold a port on behalf of a container; the server is inside."""


@dataclass(frozen=True, slots=True)
class Target:
    """The process that an act ends, by its identity."""

    pid: int
    start_time: int
    boot: str
    run_id: str = ""
    run_folder: str = "-"
    owner: Owner | None = None
    """Who started it and would start it again; its own stop is used then."""

    @property
    def words(self) -> str:
        """`PID:START`, as the scripts take it."""
        return f"{self.pid}:{self.start_time}"


def find_target(server: Server, seen: Look, engine: str) -> Target | None:
    """The run of ours; else the server of others on this port. Raises Refused where the identity is in doubt."""
    return _own(seen) or _by_port(server, seen, engine) or _by_command(server, seen, engine)


def check_permission(seen: Look, target: Target) -> tuple[Check, ...]:
    """Whose process it is, where it is not the asker's own."""
    family = sorted(seen.members, key=lambda member: member.pid != target.pid)
    others = [member for member in family if None not in (seen.me, member.user_id) and member.user_id != seen.me]
    if not others:
        return ()
    words = f"pid {others[0].pid} ({others[0].name}) belongs to {seen.user(others[0].user_id)}"
    if seen.may_signal(others[0]):
        return (Check("permission", "passed", f"{words}; this user may end it all the same"),)
    return (Check("permission", "failed", f"{words}: no permission to signal it"),)


def _own(seen: Look) -> Target | None:
    """The newest run of ours, if it or a worker of it still lives."""
    run = seen.run
    if run is None or not seen.has_family or run.pid is None or run.start_time is None:
        return None
    return Target(run.pid, run.start_time, run.boot, run.id, run.folder)


def _by_port(server: Server, seen: Look, engine: str) -> Target | None:
    """The server that the port's owners belong to. Raises Refused if that is not one server of this engine."""
    if not seen.is_listening:
        return None
    place = f"port {server.port} of {server.host}"
    if not seen.owners:
        whose = ", ".join(dict.fromkeys(map(seen.user, seen.listeners))) or "somebody"
        raise Refused(f"{place} belongs to {whose}, and this user may not see the process: nothing is touched")
    servers = {owner.pid: _server_above(owner, seen, engine) for owner in seen.owners}
    strangers = [owner for owner in seen.owners if servers[owner.pid] is None]
    if len(strangers) == len(seen.owners):
        raise Refused(f"{place} belongs to {_stranger(strangers[0], server)}, which is no {engine or 'known'} server")
    found = {process.pid: process for process in servers.values() if process is not None}
    if strangers or len(found) > 1:
        several = ", ".join(f"pid {each.pid} ({each.words})" for each in (*found.values(), *strangers))
        raise Refused(f"{place} is shared by {several}: nothing is touched before it is clear which one is meant")
    (process,) = found.values()
    owner = next(pid for pid, above in servers.items() if above is process)
    return Target(process.pid, process.start_time, seen.boot, owner=seen.owned_by.get(owner))


def _server_above(owner: SeenProcess, seen: Look, engine: str) -> SeenProcess | None:
    """The topmost server among the owner of a socket and what it hangs on: the HTTP part may be a child of the server."""
    above = {process.pid: process for process in seen.above}
    found, process = None, owner
    for _ in range(len(above) + 1):
        if _is_server(process.argv, engine):
            found = process
        if process.parent not in above:
            break
        process = above[process.parent]
    return found


def _by_command(server: Server, seen: Look, engine: str) -> Target | None:
    """A server of others that does not listen yet, by its command line and the port that it names."""
    if seen.is_listening or engine not in ENGINES:
        return None
    mine = {
        process.pid: process
        for process in seen.similar
        if _is_server(process.argv, engine)
        and (named_port(_words(process.argv)) or ENGINES[engine].default_port) == server.port
        and process.state not in "ZX"
    }
    tops = [process for process in mine.values() if process.parent not in mine]
    if len(tops) > 1:
        several = ", ".join(f"pid {process.pid}" for process in tops)
        raise Refused(f"{several} all mean to serve port {server.port} of {server.host}: nothing is touched")
    return Target(tops[0].pid, tops[0].start_time, seen.boot, owner=seen.owned_by.get(tops[0].pid)) if tops else None


def _is_server(argv: Sequence[str], engine: str) -> bool:
    return engine in ENGINES and ENGINES[engine].recognises_command(_words(argv))


def _words(argv: Sequence[str]) -> Sequence[str]:
    """A process that sets its title has the whole command line in one argument."""
    return " ".join(argv).split() if argv and " -m " in argv[0] else argv


def _stranger(owner: SeenProcess, server: Server) -> str:
    words = f"pid {owner.pid} ({owner.words})"
    if not owner.name.startswith(_INTO_CONTAINERS):
        return words
    return f"{words}, which leads into a container (`docker ps --filter publish={server.port}`)"
