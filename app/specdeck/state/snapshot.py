"""What is known at one moment: frozen, replaced on every event, compared by identity. Unknown is None, never 0."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal

from specdeck.config.objects import Group
from specdeck.quick_dataclass import dataclass
from specdeck.state.alert_book import AlertBook
from specdeck.state.counter_window import CounterWindow
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess, Trouble
from specdeck.state.history import History
from specdeck.state.log_story import LogStory
from specdeck.state.serving import Serving, ServingWindow
from specdeck.state.starts import PastStart
from specdeck.state.timings import StartTimings


class Word(StrEnum):
    """The one word of a server's state (design section 7)."""

    UNKNOWN = "unknown"
    """No evidence yet: the first connection is being made."""
    UNREACHABLE = "unreachable"
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    UNHEALTHY = "unhealthy"
    STALLED = "stalled"
    STOPPING = "stopping"
    CRASHED = "crashed"
    BLOCKED = "blocked"


Link = Literal["connecting", "up", "stale", "down"]
ActKind = Literal["launch", "stop", "relaunch", "pivot", "end"]
SHAPES: Mapping[Word, str] = {
    Word.UNKNOWN: "◌",
    Word.UNREACHABLE: "◌",
    Word.STOPPED: "○",
    Word.STARTING: "◐",
    Word.READY: "●",
    Word.UNHEALTHY: "▲",
    Word.STALLED: "▲",
    Word.STOPPING: "◑",
    Word.CRASHED: "✖",
    Word.BLOCKED: "■",
}


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """One life of a server: a pid alone is never an identity."""

    run: str
    """The run's folder name on the host, `0042`; empty for a server that others started."""
    pid: int
    start_time: int
    """Field 22 of /proc/PID/stat, in clock ticks since boot."""
    boot_id: str
    profile: str | None = None
    """Of a server that others started: the nearest one."""
    log: str | None = None
    """Path of this run's log on the host."""
    started_at: float | None = None
    """Unix seconds by specdeck's clock."""
    started_by: str | None = None
    command: str | None = None
    profile_but: str = ""
    """What it runs otherwise than its profile says: `but topk 8`; empty: nothing."""


@dataclass(frozen=True, slots=True)
class ProcessWitness:
    """What /proc says of the server's process."""

    state: Literal["unknown", "none", "alive", "zombie", "gone"] = "unknown"
    """`none`: there is no run; `gone`: the run's process is no more."""
    pid: int | None = None
    family: tuple[int, ...] = ()
    exit_status: int | None = None
    """As the wrapper recorded it: 0-255, 128 + signal; None: not known."""
    ended_at: float | None = None
    """When the wrapper saw it end (unix seconds, our clock); None: not known."""
    is_family_seen: bool = True
    """The family was looked at since the process ended."""
    names: tuple[str, ...] = ()
    """Of what the process left behind, in the order of `family`."""
    is_engine_gone: bool = False
    """The parent lives, the processes that compute are gone: it may go on saying 200 and serves nobody."""
    halted: tuple[int, ...] = ()
    """Of the parent and the processes that compute, those that a signal or a debugger holds still (state T)."""
    is_busy: bool | None = None
    """Its family uses CPU time; None: not measured, as it is only during a start."""


@dataclass(frozen=True, slots=True)
class PortWitness:
    """Who listens on the server's port."""

    state: Literal["unknown", "closed", "ours", "stranger", "open"] = "unknown"
    """`open`: somebody listens, and who could not be read."""
    pid: int | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class HttpWitness:
    """The newest answer of the engine's health endpoint."""

    state: Literal["unknown", "refused", "ok", "unavailable", "key-needed", "tls", "timeout", "error"] = "unknown"
    """`tls`: the port speaks TLS, and specdeck is not told how to, or does not trust it."""
    status: int | None = None
    seconds: float | None = None
    at: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RankWitness:
    """What a further rank of a server that spans several hosts adds to the head's evidence."""

    rank: int
    host: str
    word: Word
    sentence: str
    """What decided its word."""
    gpu_memory_mib: int | None = None
    is_acted_on: bool = False
    """An act on it goes on."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Everything that decides a server's word."""

    link: Link = "connecting"
    process: ProcessWitness = ProcessWitness()
    port: PortWitness = PortWitness()
    http: HttpWitness = HttpWitness()
    story: LogStory | None = None
    log_at: float | None = None
    """When the last byte of the log arrived, unix seconds by specdeck's clock."""
    log_grew_at: float | None = None
    """When it was seen to grow, after what was there at first was read."""
    log_error: str | None = None
    """`no log file at ...`, or why it cannot be read."""
    log_behind_bytes: int = 0
    """Written and not read yet, where the log grows faster than its line carries."""
    stop_asked: bool = False
    """A stop of this run was asked by somebody: its end is no crash."""
    blocked: str | None = None
    """What the last stop left behind, in words."""
    left_mib: int | None = None
    """GPU memory that the family holds."""
    listen_port: int | None = None
    """The server's port, for the sentences."""
    heard_at: float | None = None
    """When the host's monitor was last heard, unix seconds by specdeck's clock."""
    link_error: str | None = None
    """Why the link is down, one sentence."""
    was_ready: bool = False
    """This run has been ready before: a 503 now is no start."""
    gone_at: float | None = None
    """When its process, which was seen alive, was first seen to be gone."""
    failed_at: float | None = None
    """When the log's fatal cause was first read; 0: it was there at the first look. None: there is none."""
    is_clearing: bool = False
    """The act that ends it still waits for its processes, its port or its GPU memory."""
    begins_to_stop: bool = False
    """An act that ends it began a moment ago, and has not told that SIGTERM was sent."""
    ready_line_at: float | None = None
    has_come_to_ready: bool = False
    """The log was read while it told of a start, and came to the end of it in sight."""
    """When the log's ready line was first seen: older answers say nothing against it."""
    ok_since: float | None = None
    """Since when the health endpoint has said yes without a break."""
    stall: str | None = None
    """`3 running, 20 waiting, 0 tok/s for 1m50s`: requests run while counters and log stand still."""
    start_stall: str | None = None
    """A start that is silent beyond its own pace while CPU and GPUs idle."""
    quiet: str | None = None
    """`quiet for 3m10s, CPU busy`: a start that says nothing and works."""
    rank: int = 0
    """Above 0 it serves no requests itself: the head of its group does."""
    ranks: tuple[RankWitness, ...] = ()
    """Of the head of a group: the others."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word and what decided it, most important first."""

    word: Word
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Throughput:
    """Rolling output tokens per second."""

    tok_s: float
    source: Literal["counters", "log"]
    window_seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class Act:
    """A stop, launch, relaunch or pivot that runs on the host now, or ended last."""

    kind: ActKind
    step: str
    """The newest journal step: `term`, `waiting`, `kill`, `gone`, `port-free`, `memory-back`, `launched`, `done`, `failed`."""
    detail: str
    began: float
    kill_at: float | None = None
    """When SIGKILL follows (unix seconds, specdeck's clock), for the countdown."""
    profile: str | None = None
    who: str = ""
    is_over: bool = False
    is_failed: bool = False


@dataclass(frozen=True, slots=True)
class PortLock:
    """The lock of a server's port on its host: who acts on it now, also another user whose journal cannot be read."""

    state: Literal["held", "gone", "strange"]
    """`gone`: its holder lives no more, the next act takes it over; `strange`: no lock of specdeck, nobody can act."""
    kind: ActKind | None = None
    who: str = ""
    since: float | None = None
    """Unix seconds by specdeck's clock."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Somebody else's dashboard that watches the host now."""

    who: str
    since: float
    is_read_only: bool

    @property
    def words(self) -> str:
        """`rk@laptop (read-only)`."""
        return f"{self.who} (read-only)" if self.is_read_only else self.who


@dataclass(frozen=True, slots=True, eq=False)
class ServerState:
    """One server."""

    name: str
    host: str
    port: int
    engine: str
    configured_profiles: tuple[str, ...] = ()
    profile: str | None = None
    """The profile of the run; None: not known."""
    engine_version: str | None = None
    run: RunIdentity | None = None
    word: Word = Word.UNKNOWN
    because: tuple[str, ...] = ()
    since: float | None = None
    """When the word last changed, unix seconds; for a start, its run's `started_at`. None: it held when specdeck looked first."""
    evidence: Evidence = field(default_factory=Evidence)
    throughput: Throughput | None = None
    throughput_history: tuple[tuple[float, float], ...] = ()
    """(unix seconds, tok/s), oldest first, bounded; only measured points."""
    requests_running: int | None = None
    requests_queued: int | None = None
    kv_usage: float | None = None
    """0 to 1."""
    accept_length: float | None = None
    gpu_memory_mib: int | None = None
    metrics_note: str | None = None
    """Why there are no counters: `metrics are off (--enable-metrics)`."""
    load_at: float | None = None
    """When an endpoint last told how many requests run; older than a while, the log's word counts."""
    counters: CounterWindow = field(default_factory=CounterWindow)
    """The token counter's samples of the rolling window."""
    serving_window: ServingWindow = field(default_factory=ServingWindow)
    """The counters of the newest minute."""
    serving: Serving | None = None
    """What they say: latencies, cache hits, accepted drafts."""
    speculation: str | None = None
    """The effective mode by the server's own endpoint; the log's word is in its story."""
    last_word: Word | None = None
    """The last word before the host went unreachable, to be shown dimmed; None while the host is up."""
    last_since: float | None = None
    """`since` of `last_word`."""
    act: Act | None = None
    lock: PortLock | None = None
    """None: nobody acts on its port."""
    past_starts: tuple[PastStart, ...] = ()
    """Of this model on this host, whatever the profile."""
    is_seen_from_start: bool = False
    """The run began while specdeck looked: its changes were seen."""
    draft_steps: int | None = None
    """By the server's own metrics; the log's word is in its story."""
    timings: StartTimings | None = None
    """What the engine's endpoint says of its own start."""
    group: Group | None = None
    """Its place in a server that spans several hosts."""
    asked_modes: Mapping[str, str] = field(default_factory=dict)
    """The speculation that each profile asks for, where it says so."""
    history: History = field(default_factory=History)
    """Its numbers over time, for the plots."""
    gpu_uuids: tuple[str, ...] = ()
    """Of the GPUs that it holds, or held before it ended."""
    gpu_troubles: tuple[Trouble, ...] = ()
    """What its GPUs explain of a slow or dead server, the worst first."""

    @property
    def profile_but(self) -> str:
        """What it runs otherwise than its profile says: `but topk 8`."""
        return self.run.profile_but if self.run is not None and self.run.profile == self.profile else ""

    @property
    def profile_words(self) -> str:
        """`eagle3-v1`, or of a server that others started `eagle3-v1, but topk 8`; empty: not known."""
        return ", ".join(filter(None, (self.profile, self.profile_but)))

    @property
    def story(self) -> LogStory | None:
        """What the log tells."""
        return self.evidence.story


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What a host's login needs a human for; the answer is never part of the state."""

    kind: Literal["host-key", "passphrase", "password", "second-factor"]
    place: str
    """What asks: a host, or a key file of this machine."""
    text: str
    """One line, fit for a terminal."""
    is_secret: bool = True
    """The answer is not shown while it is typed."""

    @property
    def awaited_words(self) -> str:
        """`waits for the password of edge (192.0.2.1:22)`: why a login does not go on."""
        what = {"second-factor": "your answer to", "host-key": "your word on the new host key of"}.get(self.kind)
        return f"waits for {what or f'the {self.kind} of'} {self.place}"


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system of a host."""

    mount: str
    used_percent: float
    free_mib: int


@dataclass(frozen=True, slots=True, eq=False)
class HostState:
    """One host."""

    name: str
    address: str
    """As the user calls it."""
    link: Link = "connecting"
    error: str | None = None
    """Why it is down, one sentence."""
    retry_at: float | None = None
    last_seen: float | None = None
    """When the last bytes of its monitor arrived."""
    connected_at: float | None = None
    """When its connection came up: the first seconds after it are the first look."""
    gpus: tuple[Gpu, ...] = ()
    gpus_at: float | None = None
    gpu_error: str | None = None
    """Why there are no GPU rows: no nvidia-smi, no driver, ..."""
    gpu_error_at: float | None = None
    """Since when."""
    checkup: CheckUp | None = None
    processes: tuple[GpuProcess, ...] = ()
    """Every process that holds GPU memory, also on a GPU that has no row."""
    memory_total_mib: int | None = None
    memory_available_mib: int | None = None
    watchers: tuple[Watcher, ...] = ()
    """Who else watches, oldest first."""
    told_watchers: tuple[Watcher, ...] = ()
    """Those of them whose coming is a line already."""
    question: Question | None = None
    """The login waits for an answer."""
    awaited: Question | None = None
    """Of another host's login, which this one cannot go on without: at a bastion, of a key that both use."""
    route: str = ""
    """Who logs in where, through what: `ops@gpu-a (192.0.2.7:22) through edge (192.0.2.1:22)`."""
    log_disks: tuple[Disk, ...] = ()
    """Where the logs of its servers and specdeck's runs are written."""

    @property
    def waits_for(self) -> str | None:
        """The answer without which its login does not go on, in words."""
        asked = self.question or self.awaited
        return asked.awaited_words if asked is not None else None


@dataclass(frozen=True, slots=True)
class Happening:
    """A line of the events pane and of the audit log."""

    at: float
    source: str
    """Server or host name."""
    text: str
    severity: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True, eq=False)
class FleetState:
    """Everything at one moment."""

    at: float
    """Unix seconds of the newest event."""
    hosts: tuple[HostState, ...] = ()
    servers: tuple[ServerState, ...] = ()
    """One for each server that answers requests: of a group the head, with the word of the whole."""
    happenings: tuple[Happening, ...] = ()
    """Newest last, at most 500."""
    ranks: tuple[ServerState, ...] = ()
    """The further ranks of groups."""
    alerts: AlertBook = field(default_factory=AlertBook)
    """What rings."""

    def server(self, name: str) -> ServerState | None:
        """The server of that name."""
        return next((server for server in self.everyone if server.name == name), None)

    @property
    def everyone(self) -> tuple[ServerState, ...]:
        """All servers and ranks: whatever runs on a host."""
        return (*self.servers, *self.ranks)

    def members(self, server: ServerState) -> tuple[ServerState, ...]:
        """The server alone, or all of its group, the head first."""
        if server.group is None:
            return (server,)
        return tuple(each for each in self.everyone if each.group and each.group.name == server.group.name)

    def host(self, name: str) -> HostState | None:
        """The host of that name."""
        return next((host for host in self.hosts if host.name == name), None)
