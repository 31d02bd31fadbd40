"""`nodes: [lab, lab2]`: a server that spans several hosts becomes one server for each of them, the head first."""

from collections import Counter
from collections.abc import Mapping

from specdeck.config.objects import Group, Host, Server
from specdeck.config.problems import Problems, nearest
from specdeck.config.reader import Found
from specdeck.quick_dataclass import replace


def group_of(name: str, ssh: str, found: Found) -> Group | None:
    """The head's place in its group; None: the server needs one host only."""
    hosts: tuple[str, ...] = found.get("nodes", ())
    if not hosts:
        return None
    return Group(name, 0, hosts, found.get("head_address") or address_of(ssh))


def address_of(ssh: str) -> str:
    """`gpu-a` for `root@gpu-a:2222`: an alias that only ssh knows needs a `head_address`."""
    address = ssh.rpartition("@")[2]
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def rank_name(group: str, rank: int) -> str:
    """What the server of a rank is called on its host; the head has the name of the whole."""
    return f"{group}.{rank}" if rank else group


def with_ranks(hosts: tuple[Host, ...], found: Mapping[str, Found], problems: Problems) -> tuple[Host, ...]:
    """The hosts with the further ranks of all groups; what is wrong with `nodes` is a problem."""
    heads = [server for host in hosts for server in host.servers if server.group]
    for head in heads:
        _check(head, hosts, found[head.host]["servers"][head.name], problems)
    ranks = [_rank(head, rank) for head in heads if head.group for rank in range(1, len(head.group.hosts))]
    return tuple(
        replace(host, servers=(*host.servers, *(each for each in ranks if each.host == host.name))) for host in hosts
    )


def _rank(head: Server, rank: int) -> Server:
    assert head.group is not None  # noqa: S101 - only heads come here
    group = replace(head.group, rank=rank)
    return replace(head, name=rank_name(group.name, rank), host=group.hosts[rank], group=group)


def _check(head: Server, hosts: tuple[Host, ...], found: Found, problems: Problems) -> None:
    """The nodes are hosts of this file, once each, this one first, and the port is free on all."""
    assert head.group is not None  # noqa: S101 - only heads come here
    nodes, known = found["nodes"], {host.name: host for host in hosts}
    if head.group.hosts[0] != head.host:
        problems.add(nodes.place, nodes.key, f"the first node must be {head.host}, the host that serves the requests")
    for rank, name in enumerate(head.group.hosts[1:], 1):
        if name in known and rank_name(head.name, rank) in {other.name for other in known[name].servers}:
            taken = rank_name(head.name, rank)
            problems.add(
                nodes.place, nodes.key, f"{name} has a server {taken} already, which is the name of rank {rank}"
            )
    for name, count in Counter(head.group.hosts).items():
        if count > 1:
            problems.add(nodes.place, nodes.key, f"{name} is in the list twice")
        if name not in known:
            problems.add(nodes.place, nodes.key, f"there is no host {name}{nearest(name, known)}")
        for other in known[name].servers if name in known and name != head.host else ():
            if other.port == head.port:
                problems.add(nodes.place, nodes.key, f"{head.port} is the port of {other.name} on {name} already")
    if head.rollback:
        problems.add(found["rollback"].place, found["rollback"].key, "does not work with `nodes`: leave it out")
