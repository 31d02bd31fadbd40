"""One life of a server: the process of its newest run, or one that others started, with all that belongs to it."""

from collections.abc import Mapping
from typing import Literal

from specdeck.parsing.proc import ProcessStat, process_stat
from specdeck.quick_dataclass import replace
from specdeck.services.answers import RunFiles
from specdeck.services.cpu_use import MOST_PROCESSES, CpuUse
from specdeck.services.family import Family
from specdeck.services.host_place import Place
from specdeck.services.run_records import read_ended, read_exit
from specdeck.services.survey import Survey
from specdeck.services.workers import MOST_WATCHED, Workers
from specdeck.state.snapshot import ProcessWitness, RunIdentity


class Life:
    """What is known of it; another run is another life."""

    def __init__(self, place: Place, run: RunIdentity | None = None) -> None:
        self.place = place
        self.run = run
        """The newest run folder; it may fill up while it lives."""
        self.foreign: RunIdentity | None = None
        """A process that others started."""
        self.stat: ProcessStat | None = None
        self.kin = Family()
        self.workers = Workers()
        self.command: str | None = None
        """As it can be pasted; None: not asked yet."""
        self._cpu = CpuUse()
        self._exit_status: int | None = None
        self._ended_at: float | None = None

    @property
    def identity(self) -> RunIdentity | None:
        """Which process it is."""
        if self.foreign or self.run is None:
            return self.foreign
        return replace(self.run, command=self.command or None)

    @property
    def is_alive(self) -> bool:
        """This very process of this very boot."""
        identity, stat = self.identity, self.stat
        return bool(
            identity
            and stat
            and not stat.is_dead
            and (stat.pid, stat.start_time) == (identity.pid, identity.start_time)
            and identity.boot_id in ("", self.place.boot_id)
        )

    def is_run(self, process: ProcessStat) -> bool:
        """That process is the one of the run folder."""
        run = self.run
        return run is not None and (run.pid, run.start_time) == (process.pid, process.start_time)

    def adopt(self, identity: RunIdentity, stat: ProcessStat) -> None:
        """A process without a run folder lives this life."""
        self.foreign, self.stat = identity, stat
        self._exit_status = self._ended_at = None

    def pids_to_ask(self, *, is_starting: bool) -> list[int]:
        """Whose line of /proc is wanted in this tick."""
        identity = self.identity
        leader = [identity.pid] if identity and identity.pid else []
        return [*leader, *(self._measured(is_starting=is_starting) or self.workers.pids[:MOST_WATCHED])]

    def take(self, files: RunFiles, stats: Mapping[int, str]) -> bool:
        """The exit file and the line of /proc; True: the process came or went."""
        if self.run and self.run.boot_id == self.place.boot_id:
            self._exit_status, self._ended_at = read_exit(files), read_ended(files, self.place.clock)
        identity, was_alive = self.identity, self.is_alive
        if identity is None or not identity.pid:
            self.stat = None
        elif identity.pid in stats:
            self.stat = _stat(stats[identity.pid])
        if was_alive != self.is_alive:
            self.kin.leader_changed(is_alive=self.is_alive)
        return was_alive != self.is_alive

    def has_lost_some(self, stats: Mapping[int, str]) -> bool:
        """Some of what a dead leader left behind, or some worker, is gone since it was seen."""
        is_pruned = not self.is_alive and self.kin.prune(stats)
        return self.workers.has_lost(stats) or is_pruned

    def take_cpu(self, stats: Mapping[int, str], at: float, *, is_starting: bool) -> None:
        """How much its processes compute: measured while it starts, for a start that says nothing may compile."""
        pids = (self.stat.pid, *self._measured(is_starting=is_starting)) if is_starting and self.stat else ()
        lines = (stats[pid] for pid in pids if pid in stats and self.is_alive)
        self._cpu.take((stat for line in lines if (stat := _stat(line))), at)

    def see(self, survey: Survey, ended: str) -> None:
        """The family of a living leader, or of one of this boot that is gone; `ended`: the file of that name."""
        identity = self.identity
        is_here = identity is not None and identity.boot_id in ("", self.place.boot_id)
        leader = identity.pid if identity and is_here else None
        ticks = int(ended) if self.foreign is None and ended.isdecimal() else None
        self.kin.see(survey, leader, is_alive=self.is_alive, ended=ticks)

    def witness(self) -> ProcessWitness:
        """What /proc says of it."""
        identity = self.identity
        if identity is None:
            return ProcessWitness("none")
        if not identity.pid:
            return ProcessWitness("gone", exit_status=self._exit_status, ended_at=self._ended_at)
        if self.is_alive:
            return ProcessWitness(
                "alive",
                identity.pid,
                self.kin.pids,
                is_busy=self._cpu.is_busy,
                is_engine_gone=self.workers.are_gone,
                halted=self.workers.halted,
            )
        is_zombie = self.stat and self.stat.is_dead and self.stat.start_time == identity.start_time
        return self._gone("zombie" if is_zombie else "gone", identity.pid)

    def _gone(self, state: Literal["zombie", "gone"], pid: int) -> ProcessWitness:
        return ProcessWitness(
            state,
            pid,
            self.kin.pids,
            self._exit_status,
            ended_at=self._ended_at,
            is_family_seen=self.kin.is_seen,
            names=self.kin.names,
        )

    def _measured(self, *, is_starting: bool) -> tuple[int, ...]:
        if not is_starting or not self.is_alive:
            return ()
        return tuple(pid for pid in self.kin.pids if self.stat is None or pid != self.stat.pid)[:MOST_PROCESSES]


def is_same_life(one: RunIdentity | None, other: RunIdentity | None) -> bool:
    """The same folder and the same process."""
    if one is None or other is None:
        return one is other
    return (one.run, one.pid, one.start_time) == (other.run, other.pid, other.start_time)


def _stat(line: str) -> ProcessStat | None:
    return process_stat(line.encode("utf-8", "surrogateescape"))
