"""Bytes that a fuzzer makes, read as choices: hypothesis and atheris share the same trials this way."""

import unicodedata
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
LITERAL = 0x80
"""From this byte on a byte stands for itself."""


class Choices:
    """Takes choices from the front; where the bytes end, the first of everything is chosen."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    @property
    def are_left(self) -> bool:
        """There is at least one more byte."""
        return self._at < len(self._raw)

    def number(self) -> int:
        """0 to 255."""
        if not self.are_left:
            return 0
        self._at += 1
        return self._raw[self._at - 1]

    def one_of(self, pool: Sequence[T]) -> T:
        """Any of a pool."""
        return pool[self.number() % len(pool)]

    def rest(self) -> bytes:
        """All that is left."""
        rest, self._at = self._raw[self._at :], len(self._raw)
        return rest


def spelled(raw: bytes, words: Sequence[bytes]) -> bytes:
    """Each byte is a word of the format or, from 0x80 on, half of all values of a byte: text that is nearly right."""
    return b"".join(words[byte % len(words)] if byte < LITERAL else bytes(((byte * 2 + 1) % 256,)) for byte in raw)


def can_be_shown(text: str) -> bool:
    """Nothing in it is obeyed by a terminal, ends a line or turns the reading direction."""
    return not any(
        unicodedata.category(char) in ("Cc", "Zl", "Zp")
        or unicodedata.bidirectional(char)[:2] in ("LR", "RL", "PD", "FS")
        for char in text
    )
