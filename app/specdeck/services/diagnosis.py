"""Why a server is as it is: the first cause in the whole log of its run, what the kernel says, who holds the memory, what to do."""

import re
from collections.abc import Sequence

from specdeck.engines.advice import advice
from specdeck.engines.failures import hint_beside
from specdeck.parsing.kernel_log import is_denied, kernel_kills
from specdeck.parsing.lines import Line
from specdeck.parsing.plain import plain
from specdeck.parsing.xid import xids
from specdeck.quick_dataclass import replace
from specdeck.services.log_scan import read_whole
from specdeck.services.log_source import LogSource
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.log_story import Cause, silent_death
from specdeck.state.snapshot import HostState, ServerState
from specdeck.state.witnesses import exit_words
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

LIMIT_SECONDS = 20.0
CONTEXT_LINES = 5
LAST_LINES = 8
TICKS_A_SECOND = 100.0
_MEMORY_KINDS = ("out-of-memory", "gpu-occupied", "not-enough-memory")
_NAMED_GPU = re.compile(r"\bGPU (\d{1,3}) has a total capacity")
_VISIBLE = re.compile(r"\bCUDA_VISIBLE_DEVICES='?([^\s']*)")
_ASK_AN_ADMIN = (
    "the kernel's log may not be read by this user: an admin can, with `dmesg -T | grep -i -E 'oom|killed process'`"
)


async def diagnose(transport: Transport, server: ServerState, host: HostState | None, log: str | None) -> Diagnosis:
    """Look at everything once. Raises TransportError."""
    is_gone = server.evidence.process.state in ("gone", "zombie")
    found = Diagnosis(
        server.name, str(server.word), log, because=server.because,
        ended=exit_words(server.evidence.process.exit_status) if is_gone else None,
    )  # fmt: skip
    found = await _with_log(found, transport, server, is_over=is_gone or server.evidence.process.state == "none")
    found = await _with_last_words(found, transport, server)
    found = _with_others_only(found, server)
    command = server.run.command if server.run is not None else None
    kind = found.cause.kind if found.cause is not None else ""
    return replace(
        found,
        advice=(*advice(found.cause, command or ""), *_variables(found)),
        memory=_holders(server, host, found.cause) if kind in _MEMORY_KINDS else (),
    )


async def _with_log(found: Diagnosis, transport: Transport, server: ServerState, *, is_over: bool) -> Diagnosis:
    if found.log is None:
        return found
    source = LogSource(transport, found.log)
    size = await source.look()
    if isinstance(size, str):
        return replace(found, because=(*found.because, size))
    whole = await read_whole(source, None, size.size, 0.0, is_over=is_over)
    if whole.reader.story.engine is None and server.engine:  # no line tells whose it is: the profile's word counts
        whole = await read_whole(source, server.engine, size.size, 0.0, is_over=is_over)
    story, cause = whole.reader.story, whole.reader.story.cause
    if (
        cause is None
        and found.ended is not None
        and not server.evidence.stop_asked
        and story.word in ("starting", "ready")
    ):
        cause = silent_death(story)
    return replace(found, story=story, cause=cause, context=_around(whole.lines, cause), last=_last(whole.lines))


async def _with_last_words(found: Diagnosis, transport: Transport, server: ServerState) -> Diagnosis:
    pid = server.run.pid if server.run is not None else 0
    outcome = await transport.run(Script(script_text("last_words"), (str(pid),)), limit_seconds=LIMIT_SECONDS)
    lines = outcome.stdout.decode("utf-8", "replace").split("\n")
    proxies = dict(line[10:].split("=", 1) for line in lines if line.startswith("@variable ") and "=" in line)
    kernel = "\n".join(line[8:] for line in lines if line.startswith("@kernel "))
    is_death = found.ended is not None and (
        found.cause is None or found.cause.kind in ("killed", "child-died", "child-failed")
    )
    return replace(
        found,
        proxies={plain(name): plain(value) for name, value in proxies.items()},
        kernel=(*driver_words(kernel, server), *(kernel_words(kernel, server) if is_death else ())),
    )


def driver_words(text: str, server: ServerState) -> tuple[str, ...]:
    """What the NVIDIA driver wrote since this run began: of a GPU itself, or of a process of this family."""
    began = server.run.start_time / TICKS_A_SECOND if server.run is not None else 0.0
    later = [xid for xid in xids(text) if xid.seconds is None or xid.seconds >= began]
    told = [
        f"the driver says of GPU {xid.bus_id}: {xid.words}{f' (pid {xid.pid})' if xid.pid else ''}"
        for xid in later
        if xid.is_of_hardware or xid.pid in _family(server)
    ]
    return tuple(dict.fromkeys(told))[-3:]


def kernel_words(text: str, server: ServerState) -> tuple[str, ...]:
    """Kills after this run began, those of its family first; or that the log may not be read."""
    if is_denied(text):
        return (_ASK_AN_ADMIN,)
    began = server.run.start_time / TICKS_A_SECOND if server.run is not None else 0.0
    kills = [kill for kill in kernel_kills(text) if kill.seconds is None or kill.seconds >= began]
    ours = [kill for kill in kills if kill.pid in _family(server)]
    return tuple(kill.words for kill in (ours or kills)[-3:])


def _family(server: ServerState) -> tuple[int, ...]:
    return (*server.evidence.process.family, *([server.run.pid] if server.run is not None else ()))


def _variables(found: Diagnosis) -> tuple[str, ...]:
    """Which variables send the server's own requests to a proxy."""
    warnings = found.story.warnings if found.story is not None else ()
    is_proxied = any(warning.startswith("warm-up goes through") for warning in warnings)
    if not is_proxied and (found.cause is None or found.cause.kind != "warm-up-failed"):
        return ()
    return tuple(f"{name}={value} in the server's environment" for name, value in sorted(found.proxies.items()))


def _with_others_only(found: Diagnosis, server: ServerState) -> Diagnosis:
    """A process of its own family is nobody to blame."""
    cause = found.cause
    if cause is None or cause.hint is None:
        return found
    return replace(found, cause=replace(cause, hint=hint_beside(cause.hint, _family(server))))


def _holders(server: ServerState, host: HostState | None, cause: Cause | None) -> tuple[str, ...]:
    gpus = host.gpus if host is not None else ()
    meant = _gpu_of(cause, server)
    return tuple(
        f"pid {process.pid} ({process.name}) holds {process.memory_mib / 1024:.1f} GiB of GPU {gpu.index}"
        + (f": {process.server}" if process.server else ": no server of this fleet")
        for gpu in gpus
        if meant is None or gpu.index == meant
        for process in gpu.processes
        if process.memory_mib and process.server != server.name
    )


def _gpu_of(cause: Cause | None, server: ServerState) -> int | None:
    """The host's index of the GPU that the cause names; None: it names none, or how the server counts is not known."""
    named = _NAMED_GPU.search(cause.message) if cause is not None else None
    if named is None or server.run is None or not server.run.run:  # the environment of a server of others is not kept
        return None
    number, visible = int(named[1]), _VISIBLE.search(server.run.command or "")
    if visible is None:
        return number
    indexes = visible[1].split(",")
    return int(indexes[number]) if number < len(indexes) and indexes[number].isdecimal() else None


def _around(lines: Sequence[Line], cause: Cause | None) -> tuple[Line, ...]:
    if cause is None or cause.line is None:
        return ()
    return tuple(line for line in lines if abs(line.number - cause.line) <= CONTEXT_LINES and line.text.strip())


def _last(lines: Sequence[Line]) -> tuple[Line, ...]:
    shown = [line for line in lines if line.text.strip() and not line.is_overwritten]
    return tuple(shown[-LAST_LINES:])
