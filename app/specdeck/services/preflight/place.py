"""Whether the place is free: the port, the lock, and nobody else who looks after the server."""

from specdeck.config.objects import Fleet, Server
from specdeck.parsing.cgroup import Owner
from specdeck.services.deck import Check
from specdeck.services.runs import Look
from specdeck.state.snapshot import ActKind

_NEAR = 2


def check_port(server: Server, seen: Look, *, frees_it: bool) -> Check:
    """Nobody but the server that will be stopped may listen on the port."""
    mine = {member.pid for member in seen.members}
    strangers = [owner for owner in seen.owners if owner.pid not in mine]
    if strangers:
        said = ", ".join(f"pid {owner.pid} ({owner.name})" for owner in strangers)
        return Check(
            "port",
            "failed",
            f"port {server.port} is in use by {said}, which is not this server: end it or change `port`",
        )
    if seen.is_listening and not seen.owners:
        return Check(
            "port", "failed", f"port {server.port} is in use by a process that this user may not see: change `port`"
        )
    if seen.is_listening and not frees_it:
        return Check("port", "failed", f"port {server.port} is in use")
    return Check(
        "port", "passed", f"port {server.port} will be free" if seen.is_listening else f"port {server.port} is free"
    )


def check_lock(seen: Look, now: float, port: int) -> Check:
    """Nobody else acts on the server now."""
    if seen.lock is None:
        return Check("lock", "passed")
    if seen.lock.is_stuck:
        return Check(
            "lock",
            "failed",
            f"/tmp/specdeck-port-{port}.lock was left by another user, or is no lock of specdeck: have it removed",  # noqa: S108
        )
    if seen.lock.is_held:
        return Check("lock", "failed", f"{seen.lock.words(now)}, still runs")
    return Check("lock", "passed", f"left by a {seen.lock.words(now)}, whose process is gone: it is taken over")


def check_owner(act: ActKind, owner: Owner) -> tuple[Check, ...]:
    """A server that something else looks after is stopped by its owner's own means, and not started beside it."""
    if act != "stop":
        return (
            Check("owner", "failed", f"{owner.words} started it and would start it again: stop and start it there"),
        )
    if owner.stop_argv is None:
        return (Check("owner", "failed", f"{owner.words} started it and would start it again: stop it there"),)
    return (Check("owner", "passed", f"{owner.words}: stopped by `{' '.join(owner.stop_argv)}`"),)


def neighbour_notes(fleet: Fleet, server: Server) -> tuple[str, ...]:
    """Engines also take ports near their own for their ranks; which ones, only the start tells."""
    host = fleet.host(server.host)
    others = host.servers if host else ()
    near = [other for other in others if 0 < abs(other.port - server.port) < _NEAR]
    return tuple(
        f"Port {other.port} of {other.name} is close to {server.port}: engines take ports near their own for their ranks."
        for other in near
    )
