"""Which server comes first: the worst, in an order that holds still while somebody works with it."""

from collections.abc import Sequence

from specdeck.quick_dataclass import dataclass
from specdeck.state.snapshot import ServerState, Word

WORST_FIRST = (
    Word.CRASHED,
    Word.BLOCKED,
    Word.STALLED,
    Word.UNHEALTHY,
    Word.UNREACHABLE,
    Word.UNKNOWN,
    Word.STARTING,
    Word.STOPPING,
    Word.READY,
    Word.STOPPED,
)
BETTER_AFTER_SECONDS = 10.0
"""A server keeps the place of its worst word so long: one that flaps stays where it is."""
_PLACES = {word: place for place, word in enumerate(WORST_FIRST)}
_PLACES[Word.STOPPING] = _PLACES[Word.STARTING]


@dataclass(slots=True)
class _Held:
    place: int
    better_since: float | None = None


def place_of(server: ServerState) -> int:
    """0 is the worst; a stop, launch or pivot that failed is trouble whatever the word."""
    act = server.act
    is_broken = act is not None and act.is_failed and server.word is not Word.READY
    return min(_PLACES[server.word], _PLACES[Word.UNHEALTHY]) if is_broken else _PLACES[server.word]


class Order:
    """Remembers each server's place, so that rows move up at once, down only after a while, and never under a busy hand."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._names: tuple[str, ...] = ()

    def of(self, servers: Sequence[ServerState], at: float, *, is_busy: bool = False) -> tuple[str, ...]:
        """All names, worst first, equal ones in the order of the fleet; `is_busy`: no row may move now.

        `at` is unix seconds; after a jump back of the clock (a replay) the places are those of the present words.
        """
        for server in servers:
            self._judge(server, at)
        names = tuple(server.name for server in servers)
        if is_busy and set(names) == set(self._names):
            return self._names
        self._held = {name: self._held[name] for name in names}
        self._names = tuple(sorted(names, key=lambda name: self._held[name].place))
        return self._names

    def _judge(self, server: ServerState, at: float) -> None:
        now = place_of(server)
        held = self._held.setdefault(server.name, _Held(now))
        was_unknown = held.place == _PLACES[Word.UNKNOWN]
        if now <= held.place or was_unknown:
            held.place, held.better_since = now, None
        elif held.better_since is None:
            held.better_since = at
        elif not 0 <= at - held.better_since < BETTER_AFTER_SECONDS:
            held.place, held.better_since = now, None
