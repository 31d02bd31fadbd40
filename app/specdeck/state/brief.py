"""Text of hosts where it stands in the way of something else: its first sentences, as far as they are short."""

MORE = " …"
LONGEST = 120
"""Characters: three or four lines of a message in the corner, which is 40 wide in 80 columns."""


def in_brief(text: str) -> str:
    """Whole where it is short; else the sentences that fit, else the words, and that there is more.

    An error of PyTorch takes eleven lines, whose first one says what happened; the view, `d` and `diagnose` have them all.
    """
    if len(text) <= LONGEST:
        return text
    room = text[: LONGEST - len(MORE)]
    end = room.rfind(". ") + 1 or room.rfind(" ")
    return f"{room[:end] if end > 0 else room}{MORE}"
