"""What the monitor knows of one server: its newest run or the owner of its port, its process, its journal; posts what changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import isabs, join
from typing import Literal

from specdeck.config.objects import Profile, Server
from specdeck.engines.base import Engine
from specdeck.engines.registry import ENGINES
from specdeck.engines.unknown import UNKNOWN
from specdeck.parsing.plain import plain
from specdeck.parsing.proc import ProcessStat, process_stat
from specdeck.parsing.secrets import without_secrets
from specdeck.services.answers import Answers, Listening, RunFiles, loopback_of
from specdeck.services.cpu_use import MOST_PROCESSES, TICKS_A_SECOND, CpuUse
from specdeck.services.described import Described
from specdeck.services.discovery import engine_of, recovered, with_words
from specdeck.services.family import Family
from specdeck.services.left import is_still_left, left_questions
from specdeck.services.log_follower import LogFollower, LogTarget
from specdeck.services.presence import act_elsewhere, read_port_lock
from specdeck.services.probe_loop import ProbeLoop
from specdeck.services.run_records import HostClock, is_actor_needed, read_act, read_actor, read_exit, read_run
from specdeck.services.survey import Survey
from specdeck.services.workers import MOST_WATCHED, Workers
from specdeck.state.events import (
    ActAdvanced,
    Event,
    LockSeen,
    LogAdvanced,
    LogUnreadable,
    PortSeen,
    ProcessSeen,
    RunFound,
)
from specdeck.state.snapshot import Act, PortLock, PortWitness, ProcessWitness, RunIdentity


@dataclass(frozen=True, slots=True)
class Place:
    """What the host said of itself when the monitor began."""

    boot_id: str = ""
    home: str = "/"
    state_folder: str = ""
    clock: HostClock = field(default_factory=HostClock)
    booted_at: float | None = None
    """Unix seconds by the host's clock."""

    def started_at(self, start_time: int) -> float | None:
        """When a process began, by our clock, from field 22 of its stat."""
        return None if self.booted_at is None else self.clock.ours(self.booted_at + start_time / TICKS_A_SECOND)


class ServerMonitor:
    """Of one server; survives reconnects."""

    def __init__(
        self,
        server: Server,
        engine: str | None,
        post: Callable[[Event], None],
        clock: Callable[[], float],
        profiles: Mapping[str, Profile] | None = None,
    ) -> None:
        self.server = server
        self._profiles = profiles or {}
        self.follower = LogFollower(server.name, self._take_log_event, clock)
        self.probes = ProbeLoop(server, post, clock)
        self.wants_survey = True
        self._engine = engine
        self._post = post
        self._place = Place()
        self._files = RunFiles()
        self._run: RunIdentity | None = None
        self._foreign: RunIdentity | None = None
        self._no_log = ""
        """Why a server of others has no log that can be read."""
        self._stat: ProcessStat | None = None
        self._exit_status: int | None = None
        self._kin = Family()
        self.unclaimed_mib: int | None = None
        """GPU memory of the host that no process answers for."""
        self._left_gone: str | None = None
        """What a stop had left, and is seen to be gone."""
        self._listening: tuple[Listening, ...] = ()
        self._owner: ProcessStat | None = None
        self._is_owner_known = False
        self._has_looked = False
        """The process of this life was asked for on this connection."""
        self._suspect: tuple[Described, str] | None = None
        self._command: str | None = None
        self._told_life: RunIdentity | None = None
        self._posted: dict[type[Event], Event] = {}
        self._log_word: str | None = None
        self._lock: PortLock | None = None
        self._is_lock_old = False
        self._cpu = CpuUse()
        self._workers = Workers()
        self._clock = clock

    @property
    def inodes(self) -> tuple[str, ...]:
        """Of the sockets that listen on the server's port."""
        return tuple(row.inode for row in self._listening)

    @property
    def identity(self) -> RunIdentity | None:
        """The life of the server that is watched now."""
        if self._foreign or self._run is None:
            return self._foreign
        return replace(self._run, command=self._command or None)

    @property
    def family(self) -> tuple[int, ...]:
        """All processes of this life, as far as the last survey saw them."""
        return self._kin.pids

    @property
    def _family(self) -> tuple[int, ...]:
        return self._kin.pids

    @property
    def engine(self) -> Engine | None:
        """By the profile, the command line or the log; None: not known yet."""
        return ENGINES.get(self._engine or "") or (UNKNOWN if self._is_of_nobody else None)

    @property
    def _is_of_nobody(self) -> bool:
        """It runs with a command line that no engine knows, and no profile says what it is."""
        return self._engine is None and self._foreign is not None

    def begin(self, place: Place) -> None:
        """The connection is new: what was posted before is posted again."""
        self._place = place
        self._has_looked = False
        self._posted.clear()
        self.wants_survey = True

    def questions(self, key: str) -> list[str]:
        """What to ask the monitor in this tick, but the port."""
        asked = [f"lock {key} {self.server.port}", f"run {key} {self.server.name}"]
        asked += [f"pid {identity.pid}" for identity in (self.identity,) if identity and identity.pid]
        asked += [f"pid {pid}" for pid in self._measured or self._workers.pids[:MOST_WATCHED]]
        asked += [*self._kin.questions(is_alive=self._is_alive), *left_questions(self._files.left)]
        asked += [f"pid {pid}" for pid in (read_actor(self._files)[:1]) if pid and is_actor_needed(self._files)]
        if self._run and self._command is None:
            asked.append(f"text {key} {self._folder}/{self._run.run}/command")
        if self.follower.awaited_path:
            asked.append(f"file {key} {self.follower.awaited_path}")
        return asked

    def take(self, key: str, answers: Answers) -> bool:
        """Take the answers of a tick and post what they change; True: ask again at once, there is a new run."""
        known, self._files = self._run, answers.runs.get(key, RunFiles())
        self._take_lock(read_port_lock(answers.locks.get(key), self._place.clock))
        self._run = read_run(self._files, self._folder, self._place.clock)
        self._take_port(answers.listening.get(self.server.port, ()))
        if not _is_same_life(known, self._run):
            self._begin_life()
            if self._run is not None:
                return True
        self._command = answers.texts.get(key, self._command or "")
        if self._run and self._run.boot_id == self._place.boot_id:
            self._exit_status = read_exit(self._files)
        self._take_process(answers.stats)
        self.wants_survey |= self._workers.has_lost(answers.stats)
        if self._workers.look(answers.stats, self._stat.pid if self._stat else None):
            self.probes.poke()
        self._has_looked = True
        self._tell(answers)
        if answers.files.get(key) == "readable":
            self.follower.appeared()
        return False

    def suspect(self, process: Described, engine: str) -> None:
        """Others started this process as the server; it may not listen yet."""
        if not self._is_alive:
            self._suspect = (process, engine)
            self.wants_survey = True

    def begin_survey(self) -> tuple[str, ...]:
        """A survey begins: the inodes of the sockets whose holders it must find."""
        self.wants_survey = False
        return self.inodes

    def take_survey(self, survey: Survey) -> tuple[int, ...]:
        """Who belongs to the family, who owns the port; pids that must be described."""
        if not self._has_looked:
            self.wants_survey = True
            return ()
        self._adopt_suspect(survey)
        identity = self.identity if self._is_alive else None
        self._see_family(survey)
        if self._is_alive:
            self._workers.see(self._kin.pids, self._kin.names)
        owners = [pid for inode in self.inodes for pid in survey.owners.get(inode, ())]
        if not self.wants_survey:  # else the port changed meanwhile, and another survey follows
            self._is_owner_known = True
            leader = _leader(owners, self._family, survey.processes)
            self._owner = survey.processes.get(leader) if leader else None
        self._tell_process_and_port()
        unknown = [identity.pid] if identity and self._engine is None else []
        unknown += [owner.pid for owner in (self._owner,) if owner and owner.pid not in self._family]
        return tuple(unknown)

    def take_description(self, survey: Survey, described: Mapping[int, Described]) -> None:
        """A process that others started listens on the port: it is the server if an engine knows its command line.

        Where the fleet file names no profile, it says no more than the port: then whoever listens there is the server.
        """
        identity, owner = self.identity, self._owner
        if identity and self._engine is None and identity.pid in described:
            self._engine = _name_of(described[identity.pid])
        process = with_words(described[owner.pid]) if owner and owner.pid in described else None
        if owner is None or process is None or self._is_alive or self._is_run(owner):
            return
        engine = _name_of(process)
        if engine is not None or (self._engine is None and not self.server.profiles):
            self._adopt(owner, process, engine, survey)

    def _adopt_suspect(self, survey: Survey) -> None:
        if self._suspect is None or self._is_alive:
            return
        process, engine = self._suspect
        self._suspect = None
        stat = survey.processes.get(process.pid)
        if stat is not None and not self._is_run(stat):
            self._adopt(stat, process, engine, survey)

    def _adopt(self, stat: ProcessStat, process: Described, engine: str | None, survey: Survey) -> None:
        """Watch a life of the server that has no run folder."""
        self._engine = engine
        self._no_log = process.no_log
        profile, but = self._nearest(process, engine)
        self._foreign = RunIdentity(
            run="",
            pid=stat.pid,
            start_time=stat.start_time,
            boot_id=self._place.boot_id,
            profile=profile,
            profile_but=but,
            log=self._log_path(process),
            started_at=self._place.started_at(stat.start_time),
            started_by=process.owner.words if process.owner else None,
            command=without_secrets(plain(" ".join(process.argv))),
        )
        self._stat = stat
        self._exit_status = None
        self._see_family(survey)
        self._tell(Answers())

    def _nearest(self, process: Described, engine: str | None) -> tuple[str | None, str]:
        """The profile that a server of others comes nearest to, and what is different."""
        if engine is None:
            return None, ""
        server = self.server
        seen = recovered(
            process, engine, server.port, self._profiles, name=server.name, host=server.host, preferred=server.profiles
        )
        return (None, "") if seen.nearest is None else (seen.nearest.profile.name, seen.nearest.but)

    def _see_family(self, survey: Survey) -> None:
        """Of a living leader, or of one of this boot that is gone."""
        identity = self.identity
        is_here = identity is not None and identity.boot_id in ("", self._place.boot_id)
        leader = identity.pid if identity and is_here else None
        ended = self._files.items.get("ended", "") if self._foreign is None else ""
        self._kin.see(survey, leader, is_alive=self._is_alive, ended=int(ended) if ended.isdecimal() else None)

    @property
    def _measured(self) -> tuple[int, ...]:
        """The rest of the family while it starts: a start that says nothing may compile."""
        if self._log_word != "starting" or not self._is_alive:
            return ()
        return tuple(pid for pid in self._family if self._stat is None or pid != self._stat.pid)[:MOST_PROCESSES]

    @property
    def _folder(self) -> str:
        return join(self._place.state_folder, self.server.name)

    def _begin_life(self) -> None:
        """The newest run is another one: nothing that was seen of the last counts."""
        self._has_looked = False
        self._foreign = None
        self._stat = None
        self._cpu = CpuUse()
        self._workers = Workers()
        self._exit_status = None
        self._kin = Family()
        self._command = None
        self.wants_survey = True

    @property
    def _is_alive(self) -> bool:
        identity, stat = self.identity, self._stat
        return bool(
            identity
            and stat
            and not stat.is_dead
            and (stat.pid, stat.start_time) == (identity.pid, identity.start_time)
            and identity.boot_id in ("", self._place.boot_id)
        )

    def _is_run(self, process: ProcessStat) -> bool:
        run = self._run
        return run is not None and (run.pid, run.start_time) == (process.pid, process.start_time)

    def _take_port(self, rows: tuple[Listening, ...]) -> None:
        if rows == self._listening:
            return
        self._listening = rows
        self._owner = None
        self._is_owner_known = False
        self.wants_survey = True
        self.probes.poke()

    def _take_process(self, stats: Mapping[int, str]) -> None:
        identity = self.identity
        was_alive = self._is_alive
        if identity is None or not identity.pid:
            self._stat = None
        elif identity.pid in stats:
            self._stat = process_stat(stats[identity.pid].encode("utf-8", "surrogateescape"))
        if was_alive != self._is_alive:
            self.wants_survey = True
            self._kin.leader_changed(is_alive=self._is_alive)
            self.probes.poke()
        if not self._is_alive and self._kin.prune(stats):
            self.wants_survey = True
        self._take_cpu(stats)

    def _take_cpu(self, stats: Mapping[int, str]) -> None:
        is_measured = self._log_word == "starting" and self._is_alive
        pids = (self._stat.pid, *self._measured) if is_measured and self._stat else ()
        lines = (stats[pid].encode("utf-8", "surrogateescape") for pid in pids if pid in stats)
        self._cpu.take((stat for line in lines if (stat := process_stat(line))), self._clock())

    def _tell(self, answers: Answers) -> None:
        identity = self.identity
        if not _is_same_life(self._told_life, identity):
            self._told_life = identity
            self._posted.clear()  # with another life the state forgets what it knew of the last
        self._post_new(RunFound(self.server.name, identity, stop_asked=self._is_stop_asked))
        self._tell_process_and_port()
        self._tell_act(answers)
        self._aim_log(identity)
        if self._has_looked and self._process_witness().state in ("gone", "zombie"):
            self.follower.over()
        row = self._listening[0] if self._listening else None
        is_asked = row is not None and not self.server.is_rank  # the health of another rank than the head says nothing
        self.probes.aim(loopback_of(row.address) if row and is_asked else None, self.engine)

    @property
    def _is_stop_asked(self) -> bool:
        return self._foreign is None and "stop" in self._files.items

    def _tell_process_and_port(self) -> None:
        self._post_new(ProcessSeen(self.server.name, self._process_witness()))
        if self._is_owner_known or not self._listening:
            self._post_new(PortSeen(self.server.name, self._port_witness()))

    def _process_witness(self) -> ProcessWitness:
        identity = self.identity
        if identity is None:
            return ProcessWitness("none")
        if not identity.pid:
            return ProcessWitness("gone", exit_status=self._exit_status)
        if self._is_alive:
            return ProcessWitness(
                "alive",
                identity.pid,
                self._family,
                is_busy=self._cpu.is_busy,
                is_engine_gone=self._workers.are_gone,
                halted=self._workers.halted,
            )
        if self._stat and self._stat.is_dead and self._stat.start_time == identity.start_time:
            return self._gone_witness("zombie", identity.pid)
        return self._gone_witness("gone", identity.pid)

    def _gone_witness(self, state: Literal["zombie", "gone"], pid: int) -> ProcessWitness:
        return ProcessWitness(
            state, pid, self._family, self._exit_status, is_family_seen=self._kin.is_seen, names=self._kin.names
        )

    def _port_witness(self) -> PortWitness:
        if not self._listening:
            return PortWitness("closed")
        if self._owner is None:
            return PortWitness("open")
        is_ours = self._owner.pid in self._family
        return PortWitness("ours" if is_ours else "stranger", self._owner.pid, self._owner.name)

    def _take_lock(self, lock: PortLock | None) -> None:
        """Seen twice it is no act that just begins its journal."""
        self._is_lock_old = lock is not None and lock == self._lock
        self._lock = lock
        self._post_new(LockSeen(self.server.name, lock))

    def _tell_act(self, answers: Answers) -> None:
        act = read_act(self._files, self._place.clock)
        blocked = act.detail if act and act.step == "blocked" and self._is_still_left(answers) else None
        if act and is_actor_needed(self._files) and self._is_actor_gone(answers):
            act = _broken_off(act)
        if (act is None or act.is_over) and self._lock and self._is_lock_old:
            act = act_elsewhere(self._lock) or act
        self._post_new(ActAdvanced(self.server.name, act, blocked))

    def _is_still_left(self, answers: Answers) -> bool:
        left = self._files.left
        if left is None or left == self._left_gone:
            return left is None  # an act of an older specdeck wrote down nothing to watch
        is_left = is_still_left(
            left, answers.stats, is_listening=bool(self._listening), unclaimed_mib=self.unclaimed_mib
        )
        self._left_gone = None if is_left else left
        return is_left

    def _is_actor_gone(self, answers: Answers) -> bool:
        pid, start_time = read_actor(self._files)
        if pid is None or pid not in answers.stats:
            return False
        stat = process_stat(answers.stats[pid].encode("utf-8", "surrogateescape"))
        return stat is None or stat.is_dead or stat.start_time != start_time

    def _aim_log(self, identity: RunIdentity | None) -> None:
        path = identity.log if identity else self._log_path(None)
        if path is None:
            self.follower.aim(None)
            if identity:
                self._post_new(LogUnreadable(self.server.name, self._no_log))
            return
        life = f"{identity.run}/{identity.pid}/{identity.start_time}" if identity else ""
        self.follower.aim(LogTarget(path, life, self._engine))

    def _log_path(self, process: Described | None) -> str | None:
        """The fleet file's word, else where the process writes; `~` is the home on the host."""
        path = self.server.log
        if path is None:
            return process.log if process else None
        if path == "~" or path.startswith("~/"):
            return join(self._place.home, path[2:])
        folder = (process.workdir if process else "") or self.server.workdir or ""
        if folder.startswith("~"):
            folder = join(self._place.home, folder[2:])
        return path if isabs(path) else join(self._place.home, folder, path)

    def _take_log_event(self, event: Event) -> None:
        """A word of the log that changed is worth one health request."""
        if isinstance(event, LogAdvanced):
            if event.story.word != self._log_word:
                self._log_word = event.story.word
                self.probes.poke()
            self._engine = self._engine or event.story.engine
            if self._is_of_nobody:  # whose words for ready nobody knows: its log tells of no start
                event = replace(event, story=replace(event.story, phase=None, phases=(), progress=None))
        self._post(event)

    def _post_new(self, event: Event) -> None:
        if self._posted.get(type(event)) != event:
            self._posted[type(event)] = event
            self._post(event)


def _is_same_life(one: RunIdentity | None, other: RunIdentity | None) -> bool:
    """The same folder and the same process."""
    if one is None or other is None:
        return one is other
    return (one.run, one.pid, one.start_time) == (other.run, other.pid, other.start_time)


def _name_of(process: Described) -> str | None:
    engine = engine_of(with_words(process))
    return engine.name if engine else None


def _leader(owners: Sequence[int], family: Sequence[int], processes: Mapping[int, ProcessStat]) -> int | None:
    """Of several holders of a socket (a parent and its forks): one of the family, else the topmost."""
    ours = [pid for pid in owners if pid in family]
    if ours or not owners:
        return ours[0] if ours else None
    return next((pid for pid in owners if pid in processes and processes[pid].parent not in owners), owners[0])


def _broken_off(act: Act) -> Act:
    """Its script is gone without a last word."""
    words = f"broke off after `{act.step}`: its script on the host is gone; {act.kind} again to finish it"
    return replace(act, step="failed", detail=words, kill_at=None, is_over=True, is_failed=True)
