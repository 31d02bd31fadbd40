"""What is checked on the host before anything is touched: each check says what to change where it fails."""

from specdeck.config.objects import Profile, Server
from specdeck.config.shell import quote
from specdeck.config.versions import satisfies
from specdeck.engines.registry import ENGINES
from specdeck.parsing.cgroup import Owner
from specdeck.services.deck import Check
from specdeck.services.runs import Look
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

_LOG_ROOM_KIB = 100 * 1024
"""A log of a start with bars is some hundred KiB; a day of decode lines some ten MiB."""


async def check_start(transport: Transport, server: Server, profile: Profile) -> tuple[Check, ...]:
    """Interpreter, version, paths, disk room. Raises TransportError."""
    paths = [path for path in (server.model, server.draft_model) if path and path.startswith(("/", "~/"))]
    engine = ENGINES[profile.engine]
    args = (server.python, engine.version_script(), server.workdir or "", *paths)
    text = "".join(f"{{ {line}\n}} >&2 || printf 'setup-failed %s\\n' {quote(line)}\n" for line in server.setup)
    outcome = await transport.run(Script(text + script_text("preflight"), args), limit_seconds=60)
    told = [line.partition(" ")[::2] for line in outcome.stdout.decode("utf-8", "replace").split("\n") if line]
    return read_checks(told, server, profile)


def read_checks(told: list[tuple[str, str]], server: Server, profile: Profile) -> tuple[Check, ...]:
    """preflight.sh's tagged lines as checks."""
    first = dict(reversed(told))
    missing = [value for tag, value in told if tag == "missing"]
    return (
        *(Check("setup", "failed", f"this setup line fails: {line}") for tag, line in told if tag == "setup-failed"),
        _interpreter(first, server),
        _version(first, profile),
        Check("paths", "failed", f"not on the host: {', '.join(missing)}") if missing else Check("paths", "passed"),
        _disk(first.get("disk", "")),
        *(Check("setsid", "failed", "the host has no `setsid` (util-linux)") for tag, _ in told if tag == "no-setsid"),
    )


def _interpreter(first: dict[str, str], server: Server) -> Check:
    if found := first.get("python"):
        return Check("interpreter", "passed", found)
    return Check("interpreter", "failed", f"{server.python} is not on the host: set `python` of server {server.name}")


def _version(first: dict[str, str], profile: Profile) -> Check:
    """The engine is importable there, and its version is what the profile asks for."""
    title = ENGINES[profile.engine].title
    version = first.get("version")
    if version is None:
        why = first.get("version-error", "no interpreter")
        return Check("version", "failed", f"{title} is not installed for this interpreter: {why}")
    if profile.requires and not satisfies(version, profile.requires):
        return Check(
            "version", "failed", f"profile {profile.name} needs {title} {profile.requires}, the host has {version}"
        )
    return Check("version", "passed", f"{title} {version}")


def _disk(free_kib: str) -> Check:
    if not free_kib.isdigit():
        return Check("disk", "unknown", "free space for the log could not be read")
    if int(free_kib) < _LOG_ROOM_KIB:
        return Check("disk", "failed", f"only {int(free_kib) // 1024} MiB free for the log")
    return Check("disk", "passed", f"{int(free_kib) // 1024} MiB free for the log")


def check_port(server: Server, seen: Look, *, frees_it: bool) -> Check:
    """Nobody but the server that will be stopped may listen on the port."""
    mine = {member.pid for member in seen.members}
    strangers = [owner for owner in seen.owners if owner.pid not in mine]
    if strangers:
        said = ", ".join(f"pid {owner.pid} ({owner.name})" for owner in strangers)
        return Check("port", "failed", f"port {server.port} is in use by {said}, which is not this server")
    if seen.is_listening and not seen.owners:
        return Check("port", "failed", f"port {server.port} is in use by a process that this user may not see")
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
