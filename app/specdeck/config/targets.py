"""Words of the command line into hosts: names of the fleet narrow it, anything else that ssh takes is a host of its own."""

import re
from collections.abc import Sequence

from specdeck.config import schema
from specdeck.config.objects import Host
from specdeck.config.problems import shown
from specdeck.errors import UsageError
from specdeck.late_pattern import late_pattern

_UNFIT = late_pattern(r"[^A-Za-z0-9._-]+")


def choose_hosts(hosts: Sequence[Host], targets: Sequence[str]) -> tuple[Host, ...]:
    """The hosts to show: all of the fleet where no target is given, else one for each target in the order given."""
    if not targets:
        return tuple(hosts)
    chosen: dict[str, Host] = {}
    for target in targets:
        found = next((host for host in hosts if target in (host.name, host.ssh)), None)
        host = found or _host_of(target, {*chosen, *(host.name for host in hosts)}, chosen)
        chosen.setdefault(host.name, host)
    return tuple(chosen.values())


def _host_of(target: str, taken: set[str], chosen: dict[str, Host]) -> Host:
    """A host that no fleet file describes, named as short as it can be told from the others."""
    same = next((host for host in chosen.values() if host.ssh == target), None)
    if same:
        return same
    kind = schema.HOST.keys["ssh"].kind
    if not isinstance(kind, schema.Text) or not re.fullmatch(kind.pattern, target) or not target.isprintable():
        raise UsageError(
            f"`{shown(target)}` is no host: name one as ssh takes it (gpu-a, root@gpu-a, gpu-a:2222), or localhost"
        )
    return Host(name=_short_name(target, taken), ssh=target)


def _short_name(target: str, taken: set[str]) -> str:
    """`gpu-a` for `root@gpu-a:2222`; the whole target, then a number, where that name is taken."""
    address = target.rpartition("@")[2]
    if address.startswith("["):  # an IPv6 address with a port
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    names = [_UNFIT.sub("-", name).strip("-._") for name in (address, target)]
    names += [f"{names[1]}-{count}" for count in range(2, len(taken) + 3)]
    return next(name for name in names if name and name not in taken)
