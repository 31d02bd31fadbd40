"""A captured life through specdeck's own core: answers to the monitor, bytes of the log and health polls, at their times."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.replays.lives import LIVES, Life, Row

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.engines.reader import LogReader
from specdeck.parsing.proc import ProcessStat, process_stat
from specdeck.services.answers import Answers, Listening, RunFiles
from specdeck.services.health_words import witness
from specdeck.services.host_monitor import FAST_TICK_SECONDS, TICK_SECONDS
from specdeck.services.host_place import Place
from specdeck.services.server_monitor import ServerMonitor
from specdeck.services.survey import Survey
from specdeck.state.events import Event, HealthAnswered, HostConnected, HostHeard, LoadSampled, LogAdvanced, Ticked
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, ServerState, Word
from specdeck.transport.asking import NoReply, Reply

SERVER = Server("llama", "lab", "/data/models/llama-9b-rand", 30000, profiles=("p",))
FLEET = Fleet((Host("lab", "root@lab", servers=(SERVER,)),), {"p": Profile("p", "sglang")})
BOOT = "5f0c2f3e-0000-4000-8000-0123456789ab"
SOCKET = "4711"
LOAD_SECONDS = 2.0
"""How often the dashboard asks for the load."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What the dashboard said after one row of the timeline."""

    row: Row
    server: ServerState
    state: FleetState


class Watch:
    """One dashboard that looks at one life."""

    def __init__(self, life: Life, *, is_told: bool) -> None:
        self._life = life
        self._is_told = is_told
        self._at = 0.0
        self.state: FleetState = initial_state(FLEET, -1.0)
        self._monitor = ServerMonitor(SERVER, "sglang", self.take, lambda: self._at)
        self._reader = LogReader("sglang")
        self._read = 0

    def take(self, event: Event) -> None:
        self.state = reduce(self.state, event, self._at)

    def begin(self) -> None:
        """The dashboard stands before the server is launched."""
        self._at = -1.0
        self.take(HostConnected("lab"))
        self._monitor.begin(Place(boot_id=BOOT, state_folder="/state", home="/home/ann"))
        self._monitor.take("k", Answers({"k": RunFiles()}))

    @property
    def server(self) -> ServerState:
        """What is said now."""
        return self.state.servers[0]

    @property
    def pace(self) -> float:
        """Seconds between two ticks of the monitor."""
        return FAST_TICK_SECONDS if self.server.word in (Word.STARTING, Word.STOPPING) else TICK_SECONDS

    def look(self, row: Row) -> None:
        """One tick of the monitor, and a survey if that wants one."""
        self._at = row.at
        self.take(HostHeard("lab"))
        while self._monitor.take("k", self._answers(row)):
            pass
        while self._monitor.wants_survey:
            self._monitor.begin_survey()
            self._monitor.take_survey(self._survey(row))

    def health(self, at: float, code: str, seconds: float) -> None:
        self._at = at
        reply: Reply | NoReply = Reply(int(code), b"", seconds) if code.isdecimal() and code != "000" else NoReply(
            "refused" if code == "refused" else "timeout", "")  # fmt: skip
        self.take(HealthAnswered("llama", witness(reply, at)))

    def load(self, at: float) -> None:
        """What /metrics would have said: the load's own record of its streams tells."""
        self._at = at
        running, tokens = told_load(self._life, at)
        self.take(LoadSampled("llama", LoadReading(tokens, "decode", running=running, queued=0)))

    def read_log(self, row: Row) -> None:
        """What is there by now, and a second of the clock; the rest of a line that a dead process left comes with its end."""
        self._at = row.at
        self._read_new_bytes(row)
        self.take(Ticked())

    def _read_new_bytes(self, row: Row) -> None:
        is_gone = row.processes.get(self._life.pid, "Z") == "Z" and row.log_bytes == self._read
        if row.log_bytes > self._read:
            self._reader.feed(self._life.log[self._read : row.log_bytes], row.at)
            self._read = row.log_bytes
        elif is_gone and not self._reader.story.is_complete:
            self._reader.end()
        else:
            return
        self._monitor._take_log_event(LogAdvanced("llama", self._reader.story))

    def _answers(self, row: Row) -> Answers:
        life, asked = self._life, self._life.stop_asked_at
        items = {"pid": f"{life.pid} {_ticks(life.born[life.pid])}", "boot": BOOT, "started": "0", "profile": "p"}
        if self._is_told and asked is not None and row.at >= asked:
            items["stop"] = "ann"
        if row.processes.get(life.pid, "Z") == "Z":
            items |= {"exit": str(life.exit_status), "ended": str(_ticks(life.ended_at))}
        listening = {30000: (Listening(SOCKET, "0100007F"),)} if row.listens else {}
        stats = {pid: _stat(life, pid, row) for pid in self._asked_pids}
        return Answers({"k": RunFiles("0001", items)}, stats, listening)

    @property
    def _asked_pids(self) -> list[int]:
        """Only what the monitor asks for is answered."""
        questions = [question.split() for question in self._monitor.questions("k")]
        return [int(words[1]) for words in questions if words[0] == "pid"]

    def _survey(self, row: Row) -> Survey:
        lines = (_stat(self._life, pid, row).encode() for pid in row.processes)
        processes: dict[int, ProcessStat] = {stat.pid: stat for line in lines if (stat := process_stat(line))}
        owner = self._life.port_owner or self._life.pid
        if owner != self._life.pid:
            processes[owner] = ProcessStat(owner, "python3", "S", 1, owner, owner, 1)
        return Survey(processes, {SOCKET: (owner,)} if row.listens else {}, None, None)


def _stat(life: Life, pid: int, row: Row) -> str:
    """A line of /proc/PID/stat; empty for a process that is not there."""
    if pid not in row.processes:
        return ""
    is_parent = pid == life.pid
    parent_state = row.processes.get(life.pid, "Z")
    parent = 1 if is_parent or parent_state == "Z" else life.pid
    name = life.names.get(pid, "python3")
    words = f"{pid} ({name}) {row.processes[pid]} {parent} {life.pid} {life.pid} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0"
    return f"{words} {_ticks(life.born[pid])} 0 0"


def _ticks(seconds: float) -> int:
    """Since boot, which was a minute before the spawn."""
    return int((60.0 + seconds) * 100)


def told_load(life: Life, at: float) -> tuple[int, float]:
    """Streams that are open, and the tokens that all streams have got; a stopped scheduler makes none."""
    halt = (life.marks.get("SIGSTOP to scheduler 1725", 0.0), life.marks.get("SIGCONT to scheduler", 0.0))
    running, tokens = 0, 0.0
    for each in life.requests:
        if each.began <= at:
            running += at < each.ended
            whole = _worked(each.first_token, each.ended, halt)
            tokens += each.tokens * min(1.0, max(0.0, _worked(each.first_token, min(at, each.ended), halt)) / whole)
    return running, round(tokens)


def _worked(begin: float, end: float, halt: tuple[float, float]) -> float:
    """Seconds between two moments in which the scheduler ran."""
    return end - begin - max(0.0, min(end, halt[1]) - max(begin, halt[0]))


def _moments(life: Life, *, is_told: bool, has_metrics: bool, at_own_pace: bool) -> Iterator[Moment]:
    watch = Watch(life, is_told=is_told)
    watch.begin()
    polls, load_at, look_at = iter((*life.polls, None)), 0.0, 0.0
    poll = next(polls)
    up_at = next((each.at for each in life.polls if each.code == "200"), None)
    for row in life.rows:
        while poll is not None and poll.at <= row.at:
            watch.health(poll.at, poll.code, poll.seconds)
            poll = next(polls)
        is_up = up_at is not None and row.at >= up_at and row.listens and life.port_owner is None
        if is_up and has_metrics and row.at >= load_at and life.requests:
            load_at = row.at + LOAD_SECONDS
            watch.load(row.at)
        if row.at >= look_at:
            watch.look(row)
            look_at = row.at + watch.pace if at_own_pace else 0.0
        watch.read_log(row)
        yield Moment(row, watch.server, watch.state)


@cache
def watched(
    name: str, *, is_told: bool = True, has_metrics: bool = True, at_own_pace: bool = False
) -> tuple[Moment, ...]:
    """All that the dashboard said. Not told: the stop was somebody else's. No metrics: the log alone tells the load.

    At its own pace: it looks at processes and ports as often as the monitor does, not at every row.
    """
    moments = _moments(LIVES[name], is_told=is_told, has_metrics=has_metrics, at_own_pace=at_own_pace)
    return tuple(moments)


def said(moments: tuple[Moment, ...]) -> tuple[str, ...]:
    """The word at each row."""
    return tuple(str(moment.server.word) for moment in moments)


def words_of(moments: tuple[Moment, ...]) -> list[tuple[str, float]]:
    """When each word began."""
    words = said(moments)
    return [(word, moments[place].row.at) for place, word in enumerate(words) if place == 0 or words[place - 1] != word]


def told_events(moments: tuple[Moment, ...]) -> list[str]:
    """The lines of the events pane, oldest first."""
    return [each.text for each in moments[-1].state.happenings]
