"""What the kernel's log says of processes that it killed for memory. Never raises on content."""

import re

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass

_STAMP = re.compile(r"^\[ *(?P<seconds>\d{1,12}(?:\.\d+)?)\]")
_LIMIT = re.compile(r"oom-kill:constraint=CONSTRAINT_MEMCG.*?oom_memcg=(?P<group>[^,]*),.*?pid=(?P<pid>\d{1,10})\b")
_KILL = re.compile(
    r"(?P<cgroup>Memory cgroup )?[Oo]ut of memory: Kill(?:ed)? process (?P<pid>\d{1,10}) \((?P<name>[^)]*)\)"
    r"(?:.*?anon-rss:(?P<anon>\d{1,15})kB)?(?:.*?file-rss:(?P<file>\d{1,15})kB)?"
)
_DENIED = re.compile(r"dmesg: .*(?:not permitted|ermission denied)")


@dataclass(frozen=True, slots=True)
class KernelKill:
    """One process that was killed."""

    pid: int
    name: str
    seconds: float | None = None
    """Since boot."""
    resident_kib: int | None = None
    group: str | None = None
    """The control group whose limit it was; empty: a limit of a group that is not named; None: the whole machine's memory."""

    @property
    def words(self) -> str:
        """`killed by the kernel: memory limit of example.service (cgroup), pid 70211 (sglang::schedul), about 94 GiB resident`."""
        where = "the host's memory was full"
        if self.group is not None:
            name = self.group.rstrip("/").rpartition("/")[2]
            where = f"memory limit of {name} (cgroup)" if name else "memory limit of its cgroup"
        size = f", about {self.resident_kib / 1048576:.0f} GiB resident" if self.resident_kib else ""
        return f"killed by the kernel: {where}, pid {self.pid} ({self.name}){size}"


def kernel_kills(text: str) -> tuple[KernelKill, ...]:
    """All of them, oldest first."""
    groups: dict[int, str] = {}
    kills = []
    for line in text.splitlines():
        if (limit := _LIMIT.search(line)) is not None:
            groups[int(limit["pid"])] = plain(limit["group"])
        elif (kill := _KILL.search(line)) is not None:
            kills.append(_kill(line, kill, groups))
    return tuple(kills)


def is_denied(text: str) -> bool:
    """This user may not read the kernel's log."""
    return _DENIED.search(text) is not None


def _kill(line: str, kill: re.Match[str], groups: dict[int, str]) -> KernelKill:
    stamp, pid = _STAMP.match(line), int(kill["pid"])
    sizes = [int(kill[key]) for key in ("anon", "file") if kill[key]]
    return KernelKill(
        pid=pid,
        name=plain(kill["name"]),
        seconds=float(stamp["seconds"]) if stamp else None,
        resident_kib=sum(sizes) if sizes else None,
        group=groups.get(pid, "" if kill["cgroup"] else None),
    )
