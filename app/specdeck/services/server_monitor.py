"""What the monitor knows of one server: takes the answers of each tick and the surveys, and posts what changed."""

from collections.abc import Callable, Mapping
from posixpath import join

from specdeck.config.objects import Profile, Server
from specdeck.engines.base import Engine
from specdeck.engines.registry import ENGINES
from specdeck.engines.unknown import UNKNOWN
from specdeck.parsing.plain import plain
from specdeck.parsing.proc import ProcessStat
from specdeck.parsing.secrets import without_secrets
from specdeck.quick_dataclass import replace
from specdeck.services.act_watch import ActWatch
from specdeck.services.answers import Answers, RunFiles
from specdeck.services.described import Described
from specdeck.services.discovery import engine_of, nearest_of, with_words
from specdeck.services.host_place import Place
from specdeck.services.life import Life, is_same_life
from specdeck.services.log_follower import LogFollower, LogTarget
from specdeck.services.port_watch import PortWatch
from specdeck.services.presence import read_port_lock
from specdeck.services.probe_loop import ProbeLoop
from specdeck.services.run_records import read_run
from specdeck.services.survey import Survey
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
from specdeck.state.log_story import LogStory
from specdeck.state.snapshot import ProcessWitness, RunIdentity


class ServerMonitor:
    """Of one server; survives reconnects."""

    def __init__(
        self,
        server: Server,
        engine: str | None,
        post: Callable[[Event], None],
        clock: Callable[[], float],
        profiles: Mapping[str, Profile] | None = None,
        *,
        is_searched: bool = True,
    ) -> None:
        self.server = server
        self._profiles = profiles or {}
        self.follower = LogFollower(server.name, self._take_log_event, clock)
        self.probes = ProbeLoop(server, post, clock)
        self.wants_survey = True
        self.unclaimed_mib: int | None = None
        """GPU memory of the host that no process answers for."""
        self._engine = engine
        self._post = post
        self._clock = clock
        self._place = Place()
        self._life = Life(self._place)
        self._port = PortWatch()
        self._acts = ActWatch()
        self._has_looked = False
        """The process of this life was asked for on this connection."""
        self._is_searched = is_searched
        """Whether the host was looked through for a server that others start: before, nobody can say that it does not run."""
        self._suspect: tuple[Described, str] | None = None
        self._no_log = ""
        """Why a server of others has no log that can be read."""
        self._told_life: RunIdentity | None = None
        self._posted: dict[type[Event], Event] = {}
        self._log_word: str | None = None
        self._log_phase: str | None = None
        """Of a start; each new one is worth a survey: ranks come to the GPUs while it loads."""

    def look(self, *, is_in_sight: bool) -> None:
        """A dashboard looks at this server, or at another one."""
        self.follower.is_in_sight = self.probes.is_in_sight = is_in_sight

    @property
    def inodes(self) -> tuple[str, ...]:
        """Of the sockets that listen on the server's port."""
        return self._port.inodes

    @property
    def identity(self) -> RunIdentity | None:
        """The life of the server that is watched now."""
        return self._life.identity

    @property
    def family(self) -> tuple[int, ...]:
        """All processes of this life, as far as the last survey saw them."""
        return self._life.kin.pids

    @property
    def engine(self) -> Engine | None:
        """By the profile, the command line or the log; None: not known yet."""
        return ENGINES.get(self._engine or "") or (UNKNOWN if self._is_of_nobody else None)

    @property
    def _is_of_nobody(self) -> bool:
        """It runs with a command line that no engine knows, and no profile says what it is."""
        return self._engine is None and self._life.foreign is not None

    @property
    def _is_starting(self) -> bool:
        return self._log_word == "starting"

    def begin(self, place: Place) -> None:
        """The connection is new: what was posted before is posted again."""
        self._place = self._life.place = place
        self._has_looked = False
        self._posted.clear()
        self.wants_survey = True

    def questions(self, key: str) -> list[str]:
        """What to ask the monitor in this tick, but the port."""
        life = self._life
        asked = [f"lock {key} {self.server.port}", f"run {key} {self.server.name}"]
        asked += [f"pid {pid}" for pid in life.pids_to_ask(is_starting=self._is_starting)]
        asked += [*life.kin.questions(is_alive=life.is_alive), *self._acts.questions()]
        if life.run and life.command is None:
            asked.append(f"text {key} {self._folder}/{life.run.run}/command")
        if self.follower.awaited_path:
            asked.append(f"file {key} {self.follower.awaited_path}")
        return asked

    def take(self, key: str, answers: Answers) -> bool:
        """Take the answers of a tick and post what they change; True: ask again at once, there is a new run."""
        self._acts.files = answers.runs.get(key, RunFiles())
        self._take_lock(key, answers)
        run = read_run(self._acts.files, self._folder, self._place.clock)
        if self._port.take(answers.listening.get(self.server.port, ())):
            self.wants_survey = True
            self.probes.poke()
        if not is_same_life(self._life.run, run):
            self._begin_life(run)
            if run is not None:
                return True
        self._life.run = run
        self._life.command = answers.texts.get(key, self._life.command or "")
        self._take_process(answers.stats)
        self._has_looked = True
        self._tell(answers)
        if answers.files.get(key) == "readable":
            self.follower.appeared()
        return False

    def suspect(self, process: Described, engine: str) -> None:
        """Others started this process as the server; it may not listen yet."""
        if not self._life.is_alive:
            self._suspect = (process, engine)
            self.wants_survey = True

    def searched(self) -> None:
        """All processes of the host were looked through: who is no suspect now does not run."""
        is_found = self._suspect is not None and not self._life.is_alive
        if is_found or self._is_searched:
            return
        self._is_searched = True
        if self._has_looked:
            self._tell_process_and_port()

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
        life = self._life
        identity = life.identity if life.is_alive else None
        self._see_family(survey)
        if life.is_alive:
            life.workers.see(life.kin.pids, life.kin.names)
        if not self.wants_survey:  # else the port changed meanwhile, and another survey follows
            self._port.see(survey, self.family)
        self._tell_process_and_port()
        unknown = [identity.pid] if identity and self._engine is None else []
        unknown += [owner.pid for owner in (self._port.owner,) if owner and owner.pid not in self.family]
        return tuple(unknown)

    def take_description(self, survey: Survey, described: Mapping[int, Described]) -> None:
        """A process that others started listens on the port: it is the server if an engine knows its command line.

        Where the fleet file names no profile, it says no more than the port: then whoever listens there is the server.
        """
        identity, owner = self.identity, self._port.owner
        if identity and self._engine is None and identity.pid in described:
            self._engine = _name_of(described[identity.pid])
        process = with_words(described[owner.pid]) if owner and owner.pid in described else None
        if owner is None or process is None or self._life.is_alive or self._life.is_run(owner):
            return
        engine = _name_of(process)
        if engine is not None or (self._engine is None and not self.server.profiles):
            self._adopt(owner, process, engine, survey)

    def _adopt_suspect(self, survey: Survey) -> None:
        if self._suspect is None or self._life.is_alive:
            return
        process, engine = self._suspect
        self._suspect, self._is_searched = None, True
        stat = survey.processes.get(process.pid)
        if stat is not None and not self._life.is_run(stat):
            self._adopt(stat, process, engine, survey)

    def _adopt(self, stat: ProcessStat, process: Described, engine: str | None, survey: Survey) -> None:
        """Watch a life of the server that has no run folder."""
        self._engine = engine
        self._no_log = process.no_log
        profile, but = self._nearest(process, engine)
        identity = RunIdentity(
            run="",
            pid=stat.pid,
            start_time=stat.start_time,
            boot_id=self._place.boot_id,
            profile=profile,
            profile_but=without_secrets(plain(but)),
            log=self._place.log_of(self.server, process),
            started_at=self._place.started_at(stat.start_time),
            started_by=process.owner.words if process.owner else None,
            command=without_secrets(plain(" ".join(process.argv))),
        )
        self._life.adopt(identity, stat)
        self._see_family(survey)
        self._tell(Answers())

    def _nearest(self, process: Described, engine: str | None) -> tuple[str | None, str]:
        """The profile that a server of others comes nearest to, and what is different."""
        if engine is None:
            return None, ""
        found = nearest_of(process, engine, self.server, self._profiles)
        return (None, "") if found is None else (found.profile.name, found.but)

    def _see_family(self, survey: Survey) -> None:
        self._life.see(survey, self._acts.files.items.get("ended", ""))

    @property
    def _folder(self) -> str:
        return join(self._place.state_folder, self.server.name)

    def _begin_life(self, run: RunIdentity | None) -> None:
        """The newest run is another one: nothing that was seen of the last counts."""
        self._has_looked = False
        self._life = Life(self._place, run)
        self.wants_survey = True

    def _take_process(self, stats: Mapping[int, str]) -> None:
        life = self._life
        if life.take(self._acts.files, stats):
            self.wants_survey = True
            self.probes.poke()
        self.wants_survey |= life.has_lost_some(stats)
        life.take_cpu(stats, self._clock(), is_starting=self._is_starting)
        if life.workers.look(stats, life.stat.pid if life.stat else None):
            self.probes.poke()

    def _take_lock(self, key: str, answers: Answers) -> None:
        lock = read_port_lock(answers.locks.get(key), self._place.clock)
        self._acts.take_lock(lock)
        self._post_new(LockSeen(self.server.name, lock))

    def _tell(self, answers: Answers) -> None:
        identity = self.identity
        if not is_same_life(self._told_life, identity):
            self._told_life = identity
            self._posted.clear()  # with another life the state forgets what it knew of the last
        is_stop_asked = self._life.foreign is None and self._acts.is_stop_asked
        self._post_new(RunFound(self.server.name, identity, stop_asked=is_stop_asked))
        self._tell_act(answers)  # before the process: what ended it is no crash
        self._tell_process_and_port()
        self._aim_log(identity)
        if self._has_looked and self._life.witness().state in ("gone", "zombie"):
            self.follower.over()
        # the health of another rank than the head says nothing
        self.probes.aim(None if self.server.is_rank else self._port.address, self.engine)

    def _tell_process_and_port(self) -> None:
        witness = self._life.witness()
        is_certain = self._is_searched or witness.state != "none"
        self._post_new(ProcessSeen(self.server.name, witness if is_certain else ProcessWitness()))
        if self._port.is_known:
            self._post_new(PortSeen(self.server.name, self._port.witness(self.family)))

    def _tell_act(self, answers: Answers) -> None:
        clock = self._place.clock
        blocked = self._acts.blocked(answers, clock, is_listening=self._port.is_open, unclaimed_mib=self.unclaimed_mib)
        self._post_new(ActAdvanced(self.server.name, self._acts.newest(answers, clock), blocked))

    def _aim_log(self, identity: RunIdentity | None) -> None:
        path = identity.log if identity else self._place.log_of(self.server, None)
        if path is None:
            self.follower.aim(None)
            if identity:
                self._post_new(LogUnreadable(self.server.name, self._no_log))
            return
        life = f"{identity.run}/{identity.pid}/{identity.start_time}" if identity else ""
        self.follower.aim(LogTarget(path, life, self._engine))

    def _take_log_event(self, event: Event) -> None:
        """A word of the log that changed is worth one health request, a phase of a start that changed one survey."""
        if isinstance(event, LogAdvanced):
            self._see_phase(event.story)
            if event.story.word != self._log_word:
                self._log_word = event.story.word
                self.probes.poke()
            self._engine = self._engine or event.story.engine
            if self._is_of_nobody:  # whose words for ready nobody knows: its log tells of no start
                event = replace(event, story=replace(event.story, phase=None, phases=(), progress=None))
        self._post(event)

    def _see_phase(self, story: LogStory) -> None:
        phase = story.phase.name if story.phase is not None and story.word == "starting" else None
        if phase is not None and phase != self._log_phase:
            self.wants_survey = True
        self._log_phase = phase

    def _post_new(self, event: Event) -> None:
        if self._posted.get(type(event)) != event:
            self._posted[type(event)] = event
            self._post(event)


def _name_of(process: Described) -> str | None:
    engine = engine_of(with_words(process))
    return engine.name if engine else None
