"""The processes of one server as the surveys saw them, by pid and start time, so that what a dead leader left behind is known."""

from collections.abc import Mapping

from specdeck.parsing.proc import process_stat
from specdeck.services.survey import Survey

MOST_WATCHED = 32
"""So many left-behind processes are asked for in every tick."""


class Family:
    """Of one life of a server."""

    def __init__(self) -> None:
        self.pids: tuple[int, ...] = ()
        self.names: tuple[str, ...] = ()
        """As the kernel keeps them, in the order of `pids`."""
        self.is_seen = True
        """It was looked at since the leader ended."""
        self._born: dict[int, int] = {}

    def see(self, survey: Survey, leader: int | None, *, is_alive: bool, ended: int | None) -> None:
        """Take what a survey shows; `ended` is when the leader ended, in ticks since boot, as far as its wrapper told."""
        if leader is None:
            self.pids = ()
        elif is_alive:
            self.pids = survey.family(leader)
        else:
            self.pids = survey.left_behind(leader, self._born, ended)
            self.is_seen = True
        self.names = tuple(survey.processes[pid].name for pid in self.pids)
        self._born = {pid: survey.processes[pid].start_time for pid in self.pids}

    def leader_changed(self, *, is_alive: bool) -> None:
        """The leader came or went: what is known of the others is of the moment before."""
        self.is_seen = is_alive

    def questions(self, *, is_alive: bool) -> tuple[str, ...]:
        """What to ask in each tick: whether the left-behind still live."""
        return () if is_alive else tuple(f"pid {pid}" for pid in self.pids[:MOST_WATCHED])

    def prune(self, stats: Mapping[int, str]) -> bool:
        """Drop those that live no more, of those that were asked for; True: there were some."""
        gone = {pid for pid in self.pids if pid in stats and not lives(stats[pid], self._born[pid])}
        if not gone:
            return False
        kept = [(pid, name) for pid, name in zip(self.pids, self.names, strict=True) if pid not in gone]
        self.pids, self.names = tuple(pid for pid, _ in kept), tuple(name for _, name in kept)
        return True


def lives(line: str, start_time: int) -> bool:
    """This line of /proc/PID/stat is of the process that began then, and it is no zombie."""
    stat = process_stat(line.encode("utf-8", "surrogateescape"))
    return stat is not None and stat.start_time == start_time and not stat.is_dead
