"""What the face (dashboard and command line) may ask of the running services: the one door between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from specdeck.config.objects import Fleet
from specdeck.parsing.lines import Line
from specdeck.quick_dataclass import dataclass
from specdeck.services.store import Store
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.snapshot import ActKind, Question

if TYPE_CHECKING:
    from specdeck.engines.recovery import Recovered
    from specdeck.services.log_older import OlderLines


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between the command that runs and the command that will."""

    name: str
    """`--speculative-eagle-topk`, `SGLANG_ENABLE_SPEC_V2`."""
    old: str | None
    """None: not there; empty: a bare flag."""
    new: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """One preflight check."""

    name: str
    state: Literal["passed", "failed", "unknown"]
    detail: str = ""
    """For a failed one: what is wrong and what to change."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A stop, launch, relaunch or pivot before it is asked: what the sheet shows and what will then be done, exactly."""

    act: ActKind
    server: str
    host: str
    old_profile: str | None
    new_profile: str | None
    pid: int | None
    """The process that will be stopped; None: nothing runs."""
    family: tuple[tuple[int, str], ...] = ()
    """(pid, name) of what will be ended, the server's own process first."""
    gpu_memory_mib: int | None = None
    changes: tuple[Change, ...] = ()
    command: str | None = None
    """The new command, as it can be pasted into a shell; None for a stop."""
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    drain_seconds: float = 0.0
    kill_after_seconds: float = 0.0
    owner: str | None = None
    """Who else looks after the process: `systemd unit vllm.service`; a stop is then the owner's own."""
    watchers: tuple[str, ...] = ()
    """Who else has a dashboard open on the host: `rk@laptop (read-only)`."""
    rolls_back: bool = False
    """If the new run dies while starting, the old profile is started again."""
    start_time: int | None = None
    """Of the process that will be stopped, in clock ticks since boot: a pid alone is no identity."""
    nodes: tuple["Plan", ...] = ()
    """Of a server that spans several hosts: the plan of each rank that is touched."""
    group_act: str | None = None
    """Of one rank: the name of the common act; it is launched when all nodes are free."""
    why: str | None = None
    """What nobody asked for needs a reason: it comes into the journal."""

    @property
    def is_allowed(self) -> bool:
        """No check failed."""
        return all(check.state != "failed" for check in self.checks)


class Deck(Protocol):
    """Everything that keys and verbs ask for. Answers come as events through the store."""

    store: Store
    is_read_only: bool

    @property
    def fleet(self) -> Fleet:
        """As the fleet file says, with the servers that were found since."""

    @property
    def strangers(self) -> Sequence["Recovered"]:
        """Servers that were found and stand in no file: each as an entry for the fleet file, with the profile that it runs."""

    async def take(self, fleet: Fleet) -> None:
        """Watch what the fleet file says now; what it says of as before goes on untouched. Raises Refused."""

    def look_at(self, server: str | None) -> None:
        """Follow this server's log closely (None: only those that start)."""

    def log_lines(self, server: str, after: int) -> Sequence[Line]:
        """The kept log lines with a sequence number above `after`; a bar that moves replaces its line in place."""

    async def older_lines(self, server: str, before: Line) -> "OlderLines":
        """The lines of this run's log before a kept one, a bounded piece of them. Raises UsageError, Refused, TransportError."""

    async def refresh(self) -> None:
        """Look again, now: runs, ports, GPU processes."""

    def answer(self, question: Question, answer: str | None) -> None:
        """The user's answer to the question of a login (`HostState.question`); None: declined. It is kept in memory only."""

    async def diagnose(self, server: str) -> Diagnosis:
        """Why it is as it is, from the whole log of its run. Raises UsageError, TransportError."""

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """Look and check; nothing is touched. Raises UsageError, Refused, TransportError.

        `end` is for a worker that no server answers for: `server` is `PID@HOST` then.
        """

    async def perform(self, plan: Plan) -> None:
        """Ask the host to do what the plan says; returns once the host has taken it. Raises Refused, TransportError."""
