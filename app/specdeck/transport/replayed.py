"""What a recording answers at a moment: the newest page, the log as it stood, the monitor's words for a question."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from specdeck.transport.tape import Entry

_Said = tuple[float, tuple[str, ...]]
"""When, and the lines."""
_ASKED_BY = {
    **dict.fromkeys(("@run", "@item", "@act", "@actor", "@left"), ("run",)),
    **{f"@{word}": (word,) for word in ("pid", "text", "file")},
}
"""Which question a line answers; the question's own key comes behind its tag."""
_SOON_SECONDS = 2.5
"""A question that follows from an answer may be asked a little sooner than it was then: a process that was not asked for yet
is not gone."""
_GREETING = ("@boot", "@booted", "@clock", "@home", "@state")


def newest(entries: Sequence[Entry], at: float) -> Entry | None:
    """The last that was given by then; entries are in their order."""
    place = bisect_right(entries, at, key=lambda entry: entry.at)
    return entries[place - 1] if place else None


class ReplayedLog:
    """One file, rebuilt from the pieces that were read of it. Time only goes on."""

    def __init__(self, pieces: Iterable[Entry]) -> None:
        self._pieces = list(pieces)
        self._next = 0
        self._content = bytearray()
        self.written_at = 0.0

    def at(self, moment: float) -> bytes:
        """The file as it stood."""
        while self._next < len(self._pieces) and self._pieces[self._next].at <= moment:
            self._take(self._pieces[self._next])
            self._next += 1
        return bytes(self._content)

    def _take(self, piece: Entry) -> None:
        if piece.name == "log_size":
            words = piece.content.split()
            size = int(words[1]) if len(words) == 4 and words[1].isdigit() else len(self._content)
            del self._content[size:]
            return
        begin = piece.offset if piece.offset is not None else int(piece.args[1])
        if begin > len(self._content):
            self._content.extend(b"\n" * (begin - len(self._content)))  # the middle of a long log, that nobody read
        self._content[begin : begin + len(piece.content)] = piece.content
        self.written_at = piece.at


class ReplayedMonitor:
    """The long-lived channel of a host: blocks of answers between two beats, and rows of nvidia-smi."""

    def __init__(self, lines: Iterable[tuple[float, str]]) -> None:
        self._greetings: list[_Said] = []
        self._others: list[_Said] = []
        """Of each block, what answers no question that has a key."""
        self._by_key: dict[tuple[str, str], list[_Said]] = {}
        """For each question, all its answers."""
        self.rows: list[tuple[float, str]] = []
        """What comes without a question."""
        block: list[str] = []
        for at, line in lines:
            if line.startswith("@beat "):
                self._take(at, block)
                block = []
            elif line.startswith("@") and not line.startswith("@smi-end"):
                block.append(line)
            elif line:
                self.rows.append((at, line))

    def greeting(self, at: float) -> list[str]:
        """What the host says of itself when a monitor begins, whenever one began; its clock went on since then."""
        told = _newest_or_first(self._greetings, at)
        return [_clock_line(line, at - told[0]) for line in told[1]] if told else []

    def answer(self, questions: Sequence[str], at: float) -> list[str]:
        """The newest words for each question, and all else that the newest block says."""
        told = _newest_or_first(self._others, at)
        said = list(told[1]) if told else []
        for question in questions:
            word, _, rest = question.partition(" ")
            found = _newest_or_first(self._by_key.get((word, rest.split(" ", 1)[0]), ()), at)
            if found is not None and found[0] <= at + _SOON_SECONDS:
                said += found[1]
        return said

    def _take(self, at: float, block: Sequence[str]) -> None:
        keyed: dict[tuple[str, str], list[str]] = {}
        for line in block:
            words = line.split(" ", 2)
            for question in _ASKED_BY.get(words[0], ()):
                keyed.setdefault((question, words[1] if len(words) > 1 else ""), []).append(line)
        for key, lines in keyed.items():
            self._by_key.setdefault(key, []).append((at, tuple(lines)))
        tags = [(line.split(" ", 1)[0], line) for line in block]
        self._others.append((at, tuple(line for tag, line in tags if tag not in _GREETING and tag not in _ASKED_BY)))
        greeting = tuple(line for tag, line in tags if tag in _GREETING)
        if any(line.startswith("@boot ") for line in greeting):
            self._greetings.append((at, greeting))


def _newest_or_first(said: Sequence[_Said], at: float) -> _Said | None:
    place = bisect_right(said, at, key=lambda each: each[0])
    return said[max(place - 1, 0)] if said else None


def _clock_line(line: str, passed_seconds: float) -> str:
    tag, _, told = line.partition(" ")
    return f"{tag} {float(told) + passed_seconds:.0f}" if tag == "@clock" and told.isdecimal() else line
