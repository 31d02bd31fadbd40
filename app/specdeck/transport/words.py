"""Words that a host or a library said, made fit for a sentence: they may hold anything."""

from specdeck.parsing.lines import visible_text

_LONGEST = 300


def said(words: object) -> str:
    """One short line that no terminal obeys."""
    raw = words if isinstance(words, bytes) else str(words).encode("utf-8", "replace")
    return " ".join(" ".join(map(visible_text, raw.split())).split())[:_LONGEST]
