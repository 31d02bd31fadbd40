"""Whether a command can start on its host: setup lines, interpreter, version, flags, paths, disk room, GPU memory."""

from collections.abc import Mapping

from specdeck.config.objects import Profile, Server
from specdeck.config.versions import satisfies
from specdeck.engines.asking_flags import LIMIT_SECONDS
from specdeck.engines.command import Command
from specdeck.engines.registry import ENGINES
from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass
from specdeck.services.deck import Check
from specdeck.services.preflight.environment import environment_notes
from specdeck.services.preflight.gpu_memory import check_gpu_memory
from specdeck.services.preflight.script import preflight_script
from specdeck.services.preflight.told import Told
from specdeck.services.runs import Look
from specdeck.transport.base import Transport

_LOG_ROOM_KIB = 100 * 1024
"""A log of a start with bars is some hundred KiB; a day of decode lines some ten MiB."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """What the host said of a command that is to start."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    version: str = ""
    """Of the engine; empty: not known."""
    old_env: tuple[tuple[str, str], ...] = ()
    """Variables of the server that runs, where others started it: those that may tell two profiles apart."""


async def check_start(
    transport: Transport, server: Server, profile: Profile, command: Command, seen: Look, *, old_pid: int | None = None
) -> Preflight:
    """Ask the host; `old_pid` is a server that others started. Raises TransportError."""
    script = preflight_script(server, ENGINES[profile.engine], command, old_pid)
    outcome = await transport.run(script, limit_seconds=LIMIT_SECONDS + 60)
    return read_preflight(Told.read(outcome.stdout), server, profile, command, seen)


def read_preflight(told: Told, server: Server, profile: Profile, command: Command, seen: Look) -> Preflight:
    """The host's tagged lines as checks and notes."""
    if failed := _setup(told, server):
        return Preflight((failed,))
    checks = (
        _interpreter(told, server),
        _version(told, server, profile),
        *_flags(told, profile),
        _paths(told),
        _disk(told.first("disk")),
        check_gpu_memory(told, server, profile, command, seen),
        *(Check("setsid", "failed", "the host has no `setsid`: install util-linux") for _ in told.all("no-setsid")),
    )
    old_env = tuple((name, value) for name, _, value in (line.partition("=") for line in told.all("old-env")))
    return Preflight(checks, environment_notes(told, server, command), told.first("version"), old_env)


def _setup(told: Told, server: Server) -> Check | None:
    """The setup line that stops the launch, with its own last words."""
    if failed := told.first("setup-failed"):
        number, _, words = failed.partition(" ")
        line = plain(server.setup[int(number)].split("\n")[0])
        return Check("setup", "failed", f"this setup line fails: {line}{f': {words}' if words else ''}")
    if "end" not in told:
        return Check("setup", "failed", f"the setup lines of {server.name} end the shell that they run in")
    return None


def _interpreter(told: Told, server: Server) -> Check:
    if found := told.first("python"):
        return Check("interpreter", "passed", found)
    return Check("interpreter", "failed", f"{server.python} is not on the host: set `python` of server {server.name}")


def _version(told: Told, server: Server, profile: Profile) -> Check:
    """The engine is importable there, and its version is what the profile asks for."""
    title, version, found = ENGINES[profile.engine].title, told.first("version"), told.first("python")
    if not found:
        return Check("version", "failed", f"no interpreter, so no {title}")
    if not version:
        why = told.first("version-error") or "it said nothing"
        return Check(
            "version",
            "failed",
            f"{title} is not installed for {found} ({why}): set `python` or `setup` of server {server.name}",
        )
    if profile.requires and not satisfies(version, profile.requires):
        return Check(
            "version", "failed", f"profile {profile.name} needs {title} {profile.requires}, the host has {version}"
        )
    return Check("version", "passed", f"{title} {version}")


def _flags(told: Told, profile: Profile) -> tuple[Check, ...]:
    """What the engine's own parser said; nothing where there is no version to ask."""
    version = told.first("version")
    if not version:
        return ()
    title = f"{ENGINES[profile.engine].title} {version}"
    word, _, sentence = told.first("flags").partition(" ")
    answers: Mapping[str, Check] = {
        "known": Check("flags", "passed", f"{title} knows them all"),
        "refused": Check(
            "flags", "failed", f"{title}: {sentence}: change profile {profile.name} or the server's `args`"
        ),
        "doubtful": Check("flags", "unknown", f"known, but without a GPU {title} says: {sentence}"),
        "": Check("flags", "unknown", f"{title} has no parser that could be asked"),
    }
    return (answers.get(word) or Check("flags", "unknown", f"{title} could not be asked: {sentence}"),)


def _paths(told: Told) -> Check:
    missing = told.all("missing")
    if not missing:
        return Check("paths", "passed")
    return Check(
        "paths", "failed", f"not on the host: {', '.join(missing)}: correct the fleet file, or bring them there"
    )


def _disk(free_kib: str) -> Check:
    if not free_kib.isdecimal():
        return Check("disk", "unknown", "free space for the log could not be read")
    if int(free_kib) < _LOG_ROOM_KIB:
        return Check("disk", "failed", f"only {int(free_kib) // 1024} MiB free for the log: make room")
    return Check("disk", "passed", f"{int(free_kib) // 1024} MiB free for the log")
