"""Who listens on a server's port: rows of the kernel's table in every tick, and the owner of the socket by the surveys."""

from collections.abc import Mapping, Sequence

from specdeck.parsing.proc import ProcessStat
from specdeck.services.answers import Listening, loopback_of
from specdeck.services.survey import Survey
from specdeck.state.snapshot import PortWitness


class PortWatch:
    """Of one port."""

    def __init__(self) -> None:
        self._rows: tuple[Listening, ...] = ()
        self.owner: ProcessStat | None = None
        self._is_owner_known = False

    @property
    def is_open(self) -> bool:
        """Somebody listens."""
        return bool(self._rows)

    @property
    def inodes(self) -> tuple[str, ...]:
        """Of the sockets that listen."""
        return tuple(row.inode for row in self._rows)

    @property
    def address(self) -> str | None:
        """Where to ask, on the host; None: nobody listens."""
        return loopback_of(self._rows[0].address) if self._rows else None

    @property
    def is_known(self) -> bool:
        """It can be said who listens, or that nobody does."""
        return self._is_owner_known or not self._rows

    def take(self, rows: tuple[Listening, ...]) -> bool:
        """True: other sockets listen than before."""
        if rows == self._rows:
            return False
        self._rows = rows
        self.owner = None
        self._is_owner_known = False
        return True

    def see(self, survey: Survey, family: Sequence[int]) -> None:
        """Who holds the sockets."""
        holders = [pid for inode in self.inodes for pid in survey.owners.get(inode, ())]
        leader = _leader(holders, family, survey.processes)
        self._is_owner_known = True
        self.owner = survey.processes.get(leader) if leader else None

    def witness(self, family: Sequence[int]) -> PortWitness:
        """Whose it is."""
        if not self._rows:
            return PortWitness("closed")
        if self.owner is None:
            return PortWitness("open")
        return PortWitness("ours" if self.owner.pid in family else "stranger", self.owner.pid, self.owner.name)


def _leader(holders: Sequence[int], family: Sequence[int], processes: Mapping[int, ProcessStat]) -> int | None:
    """Of several holders of a socket (a parent and its forks): one of the family, else the topmost."""
    ours = [pid for pid in holders if pid in family]
    if ours or not holders:
        return ours[0] if ours else None
    return next((pid for pid in holders if pid in processes and processes[pid].parent not in holders), holders[0])
