"""Files of /proc as their bytes: process stat, command line, listening sockets, memory, boot id. Never raises on content."""

import re
from ipaddress import IPv4Address, IPv6Address

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass

_LISTEN = b"0A"
"""TCP_LISTEN of the kernel's tcp_states.h; TIME_WAIT (06) does not hold a port."""
_BOOT_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_ADDRESS = re.compile(rb"(?P<host>[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}):(?P<port>[0-9A-Fa-f]{4})\Z")
_SOCKET = re.compile(r"socket:\[(\d{1,20})\]\Z")
_MEMORY = re.compile(rb"^(MemTotal|MemAvailable):\s+(\d{1,15}) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """One line of /proc/PID/stat."""

    pid: int
    name: str
    """As the kernel keeps it: 15 characters, without control characters."""
    state: str
    """One letter: R, S, D, Z, T, ..."""
    parent: int
    group: int
    session: int
    start_time: int
    """Field 22, in clock ticks since boot."""
    cpu_ticks: int = 0
    """User and system time of its own and of its ended children, in clock ticks."""
    threads: int = 1

    @property
    def is_dead(self) -> bool:
        """A zombie counts as gone: it holds nothing but its number. One with threads lives: only its first thread has ended."""
        return self.state in "ZXx" and self.threads <= 1


@dataclass(frozen=True, slots=True)
class Listener:
    """One socket in state LISTEN."""

    address: str
    port: int
    inode: int

    @property
    def is_any_address(self) -> bool:
        """It takes connections on every address of the host."""
        return self.address in ("0.0.0.0", "::")  # noqa: S104 - compared, never bound


@dataclass(frozen=True, slots=True)
class HostMemory:
    """What /proc/meminfo says."""

    total_mib: int | None = None
    available_mib: int | None = None


def process_stat(line: bytes) -> ProcessStat | None:
    """The name may hold spaces and parentheses: it ends at the last one. None: it is no such line."""
    head, opened, rest = line.partition(b"(")
    name, closed, tail = rest.rpartition(b")")
    fields = tail.split()
    numbers = [_number(word) for word in (head.strip(), *fields[1:4], *fields[19:20])]
    if not opened or not closed or len(numbers) < 5 or None in numbers or len(fields[0]) != 1:
        return None
    pid, parent, group, session, start_time = (number or 0 for number in numbers)
    letter = fields[0].decode("ascii", "replace")
    ticks = sum(_number(word) or 0 for word in fields[11:15])
    threads = _number(fields[17]) or 1
    shown = plain(name.decode("utf-8", "replace"))
    return ProcessStat(pid, shown, letter, parent, group, session, start_time, ticks, threads)


def listeners(table: bytes) -> tuple[Listener, ...]:
    """The listening sockets of /proc/net/tcp and tcp6 (one after the other, header lines and all)."""
    return tuple(found for row in table.split(b"\n") if (found := _listener(row.split())))


def argv(cmdline: bytes) -> tuple[str, ...]:
    """/proc/PID/cmdline as an argument list; empty for kernel threads and zombies. Not cleaned: for comparing, not for showing."""
    text = cmdline.decode("utf-8", "replace")
    return tuple(text.removesuffix("\0").split("\0")) if text.strip("\0") else ()


def environment(environ: bytes) -> dict[str, str]:
    """/proc/PID/environ; the first of two equal names counts, as in getenv."""
    found: dict[str, str] = {}
    for entry in environ.decode("utf-8", "replace").split("\0"):
        name, equals, value = entry.partition("=")
        if name and equals:
            found.setdefault(name, value)
    return found


def boot_id(text: bytes) -> str | None:
    """/proc/sys/kernel/random/boot_id."""
    word = text.strip()
    return word.decode() if _BOOT_ID.match(word) else None


def socket_inode(link: str) -> int | None:
    """What /proc/PID/fd/N points to, if it is a socket: `socket:[4711]`."""
    match = _SOCKET.match(link.strip())
    return int(match[1]) if match else None


def host_memory(meminfo: bytes) -> HostMemory:
    """/proc/meminfo; boards whose GPUs use the host's memory have no other size."""
    mib = {name: int(kib) // 1024 for name, kib in _MEMORY.findall(meminfo)}
    return HostMemory(mib.get(b"MemTotal"), mib.get(b"MemAvailable"))


def _listener(row: list[bytes]) -> Listener | None:
    """sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ..."""
    if len(row) < 10 or row[3] != _LISTEN:
        return None
    local, inode = _ADDRESS.match(row[1]), _number(row[9])
    if not local or inode is None:
        return None
    return Listener(_address(local["host"]), int(local["port"], 16), inode)


def _address(digits: bytes) -> str:
    """The kernel prints words of 32 bits in its own byte order, little-endian on every host with NVIDIA GPUs."""
    raw = bytes.fromhex(digits.decode())
    words = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return str(IPv4Address(words) if len(words) == 4 else IPv6Address(words))


def _number(word: bytes) -> int | None:
    try:
        return int(word) if len(word) <= 20 else None
    except ValueError:
        return None
