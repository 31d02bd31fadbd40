"""Log bytes into lines: \\n, \\r\\n and \\r all end one; invalid UTF-8 never stops it; a line without an end can be looked at."""

import re
from itertools import accumulate, count, repeat
from typing import NamedTuple

from specdeck.parsing.secrets import may_hold_secrets, without_secrets

LINE_LIMIT_BYTES = 65_536
"""What is kept of one line: a log that never ends a line must not fill the memory."""
NOT_IN_FILE = -1
"""The offset of a line that specdeck itself put among those of a log."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, links, device strings
    r"|[ -/]*[0-~]?)"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_PLAIN = bytes((*range(0x20, 0x7F), 0x0A))
"""Bytes that need no care."""
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
    text = raw.decode("utf-8", "replace")
    shown = text if text.isprintable() else _cleaned(text)
    return without_secrets(shown) if may_hold_secrets(raw) else shown


def _cleaned(text: str) -> str:
    return _ESCAPES.sub("", text).translate(_UNSEEN)


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

    def feed(self, chunk: bytes) -> tuple[Line, ...]:
        """The lines that this piece completes. A \\r at its end waits: it may be half of \\r\\n."""
        if not self._ends_within(chunk):
            self._keep(chunk)
            return ()
        block = bytes(self._pending) + chunk if self._pending else chunk
        self._pending.clear()
        plain_ends = 0 if self._dropped else block.rfind(b"\n") + 1
        lines = self._complete_plain(block[:plain_ends]) if plain_ends else ()
        return lines + self._complete_any(block[plain_ends:] if lines else block)

    def jump(self, number: int, offset: int) -> None:
        """What comes next lies elsewhere in the file: an open line is given up."""
        self._pending.clear()
        self._dropped = 0
        self._number = number
        self._offset = offset

    def end(self) -> tuple[Line, ...]:
        """The stream is over: what is open becomes the last line."""
        raw = bytes(self._pending)
        self._pending.clear()
        return (self._complete(raw),) if raw else ()

    def _complete_plain(self, block: bytes) -> tuple[Line, ...]:
        """What `_complete` does, for many lines at once and many times faster; nothing if one of them needs care."""
        if block.translate(None, _PLAIN) or may_hold_secrets(block):
            return ()
        texts = block.decode("ascii").split("\n")
        texts.pop()
        lengths = [len(text) + 1 for text in texts]
        if max(lengths) > LINE_LIMIT_BYTES:
            return ()
        offsets = accumulate(lengths, initial=self._offset)
        lines = tuple(
            map(Line._make, zip(texts, count(self._number), offsets, repeat(False), repeat(False), strict=False))
        )
        self._number += len(lines)
        self._offset += len(block)
        return lines

    def _complete_any(self, block: bytes) -> tuple[Line, ...]:
        pieces = block.splitlines(keepends=True)
        rest = pieces.pop() if pieces and not pieces[-1].endswith(b"\n") else b""
        is_short = not self._dropped and max(map(len, pieces), default=0) <= LINE_LIMIT_BYTES
        lines = self._complete_short(pieces) if is_short else tuple(map(self._complete, pieces))
        self._keep(rest)
        return lines

    def _complete_short(self, pieces: list[bytes]) -> tuple[Line, ...]:
        """What `_complete` does, for lines of which none is too long."""
        texts = [piece.rstrip(b"\r\n").decode("utf-8", "replace") for piece in pieces]
        clean = [text if text.isprintable() else _cleaned(text) for text in texts]
        if may_hold_secrets(b"".join(pieces)):
            clean = [without_secrets(text) for text in clean]
        offsets = list(accumulate(map(len, pieces), initial=self._offset))
        overwritten = [piece.endswith(b"\r") for piece in pieces]
        lines = tuple(
            map(Line._make, zip(clean, count(self._number), offsets, overwritten, repeat(False), strict=False))
        )
        self._number += len(pieces)
        self._offset = offsets[-1]
        return lines

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
