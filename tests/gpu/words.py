"""The observer's rows as words, by the rule of the test: no word of specdeck's, no code of specdeck's.

`stopped` no process of the run and a stop was asked (or there never was a run), `crashed` none, or only what the dead parent
left behind, and no stop was asked, `stopping` from the first sign of a stop that was asked until processes, port and memory
are clear, `starting` alive before the first 200 of the run's own socket, `ready` from then on, `unhealthy` 503 or no answer
for 30 s after that, `stalled` the load has requests open and got no token for 30 s.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

PATIENCE_SECONDS = 30.0
CLEAR_MIB = 1024
"""Memory counts as back when no more than this is held above what was held before the first run."""


@dataclass(frozen=True, slots=True)
class Row:
    """One look."""

    at: float
    alive: int
    owner: int
    is_own: bool
    code: str
    mem_mib: int | None
    runs: int = 0
    leads: bool = True
    """The process that was started itself lives; what it leaves behind serves nobody."""
    tokens: tuple[float, float] | None = None
    """A counter of the engine and when it was read."""
    decoys: int | None = None
    guests: tuple[float, float, float] | None = None
    """Processes, CPU seconds and bytes of the test's sshd so far."""

    @property
    def is_clear(self) -> bool:
        """No process and no port."""
        return not self.alive and not self.owner


@dataclass(frozen=True, slots=True)
class Asked:
    """What the driver asked for, and when: `stop` of the run that lives then."""

    at: float
    what: str


@dataclass(frozen=True, slots=True)
class Said:
    """The words that are right at a moment: two while it cannot be seen yet whether a stop that was asked has begun."""

    at: float
    words: frozenset[str]
    run: int


def read_rows(path: Path) -> list[Row]:
    """The observer's file; rows that were cut off are left out. Older files lack some columns."""
    lines = path.read_text().splitlines()
    names = lines[0].split("\t")
    cells = (dict(zip(names, line.split("\t"), strict=False)) for line in lines[1:])
    return [row for each in cells if (row := _row(each)) is not None]


def _row(cells: Mapping[str, str]) -> Row | None:
    try:
        owner = int(cells["owner"])
        own = cells.get("own")
        return Row(
            at=float(cells["unix"]),
            alive=int(cells.get("alive") or cells["engines"]),
            owner=owner,
            is_own=owner > 0 if own is None else own == "1",
            code=cells["code"],
            mem_mib=_number(cells.get("mem")),
            runs=_number(cells.get("runs")) or 0,
            leads=cells.get("leads") != "0",
            tokens=_tokens(cells.get("tokens", "-")),
            decoys=_number(cells.get("decoys")),
            guests=_guests(cells),
        )
    except (KeyError, ValueError):
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _tokens(text: str) -> tuple[float, float] | None:
    value, _, at = text.partition("@")
    return (float(value), float(at)) if at else None


def _guests(cells: Mapping[str, str]) -> tuple[float, float, float] | None:
    told = [cells.get(name, "-") for name in ("helpers", "cpu", "bytes")]
    return None if "-" in told else (float(told[0]), float(told[1]), float(told[2]))


def words_of(rows: Sequence[Row], asked: Sequence[Asked], load: Sequence[tuple[float, int, int]] = ()) -> list[Said]:
    """One for each row and each moment at which something was asked.

    `load`: (time, requests open, tokens so far) of the driver's own.
    """
    return list(_Rule(rows, asked, load).say())


def _with_moments(rows: Sequence[Row], moments: Sequence[float]) -> list[Row]:
    """What was seen last holds at those moments too: files may hold only the rows in which something changed."""
    times = [row.at for row in rows]
    copies = [replace(rows[bisect_right(times, at) - 1], at=at) for at in moments if rows and times[0] < at < times[-1]]
    return sorted([*rows, *copies], key=lambda row: row.at)


class _Rule:
    def __init__(self, rows: Sequence[Row], asked: Sequence[Asked], load: Sequence[tuple[float, int, int]]) -> None:
        self._rows = _with_moments(rows, [each.at for each in asked])
        self._stops = sorted(each.at for each in asked if each.what == "stop")
        self._load = load
        self._free_mib = rows[0].mem_mib if rows else None
        self._run, self._born, self._was_ready = 0, 0.0, False
        self._ill_since: float | None = None
        self._has_signed = False

    def say(self) -> Iterator[Said]:
        was_alive = False
        for row in self._rows:
            is_new = bool(row.alive) and (not was_alive or row.runs > max(self._run, 1))
            between = self._between(row) if is_new else frozenset[str]()
            if is_new:
                self._begin(row)
            was_alive = bool(row.alive)
            yield Said(row.at, between | self._words(row), self._run)

    def _between(self, row: Row) -> frozenset[str]:
        """What the run before came to, if only between two looks."""
        is_asked = any(self._born <= at <= row.at for at in self._stops)
        return frozenset({"stopped" if is_asked or not self._run else "crashed"})

    def _begin(self, row: Row) -> None:
        self._run = max(self._run + 1, row.runs)
        self._born, self._was_ready, self._ill_since, self._has_signed = row.at, False, None, False

    def _words(self, row: Row) -> set[str]:
        if not self._run:
            return {"stopped"}
        is_asked = any(self._born <= at <= row.at for at in self._stops)
        if not row.alive:
            if not is_asked:
                return {"crashed"}
            return {"stopped"} if row.is_clear and self._is_memory_back(row) else {"stopping"}
        word = self._living(row) if row.leads else "crashed"
        if not is_asked:
            return {word}
        self._has_signed |= word == "unhealthy" or (self._was_ready and (not row.owner or row.code != "200"))
        return {"stopping"} if self._has_signed else {word, "stopping"}

    def _living(self, row: Row) -> str:
        is_answer = row.code == "200" and row.is_own
        self._was_ready |= is_answer
        if not self._was_ready:
            return "starting"
        if is_answer:
            self._ill_since = None
            return "stalled" if self._is_stalled(row.at) else "ready"
        self._ill_since = self._ill_since or row.at
        is_ill = row.code == "503" or row.at - self._ill_since >= PATIENCE_SECONDS
        return "unhealthy" if is_ill else "ready"

    def _is_memory_back(self, row: Row) -> bool:
        return row.mem_mib is None or row.mem_mib <= (self._free_mib or 0) + CLEAR_MIB

    def _is_stalled(self, at: float) -> bool:
        times = [each[0] for each in self._load]
        now, before = bisect_right(times, at) - 1, bisect_right(times, at - PATIENCE_SECONDS) - 1
        if before < 0:
            return False
        spell = self._load[before : now + 1]
        return all(open_requests for _, open_requests, _ in spell) and spell[0][2] == spell[-1][2]
