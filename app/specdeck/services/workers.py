"""The engine's own processes inside a server's family: where they are gone while the parent lives, it answers and serves nobody."""

from collections.abc import Mapping, Sequence

from specdeck.parsing.proc import process_stat

NAMES = ("sglang::schedul", "sglang_schedule", "VLLM::EngineCor")
"""As the kernel keeps them, 15 characters; other engines compute in the process that listens."""


MOST_WATCHED = 16
"""So many of them are asked for in every tick."""
_STOPPED, _TRACED = "T", "t"
"""States of /proc/PID/stat: by a signal; by a debugger, which to take a stack needs a moment only."""


class Workers:
    """Of one life of a server."""

    def __init__(self) -> None:
        self.pids: tuple[int, ...] = ()
        self.halted: tuple[int, ...] = ()
        """Stopped by a signal, or held by a debugger at two looks that followed each other."""
        self._traced: tuple[int, ...] = ()
        self._were_seen = False

    @property
    def are_gone(self) -> bool:
        """They were there, and not one is left."""
        return self._were_seen and not self.pids

    def see(self, pids: Sequence[int], names: Sequence[str]) -> None:
        """Take the family that a survey saw."""
        self.pids = tuple(pid for pid, name in zip(pids, names, strict=True) if name in NAMES)
        self._were_seen = self._were_seen or bool(self.pids)

    def look(self, stats: Mapping[int, str], leader: int | None) -> bool:
        """Whether the server's parent and those that compute run; True: some are held still now and were not, or go on."""
        asked = ((leader,) if leader else ()) + self.pids[:MOST_WATCHED]
        lines = (stats[pid].encode("utf-8", "surrogateescape") for pid in asked if pid in stats)
        letters = {stat.pid: stat.state for line in lines if (stat := process_stat(line))}
        traced = tuple(pid for pid, letter in letters.items() if letter == _TRACED)
        halted = tuple(
            pid for pid, letter in letters.items() if letter == _STOPPED or (pid in self._traced and pid in traced)
        )
        has_changed = halted != self.halted
        self._traced, self.halted = traced, halted
        return has_changed

    def has_lost(self, stats: Mapping[int, str]) -> bool:
        """One of those that were asked for is no more: the family must be looked at."""
        lines = (stats[pid].encode("utf-8", "surrogateescape") for pid in self.pids if pid in stats)
        return any((stat := process_stat(line)) is None or stat.is_dead for line in lines)
