"""Processes that are born on a host and look like a server's: the kernel's last pid tells, at no cost, that there are new ones."""

from specdeck.engines.registry import COMMAND_WORDS
from specdeck.services.answers import Answers

_MOST = 500
"""Of one tick; where more are born each second, only the search of each half minute finds the rest."""
_EXEC_SECONDS = 1.0
"""So long a process may still look like the shell that it was forked from; it is looked at once more."""


class Births:
    """Of one connection to one host."""

    def __init__(self) -> None:
        self._since = 0
        self._newest = 0
        self._moved_at = 0.0
        self._told: frozenset[int] = frozenset()

    def question(self) -> str:
        """What to ask the monitor in this tick."""
        return f"born {self._since} {_MOST} {COMMAND_WORDS.replace('|', ' ').strip()}"

    def take(self, answers: Answers, at: float) -> bool:
        """Whether one was born that was not told before; `at`: seconds of any clock that only goes on."""
        newest, before = answers.newest_pid, self._told
        if newest is None:
            return False
        if newest < self._newest or not self._newest:  # the numbers begin again
            self._since = self._newest = newest
        if at - self._moved_at >= _EXEC_SECONDS:
            self._since, self._newest, self._moved_at = self._newest, newest, at
        self._told = frozenset(answers.born)
        return bool(self._told - before)
