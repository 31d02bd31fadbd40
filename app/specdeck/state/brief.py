"""Text of hosts where it stands in the way of something else: its first sentences, as far as they are short."""

LONGEST = 120
"""Characters: three or four lines of a message in the corner, which is 40 wide in 80 columns."""


def in_brief(text: str) -> str:
    """Whole where it is short; else the sentences that fit, else the words, and that there is more.

    An error of PyTorch takes eleven lines, whose first one says what happened; the view, `d` and `diagnose` have them all.
    """
    if len(text) <= LONGEST:
        return text
    room = text[: LONGEST - 1]
    sentences = room.rfind(". ") + 1
    return f"{room[:sentences] if sentences else room[: room.rfind(' ')] if ' ' in room else room} …"[:LONGEST]
