"""What one look with processes on the host says: all processes, who holds a listening socket, who holds GPU memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from specdeck.parsing.nvidia_smi import PROCESS_FIELDS
from specdeck.parsing.proc import HostMemory, ProcessStat, host_memory, process_stat
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

SURVEY_LIMIT_SECONDS = 40.0
"""nvidia-smi alone may take many seconds."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The host at one moment."""

    processes: Mapping[int, ProcessStat]
    owners: Mapping[str, tuple[int, ...]]
    """Pids by the inode of a listening socket; only those that this user may see."""
    gpu_rows: tuple[str, ...] | None
    """Lines of nvidia-smi's process list; None: it was not asked or did not end."""
    host_time: float | None
    memory: HostMemory = field(default_factory=HostMemory)

    def family(self, pid: int) -> tuple[int, ...]:
        """The process, its session if it leads one, and all descendants; itself first."""
        if pid not in self.processes:
            return ()
        members = {pid} | {each.pid for each in self.processes.values() if each.session == pid}
        grew = True
        while grew:
            children = {each.pid for each in self.processes.values() if each.parent in members} - members
            members |= children
            grew = bool(children)
        return (pid, *sorted(members - {pid, 1}))


@dataclass(frozen=True, slots=True)
class Described:
    """A process that others started."""

    pid: int
    argv: tuple[str, ...] = ()
    workdir: str = ""
    outputs: tuple[str, ...] = field(default=())
    """Where stdout and stderr lead."""

    @property
    def log(self) -> str | None:
        """The first output that is a file."""
        return next((path for path in self.outputs if _is_log(path)), None)


def _is_log(path: str) -> bool:
    return path.startswith("/") and not path.startswith(("/dev/", "/proc/")) and not path.endswith(" (deleted)")


async def take_survey(transport: Transport, inodes: Iterable[str], *, with_gpus: bool) -> Survey:
    """Look once. Raises TransportError."""
    words = " ".join(sorted(inode for inode in inodes if inode.isdecimal()))
    script = Script(script_text("survey"), (words, ",".join(PROCESS_FIELDS) if with_gpus else ""))
    outcome = await transport.run(script, limit_seconds=SURVEY_LIMIT_SECONDS)
    return read_survey(outcome.stdout)


def read_survey(answer: bytes) -> Survey:
    """The answer of survey.sh; lines that make no sense are passed over."""
    processes: dict[int, ProcessStat] = {}
    owners: dict[str, tuple[int, ...]] = {}
    rows: list[str] = []
    memory = ""
    is_complete = False
    host_time: float | None = None
    for line in answer.decode("utf-8", "replace").split("\n"):
        tag, _, rest = line.partition(" ")
        if tag == "@stat" and (process := process_stat(rest.encode())):
            processes[process.pid] = process
        elif tag == "@socket":
            inode, _, pid = rest.partition(" ")
            owners[inode] = (*owners.get(inode, ()), *((int(pid),) if pid.isdecimal() else ()))
        elif tag == "@app":
            rows.append(rest)
        elif tag == "@memory":
            memory += f"{rest}\n"
        elif tag == "@apps-end":
            is_complete = True
        elif tag == "@clock" and rest.isdecimal():
            host_time = float(rest)
    return Survey(processes, owners, tuple(rows) if is_complete else None, host_time, host_memory(memory.encode()))


async def describe(transport: Transport, pids: Sequence[int]) -> Mapping[int, Described]:
    """Command line, folder and outputs of these processes. Raises TransportError."""
    outcome = await transport.run(Script(script_text("describe"), tuple(str(pid) for pid in pids)), limit_seconds=20.0)
    return read_descriptions(outcome.stdout)


def read_descriptions(answer: bytes) -> Mapping[int, Described]:
    """The answer of describe.sh and the like, by pid."""
    found: dict[int, Described] = {}
    for line in answer.decode("utf-8", "surrogateescape").split("\n"):
        tag, _, rest = line.partition(" ")
        number, _, value = rest.partition(" ")
        if tag in ("@arg", "@cwd", "@out", "@err") and number.isdecimal():
            pid = int(number)
            found[pid] = _described(found.get(pid, Described(pid)), tag, value)
    return found


def _described(known: Described, tag: str, value: str) -> Described:
    if tag == "@arg":
        return Described(known.pid, (*known.argv, value), known.workdir, known.outputs)
    if tag == "@cwd":
        return Described(known.pid, known.argv, value, known.outputs)
    return Described(known.pid, known.argv, known.workdir, (*known.outputs, value))
