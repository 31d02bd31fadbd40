"""Facts that monitors and the launcher report; `reduce` turns them into state. Each carries no clock: the store stamps it."""

from dataclasses import field
from typing import Literal

from specdeck.config.objects import Fleet
from specdeck.quick_dataclass import dataclass
from specdeck.state.alert_book import Silence
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess, LostGpu
from specdeck.state.load import LoadReading
from specdeck.state.log_story import LogStory
from specdeck.state.snapshot import (
    Act,
    Disk,
    HttpWitness,
    PortLock,
    PortWitness,
    ProcessWitness,
    Question,
    RunIdentity,
    Watcher,
)
from specdeck.state.starts import PastStart


@dataclass(frozen=True, slots=True)
class HostConnected:
    """The SSH connection of a host is up."""

    host: str
    route: str = ""
    """Who logged in where, through what."""


@dataclass(frozen=True, slots=True)
class HostHeard:
    """Bytes of the host's monitor arrived: it lives."""

    host: str


@dataclass(frozen=True, slots=True)
class HostLost:
    """No connection; `retry_in_seconds` None: not retried by itself."""

    host: str
    reason: str
    retry_in_seconds: float | None


@dataclass(frozen=True, slots=True)
class LoginAsked:
    """The login of a host waits for an answer; None: it does no more."""

    host: str
    question: Question | None


@dataclass(frozen=True, slots=True)
class LoginAwaited:
    """The login of a host cannot go on before another host's question is answered; None: it does."""

    host: str
    question: Question | None


@dataclass(frozen=True, slots=True)
class HostMemorySampled:
    """/proc/meminfo of the host: the size of GPUs that have no memory of their own."""

    host: str
    total_mib: int | None
    available_mib: int | None


@dataclass(frozen=True, slots=True)
class ServerDiscovered:
    """A server that no fleet file names was found on a host; a name that is known already changes nothing."""

    host: str
    name: str
    port: int
    engine: str = ""
    profiles: tuple[str, ...] = ()
    """The one that it runs, as a profile that would start it again."""


@dataclass(frozen=True, slots=True)
class FleetRead:
    """The fleet file was read anew: hosts and servers came, left or are described otherwise."""

    fleet: Fleet


@dataclass(frozen=True, slots=True)
class Ticked:
    """A second has passed: what nobody renewed becomes stale."""


@dataclass(frozen=True, slots=True)
class GpusSampled:
    """New rows of nvidia-smi, one per GPU (histories and processes are filled in by `reduce`)."""

    host: str
    gpus: tuple[Gpu, ...]
    lost: tuple[LostGpu, ...] = ()
    """Those that it names instead of a row."""


@dataclass(frozen=True, slots=True)
class GpusChecked:
    """What is asked of the GPUs every few minutes."""

    host: str
    checkup: CheckUp


@dataclass(frozen=True, slots=True)
class GpuProcessesSampled:
    """The processes that hold GPU memory now."""

    host: str
    processes: tuple[GpuProcess, ...]


@dataclass(frozen=True, slots=True)
class GpusUnavailable:
    """nvidia-smi is not there or does not answer."""

    host: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunFound:
    """The newest run of a server, from its folder on the host or from the owner of its port; None: there is none."""

    server: str
    run: RunIdentity | None
    stop_asked: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSeen:
    """What /proc says now."""

    server: str
    process: ProcessWitness


@dataclass(frozen=True, slots=True)
class PortSeen:
    """Who listens now."""

    server: str
    port: PortWitness


@dataclass(frozen=True, slots=True)
class HealthAnswered:
    """The health endpoint was asked."""

    server: str
    http: HttpWitness


@dataclass(frozen=True, slots=True)
class LogAdvanced:
    """New bytes of the log were read."""

    server: str
    story: LogStory
    behind_bytes: int = 0
    """Written and not read yet, where the log is faster than its line."""


@dataclass(frozen=True, slots=True)
class LogUnreadable:
    """The log cannot be read, with the reason in words."""

    server: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoadSampled:
    """What an endpoint of the engine says of its load."""

    server: str
    reading: LoadReading = field(default_factory=LoadReading)
    note: str | None = None
    """Why there are no counters."""


@dataclass(frozen=True, slots=True)
class ActAdvanced:
    """A step of a stop, launch, relaunch or pivot; None: nothing of that kind runs."""

    server: str
    act: Act | None
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class StartsRecalled:
    """How long earlier starts of this server's model took on its host."""

    server: str
    starts: tuple[PastStart, ...]


@dataclass(frozen=True, slots=True)
class LockSeen:
    """The lock of a server's port; None: nobody acts on it."""

    server: str
    lock: PortLock | None


@dataclass(frozen=True, slots=True)
class WatchersSeen:
    """Everybody else who watches the host now."""

    host: str
    watchers: tuple[Watcher, ...]


@dataclass(frozen=True, slots=True)
class DisksSampled:
    """How full the file systems are that logs are written to."""

    host: str
    disks: tuple[Disk, ...]


@dataclass(frozen=True, slots=True)
class AlertsSilenced:
    """The user wants to be left alone, or not any more."""

    silence: Silence


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth a line in the events pane."""

    source: str
    text: str
    severity: Literal["info", "warning", "error"] = "info"


Event = (
    HostConnected
    | HostHeard
    | HostLost
    | LoginAsked
    | LoginAwaited
    | HostMemorySampled
    | FleetRead
    | ServerDiscovered
    | Ticked
    | GpusSampled
    | GpusChecked
    | GpuProcessesSampled
    | GpusUnavailable
    | RunFound
    | ProcessSeen
    | PortSeen
    | HealthAnswered
    | LogAdvanced
    | LogUnreadable
    | LoadSampled
    | ActAdvanced
    | LockSeen
    | WatchersSeen
    | StartsRecalled
    | DisksSampled
    | AlertsSilenced
    | Noted
)
