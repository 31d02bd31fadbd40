"""From one reading of the fleet file to the next: which hosts go on as they are, which get servers, which begin anew."""

from pathlib import Path

from specdeck.config.fleet import read_fleet
from specdeck.config.objects import Fleet, Host, Server
from specdeck.config.problems import Problems
from specdeck.quick_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class FleetChange:
    """What a deck must do."""

    ended: tuple[str, ...] = ()
    """Hosts that are in the file no more, or otherwise."""
    begun: tuple[Host, ...] = ()
    """Hosts to watch from now on, also those that are otherwise."""
    joined: tuple[Server, ...] = ()
    """Servers that came to hosts which go on."""


def change_of(old: Fleet, new: Fleet, watched: Fleet) -> FleetChange:
    """`old` and `new` as the file says; `watched` with the servers that were found since."""
    before = {host.name: host for host in old.hosts}
    ended = [name for name in before if new.host(name) is None]
    begun: list[Host] = []
    joined: list[Server] = []
    for host in new.hosts:
        known = before.get(host.name)
        if known is None:
            begun.append(host)
        elif (more := _only_more(known, host, watched.host(host.name))) is None:
            ended.append(host.name)
            begun.append(host)
        else:
            joined += more
    return FleetChange(tuple(ended), tuple(begun), tuple(joined))


def _only_more(old: Host, new: Host, watched: Host | None) -> tuple[Server, ...] | None:
    """The servers that came, where nothing else is otherwise; one that was watched already begins anew with its host."""
    if replace(old, servers=()) != replace(new, servers=()) or not set(map(_key, old.servers)) <= set(
        map(_key, new.servers)
    ):
        return None
    more = tuple(server for server in new.servers if _key(server) not in set(map(_key, old.servers)))
    taken = {server.port for server in watched.servers} if watched else set()
    names = {server.name for server in watched.servers} if watched else set()
    return None if any(server.port in taken or server.name in names for server in more) else more


def _key(server: Server) -> str:
    """All that it says; its mappings have no hash."""
    return repr(server)


def read_again(path: Path, shown: Fleet, before: Fleet | None) -> Fleet:
    """The fleet of the file for a dashboard that shows some of it: with what is new, and with hosts that stand in no file.

    `before` is the file as it was; None: there was none, or nothing of it is known. Raises ConfigError.
    """
    problems = Problems()
    fleet = read_fleet(path if path.exists() else None, problems)
    problems.raise_if_any()
    named = {host.name for host in before.hosts} if before else set()
    seen = {host.name for host in shown.hosts}
    hosts = [host for host in fleet.hosts if named <= seen or host.name in seen or host.name not in named]
    addresses = {host.ssh for host in fleet.hosts}
    others = [
        host
        for host in shown.hosts
        if host.name not in named and host.ssh not in addresses and not fleet.host(host.name)
    ]
    return replace(fleet, hosts=(*hosts, *(replace(host, servers=()) for host in others)))
