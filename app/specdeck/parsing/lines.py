"""Log bytes into lines: \\n, \\r\\n and \\r all end one; invalid UTF-8 never stops it; a line without an end can be looked at."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import accumulate, count
from typing import NamedTuple

from specdeck.late_pattern import late_pattern
from specdeck.parsing.secrets import without_secrets

LINE_LIMIT_BYTES = 65_536
"""What is kept of one line: a log that never ends a line must not fill the memory."""
NOT_IN_FILE = -1
"""The offset of a line that specdeck itself put among those of a log."""

_ESCAPES = late_pattern(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, links, device strings
    r"|[ -/]*[0-~]?)"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_ORDERS = (*range(0x20), *range(0x7F, 0xA0))
_HIDERS = (0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_UNSEEN = dict.fromkeys((*_ORDERS, *_HIDERS, *range(0xFFF9, 0xFFFC))) | {0x09: " "}
"""Control characters, and those that reorder or hide text: dropped (a tab becomes a space)."""


class Line(NamedTuple):
    """One line of a log, decoded with replacement, without its end, escape sequences and control characters dropped."""

    text: str
    number: int
    """From 1; every \\n, \\r\\n and \\r counts."""
    offset: int
    """Of its first byte in the stream."""
    is_overwritten: bool = False
    """It ended in \\r: a bar that the next line replaces."""
    is_cut: bool = False
    """It was longer than the limit; the rest was dropped."""


def visible_text(raw: bytes) -> str:
    """Bytes as text that can be shown: replacement for what is no UTF-8, nothing that a terminal obeys, no secrets."""
    return visible(raw.decode("utf-8", "replace"))


def visible(text: str) -> str:
    """The same of text that is decoded already."""
    return without_secrets(text if text.isprintable() else _ESCAPES.sub("", text).translate(_UNSEEN))


class Lines:
    """Lines that came together. Most of a busy server's nobody looks at: a `Line` is made when somebody asks for it."""

    def __init__(self, text: str, number: int, make: Callable[[], tuple[Line, ...]]) -> None:
        self.text = text
        """As they were written, each with a \\n at its end: not cleaned, may hold secrets."""
        self.number = number
        """Of the first one."""
        self._make = make

    @classmethod
    def of(cls, lines: tuple[Line, ...]) -> "Lines":
        """Lines that are made already."""
        return cls("".join(f"{line.text}\n" for line in lines), lines[0].number if lines else 1, lambda: lines)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    @property
    def first_text(self) -> str:
        """Of the first line, as it can be shown."""
        return visible(self.text[: self.text.index("\n")])

    def after(self, count: int) -> "Lines":
        """All but the first ones."""
        return Lines("\n".join(self.text.split("\n")[count:]), self.number + count, lambda: self._lines[count:])

    def newest_first(self) -> Iterator[str]:
        """Their texts as they can be shown."""
        end = len(self.text) - 1
        while end >= 0:
            begin = self.text.rfind("\n", 0, end) + 1
            yield visible(self.text[begin:end])
            end = begin - 1

    @cached_property
    def _count(self) -> int:
        return self.text.count("\n")

    @cached_property
    def _lines(self) -> tuple[Line, ...]:
        return self._make()


class LineSplitter:
    """Splits a stream of bytes into lines, in whatever pieces it comes."""

    def __init__(self) -> None:
        self._pending = bytearray()
        """The start of the line that has no end yet, at most the limit."""
        self._dropped = 0
        """How many bytes of that line did not fit."""
        self._number = 1
        self._offset = 0

    @property
    def open_line(self) -> Line | None:
        """The line that has no end yet, as far as it is known."""
        raw = bytes(self._pending)
        if not raw:
            return None
        return self._line(raw[:-1] if raw.endswith(b"\r") else raw)

    def feed(self, chunk: bytes) -> Lines:
        """The lines that this piece completes. A \\r at its end waits: it may be half of \\r\\n."""
        if not self._ends_within(chunk):
            self._keep(chunk)
            return Lines.of(())
        block = bytes(self._pending) + chunk if self._pending else chunk
        self._pending.clear()
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1
        lines = self._complete_all(block[:end])
        self._keep(block[end:])
        return lines

    def jump(self, number: int, offset: int) -> None:
        """What comes next lies elsewhere in the file: an open line is given up."""
        self._pending.clear()
        self._dropped = 0
        self._number = number
        self._offset = offset

    def end(self) -> Lines:
        """The stream is over: what is open becomes the last line."""
        raw = bytes(self._pending)
        self._pending.clear()
        return self._complete_each([raw] if raw else [])

    def _complete_all(self, block: bytes) -> Lines:
        if self._dropped or _may_be_too_long(block):
            return self._complete_each(block.splitlines(keepends=True))
        text = _with_newlines(block)
        lines = Lines(text, self._number, partial(_lines_of, block, text, self._number, self._offset))
        self._number += len(lines)
        self._offset += len(block)
        return lines

    def _complete_each(self, pieces: list[bytes]) -> Lines:
        """One by one: some may be too long."""
        number = self._number
        texts = [piece.rstrip(b"\r\n")[:LINE_LIMIT_BYTES].decode("utf-8", "replace") + "\n" for piece in pieces]
        lines = tuple(map(self._complete, pieces))
        return Lines("".join(texts), number, lambda: lines)

    def _ends_within(self, chunk: bytes) -> bool:
        """Whether the open line ends in this piece."""
        if not chunk:
            return False
        return b"\n" in chunk or b"\r" in chunk[:-1] or self._pending.endswith(b"\r")

    def _keep(self, rest: bytes) -> None:
        room = LINE_LIMIT_BYTES - len(self._pending)
        if len(rest) <= room:
            self._pending += rest
            return
        # The last byte must stay in sight: a \r there may be half of \r\n.
        tail = rest[-1:] if rest.endswith(b"\r") else b""
        self._pending += rest[: max(room, 0)]
        self._dropped += len(rest) - len(tail) - max(room, 0)
        self._pending += tail

    def _complete(self, piece: bytes) -> Line:
        body = piece.rstrip(b"\r\n")
        line = self._line(body, is_overwritten=piece.endswith(b"\r"))
        self._number += 1
        self._offset += len(piece) + self._dropped
        self._dropped = 0
        return line

    def _line(self, body: bytes, *, is_overwritten: bool = False) -> Line:
        is_cut = self._dropped > 0 or len(body) > LINE_LIMIT_BYTES
        text = visible_text(body[:LINE_LIMIT_BYTES])
        return Line(text, self._number, self._offset, is_overwritten, is_cut)


def _with_newlines(block: bytes) -> str:
    """Decoded, with \\n for every end."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block.decode("utf-8", "replace")


def _may_be_too_long(block: bytes) -> bool:
    """Whether there is no \\n for longer than a line may be."""
    begin = 0
    while len(block) - begin > LINE_LIMIT_BYTES:
        begin = block.rfind(b"\n", begin, begin + LINE_LIMIT_BYTES + 1) + 1
        if not begin:
            return True
    return False


def _lines_of(block: bytes, text: str, number: int, offset: int) -> tuple[Line, ...]:
    """Whole lines, none of them too long; the first has this number and place."""
    pieces = block.splitlines(keepends=True)
    texts = map(visible, text.split("\n"))
    offsets = accumulate(map(len, pieces), initial=offset)
    overwritten = [piece.endswith(b"\r") for piece in pieces]
    return tuple(map(Line, texts, count(number), offsets, overwritten))
