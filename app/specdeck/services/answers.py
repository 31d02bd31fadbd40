"""The tagged lines of services/scripts/monitor.sh as values; content of the host's files is never trusted to be well formed."""

from collections.abc import Mapping
from dataclasses import field

from specdeck.quick_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The newest run of a server, as the one-line files of its folder say; `run` None: there is none."""

    run: str | None = None
    items: Mapping[str, str] = field(default_factory=dict)
    journal: tuple[str, ...] = ()
    """Lines of the newest act's journal."""
    actor: str | None = None
    left: str | None = None
    """What a stop could not end: `processes PID:START ...`, `port PORT` or `memory MIB`."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A row in LISTEN: the inode of its socket and the address in the kernel's hexadecimal form."""

    inode: str
    address: str


@dataclass(frozen=True, slots=True)
class Answers:
    """All that was answered between two beats."""

    runs: Mapping[str, RunFiles] = field(default_factory=dict)
    stats: Mapping[int, str] = field(default_factory=dict)
    """/proc/PID/stat by pid; empty: no such process."""
    listening: Mapping[int, tuple[Listening, ...]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """`readable`, `missing`, `unreadable` or `folder`, by key."""
    texts: Mapping[str, str] = field(default_factory=dict)
    locks: Mapping[str, str] = field(default_factory=dict)
    """`held|gone PID START SINCE KIND WHO` or `strange`, by key; missing: nobody acts on that port."""
    watchers: tuple[str, ...] = ()
    """`FILE PID START SINCE MODE TOKEN WHO`, of those that live."""
    newest_pid: int | None = None
    """The last pid that the kernel gave away."""
    born: tuple[int, ...] = ()
    """Processes that were born since the pid that was asked for and look like a server's."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What the greeting says: boot, clock, home, state."""


class AnswerReader:
    """Collects the lines up to one beat."""

    def __init__(self) -> None:
        self._runs: dict[str, RunFiles] = {}
        self._stats: dict[int, str] = {}
        self._listening: dict[int, tuple[Listening, ...]] = {}
        self._files: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._locks: dict[str, str] = {}
        self._watchers: tuple[str, ...] = ()
        self._newest_pid: int | None = None
        self._born: tuple[int, ...] = ()
        self._words: dict[str, str] = {}

    def read(self, line: str) -> None:
        """Take one line that begins with @; a line that makes no sense is passed over."""
        tag, _, rest = line.partition(" ")
        key, _, value = rest.partition(" ")
        match tag:
            case "@run":
                self._runs[key] = RunFiles(None if value == "-" else value)
            case "@item" | "@act" | "@actor" | "@left":
                self._runs[key] = _with(self._runs.get(key, RunFiles()), tag, value)
            case "@pid" if key.isdecimal():
                self._stats[int(key)] = value
            case "@listen":
                self._take_listening(key, value)
            case "@file":
                self._files[key] = value
            case "@lock":
                self._locks[key] = value
            case "@newest" if key.isdecimal():
                self._newest_pid = int(key)
            case "@born" if key.isdecimal():
                self._born = (*self._born, int(key))
            case "@watcher":
                self._watchers = (*self._watchers, rest)
            case "@text":
                self._texts[key] = f"{self._texts[key]}\n{value}" if key in self._texts else value
            case "@boot" | "@booted" | "@clock" | "@home" | "@state":
                self._words[tag[1:]] = rest
            case _:
                return

    @property
    def answers(self) -> Answers:
        """Everything so far."""
        return Answers(
            self._runs,
            self._stats,
            self._listening,
            self._files,
            self._texts,
            locks=self._locks,
            watchers=self._watchers,
            newest_pid=self._newest_pid,
            born=self._born,
            words=self._words,
        )

    def _take_listening(self, key: str, value: str) -> None:
        inode, _, address = value.partition(" ")
        try:
            port = int(key, 16)
        except ValueError:
            return
        self._listening[port] = (*self._listening.get(port, ()), Listening(inode, address))


def _with(files: RunFiles, tag: str, value: str) -> RunFiles:
    """The run files with one more line of the answer."""
    if tag == "@act":
        return replace(files, journal=(*files.journal, value))
    if tag == "@actor":
        return replace(files, actor=value)
    if tag == "@left":
        return replace(files, left=value)
    name, _, content = value.partition(" ")
    return replace(files, items={**files.items, name: content})


def loopback_of(address: str) -> str:
    """The address to ask on the host for a socket that listens on the kernel's `address`: any-address means loopback."""
    try:
        words = bytes.fromhex(address)
    except ValueError:
        return "127.0.0.1"
    if len(words) == 4:
        return ".".join(str(byte) for byte in reversed(words)) if any(words) else "127.0.0.1"
    if len(words) != 16 or not any(words):
        return "[::1]"
    if words[:12] == bytes.fromhex("0000000000000000FFFF0000"):
        return loopback_of(address[24:])
    turned = b"".join(words[at : at + 4][::-1] for at in range(0, 16, 4)).hex()
    return "[" + ":".join(turned[at : at + 4] for at in range(0, 32, 4)) + "]"
