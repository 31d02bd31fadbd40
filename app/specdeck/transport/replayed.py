"""What a recording answers at a moment: the newest page, the log as it stood, the monitor's words for a question."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from specdeck.transport.tape import Entry

_TAGS = {"run": ("@run", "@item", "@act", "@actor", "@left"), "pid": ("@pid",), "text": ("@text",), "file": ("@file",)}
"""How the answers to the monitor's questions begin, with the question's own key behind."""
_NEXT = 4
_SOON_SECONDS = 2.5
"""A question that follows from an answer may be asked a little sooner than it was then: a process that was not asked for yet
is not gone. As many of the next answers as come within that time are looked at."""
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
        self._blocks: list[tuple[float, tuple[str, ...]]] = []
        self.rows: list[tuple[float, str]] = []
        """What comes without a question."""
        block: list[str] = []
        for at, line in lines:
            if line.startswith("@beat "):
                self._blocks.append((at, tuple(block)))
                block = []
            elif line.startswith("@") and not line.startswith("@smi-end"):
                block.append(line)
            elif line:
                self.rows.append((at, line))

    def greeting(self, at: float) -> list[str]:
        """What the host says of itself when a monitor begins, whenever one began; its clock went on since then."""
        greetings = [block for block in self._blocks if any(line.startswith("@boot ") for line in block[1])]
        place = bisect_right(greetings, at, key=lambda block: block[0])
        if not greetings:
            return []
        told_at, words = greetings[max(place - 1, 0)]
        return [_clock_line(line, at - told_at) for line in words if line.split(" ", 1)[0] in _GREETING]

    def answer(self, questions: Sequence[str], at: float) -> list[str]:
        """The newest words for each question, and all else that the newest block says."""
        place = bisect_right(self._blocks, at, key=lambda block: block[0])
        known = [words for _, words in self._blocks[: max(place, 1)]]
        soon = [words for told_at, words in self._blocks[max(place, 1) :][:_NEXT] if told_at <= at + _SOON_SECONDS]
        if not known:
            return []
        elsewhere = (*_GREETING, *(tag for tags in _TAGS.values() for tag in tags))
        said = [line for line in known[-1] if line.split(" ", 1)[0] not in elsewhere]
        for question in questions:
            said += self._of(question, (*reversed(known), *soon))
        return said

    def _of(self, question: str, blocks: Iterable[tuple[str, ...]]) -> list[str]:
        word, _, rest = question.partition(" ")
        key = rest.split(" ", 1)[0]
        for words in blocks:
            found = [
                line for line in words if line.split(" ")[0] in _TAGS.get(word, ()) and line.split(" ")[1:2] == [key]
            ]
            if found:
                return found
        return []


def _clock_line(line: str, passed_seconds: float) -> str:
    tag, _, told = line.partition(" ")
    return f"{tag} {float(told) + passed_seconds:.0f}" if tag == "@clock" and told.isdecimal() else line
