"""What a recording answers at a moment: the newest page, the log as it stood, the monitor's words for a question."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from specdeck.transport.tape import Entry

_TAGS = {"run": ("@run", "@item", "@act", "@actor", "@left"), "pid": ("@pid",), "text": ("@text",), "file": ("@file",)}
"""How the answers to the monitor's questions begin, with the question's own key behind."""


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

    def answer(self, questions: Sequence[str], at: float) -> list[str]:
        """The newest words for each question, and all else that the newest block says."""
        place = bisect_right(self._blocks, at, key=lambda block: block[0])
        known = [words for _, words in self._blocks[: max(place, 1)]]
        if not known:
            return []
        keyed = tuple(tag for tags in _TAGS.values() for tag in tags)
        said = [line for line in known[-1] if line.split(" ", 1)[0] not in keyed]
        for question in questions:
            said += self._of(question, known)
        return said

    def _of(self, question: str, known: Sequence[tuple[str, ...]]) -> list[str]:
        word, _, rest = question.partition(" ")
        key = rest.split(" ", 1)[0]
        for words in reversed(known):
            found = [
                line for line in words if line.split(" ")[0] in _TAGS.get(word, ()) and line.split(" ")[1:2] == [key]
            ]
            if found:
                return found
        return []
