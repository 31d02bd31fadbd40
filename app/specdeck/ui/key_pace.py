"""Tells typing from pasting: keys that follow each other faster than a hand can are a burst."""

BURST_SECONDS = 0.030


class KeyPace:
    """Counts keys and remembers how close the last two were."""

    def __init__(self) -> None:
        self.keys = 0
        self._last: float | None = None
        self._gap: float | None = None

    @property
    def is_burst(self) -> bool:
        """The newest key came too soon after the one before it."""
        return self._gap is not None and self._gap < BURST_SECONDS

    def note(self, at: float) -> None:
        """A key was pressed."""
        self.keys += 1
        self._gap = None if self._last is None else at - self._last
        self._last = at

    def note_paste(self) -> None:
        """Text was pasted: like a burst of keys."""
        self.keys += 2
        self._gap = 0.0
