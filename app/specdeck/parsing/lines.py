"""Log bytes into lines: \\n, \\r\\n and \\r all end one; invalid UTF-8 never stops it; a line without an end can be looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
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
