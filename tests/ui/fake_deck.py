"""A deck without hosts: scripted states, lines and plans; it remembers what it was asked."""

from collections.abc import Sequence
from pathlib import Path

from tests.ui.fleets import NOW, PROFILES, fleet

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.engines.recovery import Recovered
from specdeck.parsing.lines import Line
from specdeck.services.deck import Change, Check, Plan
from specdeck.services.log_older import OlderLines
from specdeck.services.store import Store
from specdeck.state.alerts import silenced
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.events import AlertsSilenced, Event, Noted
from specdeck.state.snapshot import ActKind, FleetState, Happening, Question


class Clock:
    """Moves when told."""

    def __init__(self, at: float = NOW) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def lines(texts: Sequence[str], *, start: int = 1) -> list[Line]:
    """Log lines, numbered from `start`."""
    return [Line(text, start + index, 0) for index, text in enumerate(texts)]


def configured() -> Fleet:
    """The fleet file of the scripted states."""
    servers = {
        "blackwell": [("kimi", "/data/models/kimi-k2")],
        "h200-a": [("qwen", "/data/models/qwen3-32b"), ("qwen-spec", "/data/models/qwen3-32b")],
        "h200-b": [("glm", "/data/models/glm-4.6")],
        "old-box": [("llama", "/data/models/llama-3.1-8b")],
    }
    hosts = tuple(
        Host(
            host,
            f"root@{host}",
            servers=tuple(Server(name, host, model, 30_000, profiles=PROFILES) for name, model in mine),
        )
        for host, mine in servers.items()
    )
    about = {
        "eagle3-v1": "EAGLE-3, v1 worker: four branches, 16 draft tokens",
        "eagle3-v2": "EAGLE-3 with the v2 overlap worker, one draft chain",
        "baseline": "no speculation",
    }
    profiles = {name: Profile(name, "sglang", text) for name, text in about.items()}
    return Fleet(hosts, profiles, Path("lab-fleet.yaml"))


def pivot_plan(act: ActKind = "pivot", server: str = "kimi", *, checks: Sequence[Check] = ()) -> Plan:
    """What the sheet of a pivot shows."""
    is_stop = act == "stop"
    changes = (
        Change("SGLANG_ENABLE_SPEC_V2", "True", "False"),
        Change("--speculative-eagle-topk", "1", "4"),
        Change("--speculative-num-draft-tokens", "4", "16"),
    )
    passed = tuple(Check(name, "passed") for name in ("paths", "version", "flags", "port", "lock"))
    return Plan(
        act, server, "blackwell", "eagle3-v2", None if is_stop else "eagle3-v1" if act == "pivot" else "eagle3-v2",
        41_233, tuple((41_233 + i, "python" if i == 0 else f"sglang::scheduler_TP{i - 1}") for i in range(9)), 279_000,
        changes if act == "pivot" else (), None if is_stop else "python -m sglang.launch_server ...",
        ("On SGLang 0.5.12 eagle3-v1 is the v1 worker without overlap.",) if act == "pivot" else (),
        tuple(checks) or passed, 30.0, 60.0,
    )  # fmt: skip


class FakeDeck:
    """Keeps to the Deck protocol."""

    def __init__(
        self, state: FleetState | None = None, *, is_read_only: bool = False, clock: Clock | None = None
    ) -> None:
        self.clock = clock or Clock()
        self.fleet = configured()
        self.store = Store(state or fleet(), self._reduce, self.clock)
        self.is_read_only = is_read_only
        self.diagnosed: list[str] = []
        self.asked: list[tuple[ActKind, str, str | None]] = []
        self.performed: list[Plan] = []
        self.looked_at: list[str | None] = []
        self.refreshes = 0
        self.strangers: list[Recovered] = []
        self.taken: list[Fleet] = []
        self.answers: list[tuple[Question, str | None]] = []
        self.logs: dict[str, list[Line]] = {}
        self.older: dict[str, list[Line]] = {}
        """Lines that only the host has."""
        self.next_plan: Plan | Exception | None = None
        self.perform_error: Exception | None = None
        self._next: FleetState | None = None

    def _reduce(self, state: FleetState, event: Event, at: float) -> FleetState:
        if self._next is not None:
            state, self._next = self._next, None
            return state
        if isinstance(event, AlertsSilenced):
            return silenced(state, event.silence)
        if isinstance(event, Noted):
            happening = Happening(at, event.source, event.text, event.severity)
            return FleetState(at, state.hosts, state.servers, (*state.happenings, happening))
        return state

    def publish(self, state: FleetState) -> None:
        """Make this the newest state."""
        self._next = state
        self.store.apply(Noted("test", "publish"))

    async def take(self, fleet: Fleet) -> None:
        """Remembered, and shown from now on."""
        self.taken.append(fleet)
        self.fleet = fleet

    def look_at(self, server: str | None) -> None:
        """Remembered."""
        self.looked_at.append(server)

    def log_lines(self, server: str, after: int) -> Sequence[Line]:
        """The scripted lines."""
        return [line for line in self.logs.get(server, []) if line.number > after]

    async def older_lines(self, server: str, before: Line) -> OlderLines:
        """The scripted ones, the newest first, two at a time."""
        known = [line for line in self.older.get(server, []) if line.offset < before.offset]
        return OlderLines(tuple(known[-2:]), 0 if len(known) <= 2 else known[-2].offset)

    async def refresh(self) -> None:
        """Counted."""
        self.refreshes += 1

    def answer(self, question: Question, answer: str | None) -> None:
        """Remembered."""
        self.answers.append((question, answer))

    async def diagnose(self, server: str) -> Diagnosis:
        """By the cause of the scripted state."""
        self.diagnosed.append(server)
        seen = self.store.state.server(server)
        assert seen is not None
        cause = seen.story.cause if seen.story is not None else None
        context = lines([f"line {number}" for number in range(30, 39)], start=30)
        return Diagnosis(
            server, str(seen.word), "/var/log/server.log", seen.story, cause, "exit 137, SIGKILL",
            advice=(cause.hint,) if cause is not None and cause.hint else (), context=tuple(context), because=seen.because,
        )  # fmt: skip

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """The scripted plan."""
        self.asked.append((act, server, profile))
        if isinstance(self.next_plan, Exception):
            raise self.next_plan
        return self.next_plan or pivot_plan(act, server)

    async def perform(self, plan: Plan) -> None:
        """Remembered."""
        if self.perform_error is not None:
            raise self.perform_error
        self.performed.append(plan)
