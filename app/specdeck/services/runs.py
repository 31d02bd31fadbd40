"""What the host says of one server before an act: its newest run, its port, its family, the lock. Parsed from look.sh."""

import json
from collections.abc import Mapping
from dataclasses import field

from specdeck.config.objects import Server
from specdeck.engines.command import Command
from specdeck.engines.registry import COMMAND_WORDS
from specdeck.parsing.addresses import in_the_way_of
from specdeck.parsing.cgroup import Owner, owner_of
from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass
from specdeck.services.journal import Journal, parse_journal, tagged
from specdeck.services.run_records import two_numbers
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

ASK_SECONDS = 45
"""From the last look before an act to its begin on the host; who asks gives up after 30 s."""
SERVER_WORDS = COMMAND_WORDS
"""What a command line must hold to be looked at closer; the engines decide."""


@dataclass(frozen=True, slots=True)
class SeenProcess:
    """A process as /proc showed it: pid and start time are its identity."""

    pid: int
    start_time: int
    state: str
    argv: tuple[str, ...]
    name: str
    parent: int = 0
    user_id: int | None = None
    """None: /proc does not tell."""

    @property
    def words(self) -> str:
        """The head of its command line, else its name: for a sentence."""
        return plain(" ".join(self.argv[:4]) or self.name)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run's folder on the host."""

    number: str
    folder: str
    profile: str | None = None
    id: str = ""
    pid: int | None = None
    start_time: int | None = None
    boot: str = ""
    exit_status: int | None = None
    is_stop_asked: bool = False
    command: Command | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """Who works on the server's port."""

    is_held: bool
    """False: its holder is gone."""
    who: str
    act: str
    since: float
    """By the host's clock."""
    is_stuck: bool = False
    """Left by another user, or no lock of specdeck at all: nobody can act before it is removed."""

    def words(self, now: float) -> str:
        """`stop by ann@desk, 12 s ago`."""
        return f"{self.act or 'act'} by {self.who or 'somebody'}, {max(0, int(now - self.since))} s ago"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a server."""

    boot: str
    run: RunRecord | None = None
    is_listening: bool = False
    owners: tuple[SeenProcess, ...] = ()
    """Who holds the listening port, as far as the user may see."""
    members: tuple[SeenProcess, ...] = ()
    """The living family of the run, or of the process that was asked for."""
    above: tuple[SeenProcess, ...] = ()
    """What the port's owners hang on, up to the first process."""
    similar: tuple[SeenProcess, ...] = ()
    """Processes that may be a server of others that does not listen yet."""
    listeners: tuple[int, ...] = ()
    """Users of the listening sockets: told also where the processes are hidden."""
    users: Mapping[int, str] = field(default_factory=dict)
    me: int | None = None
    """Who looks."""
    first: SeenProcess | None = None
    """Process 1, where a family was asked for."""
    uptime: float | None = None
    """Seconds since boot, as start times count."""
    gpu_mib: dict[int, int] = field(default_factory=dict)
    """GPU memory by pid, by nvidia-smi's word."""
    lock: Lock | None = None
    watchers: tuple[str, ...] = ()
    """Presence entries of dashboards that live, as monitor.sh tells them."""
    journal: Journal = field(default_factory=Journal)
    """Of the newest act."""
    owned_by: Mapping[int, Owner] = field(default_factory=dict)
    """Who looks after a process that listens on the port: a systemd unit, a container, a Slurm job."""

    def user(self, user_id: int | None) -> str:
        """The user's name, as far as the host knows one."""
        return "another user" if user_id is None else self.users.get(user_id, f"uid {user_id}")

    def may_signal(self, process: SeenProcess) -> bool:
        """Its own user and root may; where nobody tells, the kernel will."""
        return self.me in (None, 0) or process.user_id in (None, self.me)

    @property
    def leader(self) -> SeenProcess | None:
        """The run's own process, if it lives."""
        if self.run is None or self.run.boot != self.boot:
            return None
        identity = (self.run.pid, self.run.start_time)
        return next((member for member in self.members if (member.pid, member.start_time) == identity), None)

    @property
    def has_family(self) -> bool:
        """Some of this boot's run still lives, be it only a worker that its parent left behind."""
        return self.run is not None and self.run.boot == self.boot and bool(self.members) and self.run.pid is not None


def only_at(bind: str) -> str:
    """The line for proc.sh that says which listeners of a port count."""
    return f"port_at='{' '.join(in_the_way_of(bind))}'"


async def look(transport: Transport, server: Server, target: str = "-") -> Look:
    """Look at one server on its host, and at the family of `target` (PID:START). Raises TransportError."""
    text = "\n".join((only_at(server.bind), *map(script_text, ("proc", "lock", "look", "steps"))))
    script = Script(text, (server.name, str(server.port), SERVER_WORDS, target), is_urgent=True)
    outcome = await transport.run(script, limit_seconds=30)
    return parse_look(outcome.stdout)


def asked_in_time(seen: Look) -> str:
    """ask.sh, which does nothing if it reaches the host long after this look: both times are the host's own."""
    limit = "" if seen.uptime is None else f"not_after={int(seen.uptime) + ASK_SECONDS}\n"
    return limit + script_text("ask")


def parse_look(answer: bytes) -> Look:
    """look.sh's tagged lines. Never raises on content: what cannot be read is left out."""
    told: dict[str, str] = {}
    processes: dict[str, list[SeenProcess]] = {"owner": [], "member": [], "above": [], "similar": [], "first": []}
    gpu_mib: dict[int, int] = {}
    watchers: list[str] = []
    listeners: list[int] = []
    users: dict[int, str] = {}
    for tag, rest in tagged(answer):
        if tag in processes:
            processes[tag] += _process(rest)
        elif tag == "app":
            _count_memory(gpu_mib, rest)
        elif tag == "listener" and rest.isdecimal():
            listeners.append(int(rest))
        elif tag == "user":
            number, _, name = rest.partition(" ")
            users |= {int(number): plain(name)} if number.isdecimal() else {}
        elif tag == "watcher":
            watchers.append(rest)
        else:
            told[tag] = rest
    return Look(
        boot=told.get("boot", ""),
        run=_run(told),
        is_listening=told.get("listening") == "yes",
        owners=tuple(processes["owner"]),
        members=tuple(processes["member"]),
        above=tuple(processes["above"]),
        similar=tuple(processes["similar"]),
        listeners=tuple(listeners),
        users=users,
        first=next(iter(processes["first"]), None),
        uptime=float(up) if (up := told.get("uptime", "")).replace(".", "", 1).isdecimal() else None,
        me=int(me) if (me := told.get("me", "")).isdecimal() else None,
        gpu_mib=gpu_mib,
        lock=read_lock(told.get("lock", "")) if "lock" in told else None,
        watchers=tuple(watchers),
        journal=parse_journal(tagged(answer)),
        owned_by=_owners(told),
    )


def _owners(told: dict[str, str]) -> dict[int, Owner]:
    """By the control groups of the port's holders."""
    ours = _text(told.get("groups.ours", ""))
    holders = {tag.removeprefix("groups."): rest for tag, rest in told.items() if tag.startswith("groups.")}
    found = {int(pid): owner_of(_text(rest), ours) for pid, rest in holders.items() if pid.isdigit()}
    return {pid: owner for pid, owner in found.items() if owner is not None}


def _text(hexadecimal: str) -> str:
    try:
        return bytes.fromhex(hexadecimal).decode("utf-8", "replace")
    except ValueError:
        return ""


def _process(rest: str) -> list[SeenProcess]:
    """`PID START STATE PARENT UID HEX- NAME`."""
    words = rest.split(" ", 6)
    try:
        raw = bytes.fromhex(words[5].rstrip("-"))
        argv = tuple(part.decode("utf-8", "replace") for part in raw.rstrip(b"\0").split(b"\0")) if raw else ()
        user_id = int(words[4]) if words[4].isdecimal() else None
        return [SeenProcess(int(words[0]), int(words[1]), words[2], argv, words[6], int(words[3]), user_id)]
    except (IndexError, ValueError):
        return []


def _count_memory(gpu_mib: dict[int, int], rest: str) -> None:
    """`PID, MIB`: a process has a row per GPU."""
    pid, _, mib = rest.partition(",")
    if pid.strip().isdigit() and mib.strip().isdigit():
        gpu_mib[int(pid)] = gpu_mib.get(int(pid), 0) + int(mib)


def _run(told: dict[str, str]) -> RunRecord | None:
    if "run" not in told:
        return None
    pid, start = two_numbers(told.get("run.pid", ""))
    return RunRecord(
        number=told["run"],
        folder=told.get("folder", ""),
        profile=told.get("run.profile"),
        id=told.get("run.id", ""),
        pid=pid,
        start_time=start,
        boot=told.get("run.boot", ""),
        exit_status=two_numbers(told.get("run.exit", ""))[0],
        is_stop_asked="run.stop" in told,
        command=read_spec(told.get("run.spec", "")),
    )


def read_lock(rest: str) -> Lock:
    """`held|gone|stuck|strange PID START SINCE KIND WHO`; anybody may have written what follows the first word."""
    words = [*plain(rest).split(" "), *[""] * 6]
    since = float(words[3]) if words[3].isdecimal() and len(words[3]) < 16 else 0.0
    return Lock(words[0] == "held", words[5], words[4], since, is_stuck=words[0] in ("stuck", "strange"))


def write_spec(command: Command) -> str:
    """A command as one line of JSON, for the run's folder."""
    return json.dumps(
        {"argv": command.argv, "env": command.env, "workdir": command.workdir, "setup": command.setup}
        | ({"login_shell": True} if command.login_shell else {}),
        separators=(",", ":"),
    )


def read_spec(line: str) -> Command | None:
    """The command that a run was started with; None if the line is not one."""
    try:
        told = json.loads(line)
        return Command(
            argv=tuple(map(str, told["argv"])),
            env=tuple((str(name), str(value)) for name, value in told["env"]),
            workdir=told["workdir"] if told["workdir"] is None else str(told["workdir"]),
            setup=tuple(map(str, told["setup"])),
            login_shell=told.get("login_shell") is True,
        )
    except (ValueError, KeyError, TypeError):
        return None
