"""Short foreign texts (names, words, sentences of a host) made harmless: one line of characters that can be seen."""

from specdeck.parsing.lines import visible_text


def plain(text: str) -> str:
    """Without control, escape and direction characters; every line end becomes a space."""
    return visible_text(" ".join(text.split()).encode("utf-8", "replace"))
