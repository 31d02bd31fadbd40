"""What one look with processes on the host says: all processes, who holds a listening socket, who holds GPU memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from specdeck.parsing.nvidia_smi import PROCESS_FIELDS
from specdeck.parsing.nvidia_smi_complaints import complaints
from specdeck.parsing.plain import plain
from specdeck.parsing.proc import HostMemory, ProcessStat, host_memory, process_stat
from specdeck.quick_dataclass import dataclass
from specdeck.services.described import Described, read_descriptions
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
    """Lines of nvidia-smi's process list; None: it was not asked, did not end, or said why it cannot tell."""
    host_time: float | None
    memory: HostMemory = field(default_factory=HostMemory)
    uptime: float | None = None
    users: Mapping[int, str] = field(default_factory=dict)
    """Of the processes that hold GPU memory."""
    hung_pid: int | None = None
    """An nvidia-smi of this user that does not end: none was started beside it."""

    def age_seconds(self, pid: int) -> float | None:
        """How long a process has lived; field 22 counts hundredths of a second."""
        process = self.processes.get(pid)
        return None if process is None or self.uptime is None else max(0.0, self.uptime - process.start_time / 100)

    def family(self, pid: int) -> tuple[int, ...]:
        """The process, its session if it leads one, and all descendants; itself first. Zombies are gone."""
        if pid not in self.processes:
            return ()
        members = self._with_descendants({pid} | {each.pid for each in self._living if each.session == pid})
        return (pid, *sorted(members - {pid, 1}))

    def left_behind(self, leader: int, born: Mapping[int, int], ended: int | None) -> tuple[int, ...]:
        """Who still lives of a family whose leader is gone: those known by pid and start time, their session, their descendants.

        A session's number alone proves nothing: the kernel gives it away once nobody is in it. It is the leader's while somebody
        known lives in it, or where a member was born before the leader ended (`ended`, in ticks since boot).
        """
        if leader in self.processes and not self.processes[leader].is_dead:
            return ()  # the number has a new holder
        living = self._living
        known = {each.pid for each in living if born.get(each.pid) == each.start_time}
        older = {each.pid for each in living if each.session == leader and ended and each.start_time < ended}
        if older or any(self.processes[pid].session == leader for pid in known):
            known |= {each.pid for each in living if each.session == leader}
        return tuple(sorted(self._with_descendants(known | older) - {leader, 1}))

    @property
    def _living(self) -> tuple[ProcessStat, ...]:
        return tuple(each for each in self.processes.values() if not each.is_dead)

    def _with_descendants(self, members: set[int]) -> set[int]:
        living, grew = self._living, True
        while grew:
            children = {each.pid for each in living if each.parent in members} - members
            members = members | children
            grew = bool(children)
        return members


async def take_survey(transport: Transport, inodes: Iterable[str], *, with_gpus: bool, living_gpus: str = "") -> Survey:
    """Look once; `living_gpus` are those that can be asked where one is lost. Raises TransportError."""
    words = " ".join(sorted(inode for inode in inodes if inode.isdecimal()))
    script = Script(script_text("survey"), (words, ",".join(PROCESS_FIELDS) if with_gpus else "", living_gpus))
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
    uptime: float | None = None
    users: dict[int, str] = {}
    hung_pid: int | None = None
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
        elif tag == "@user":
            number, _, name = rest.partition(" ")
            users |= {int(number): plain(name)} if number.isdecimal() else {}
        elif tag == "@hung" and rest.partition(" ")[0].isdecimal():
            hung_pid = int(rest.partition(" ")[0])
        elif tag == "@uptime" and rest.replace(".", "", 1).isdecimal():
            uptime = float(rest)
        elif tag == "@clock" and rest.isdecimal():
            host_time = float(rest)
    is_told = is_complete and not (rows and complaints("\n".join(rows)))
    return Survey(
        processes,
        owners,
        tuple(rows) if is_told else None,
        host_time,
        host_memory(memory.encode()),
        uptime,
        users,
        hung_pid,
    )


async def describe(transport: Transport, pids: Sequence[int]) -> Mapping[int, Described]:
    """What these processes are. Raises TransportError."""
    script = Script(script_text("describe"), tuple(str(pid) for pid in pids))
    outcome = await transport.run(script, limit_seconds=20.0)
    return read_descriptions(outcome.stdout)
