"""What a login must ask a human, and who is asked; answers stay in memory and get into no event, log or sentence."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from specdeck.quick_dataclass import dataclass
from specdeck.state.snapshot import Question
from specdeck.transport.crowd import Crowd

if TYPE_CHECKING:
    import asyncssh  # takes long, and only annotations need it


class Questions(Protocol):
    """Somebody who can be asked about one host."""

    @property
    def memory(self) -> "Memory":
        """What was answered before, for all hosts."""

    async def ask(self, question: Question) -> str | None:
        """The answer; None if the user declined. Takes as long as the user takes."""

    def waiting(self, question: Question) -> AbstractContextManager[None]:
        """Another host's login is asked this, and this one cannot go on before."""


@dataclass(slots=True)
class Memory:
    """Answers that worked or can be used again: a key's passphrase is asked once for all hosts, a password once for its host."""

    opened: "dict[Path, list[asyncssh.SSHKeyPair]]" = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict, repr=False)
    """By `user@place`; only those that a host took."""
    _crowds: dict[Path, Crowd] = field(default_factory=dict)
    _locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    _rounds: dict[Path, int] = field(default_factory=dict)

    def crowd(self, path: Path) -> Crowd:
        """Those who wait for the passphrase of this file."""
        return self._crowds.setdefault(path, Crowd())

    @asynccontextmanager
    async def turn(self, path: Path) -> AsyncIterator[bool]:
        """Wait until nobody else asks about this file; False if somebody did meanwhile, whose answer then counts."""
        before = self._rounds.get(path, 0)
        async with self._locks.setdefault(path, asyncio.Lock()):
            is_mine = self._rounds.get(path, 0) == before
            yield is_mine
            self._rounds[path] = self._rounds.get(path, 0) + is_mine


class Patience:
    """A time limit that stands still while the user is asked."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limit: asyncio.Timeout | None = None
        self._asking = 0
        self._left = seconds

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Raises TimeoutError when the time is over."""
        try:
            async with asyncio.timeout(self._seconds) as self._limit:
                yield
        finally:
            self._limit = None

    def renew(self, seconds: float) -> None:
        """From now on so long: the next step has a limit of its own."""
        self._left = seconds
        if self._limit is not None and not self._asking:
            self._limit.reschedule(asyncio.get_running_loop().time() + seconds)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The user is thinking; outside of a limit it changes nothing."""
        limit, now = self._limit, asyncio.get_running_loop().time
        if limit is None:
            yield
            return
        if not self._asking:
            self._left = (limit.when() or now()) - now()
            limit.reschedule(None)
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                limit.reschedule(now() + self._left)
