"""How far a log is ahead of what was read of it, where it grows faster than its line carries."""

LOOK_SECONDS, MOST_SECONDS = 5.0, 60.0
"""After so long of much log its size is asked, which costs the host a process; where all was read, less and less often."""
MUCH_BYTES_PER_SECOND = 4096
TOLD_BYTES = 1_000_000
"""What is on its way is no lag."""
SKIPPED_BYTES = 8 * 1024 * 1024
SKIPPED_SECONDS = 30.0
"""So far behind, what is read is no news any more: it goes on at the end."""
CAUGHT_UP_SECONDS = 5.0
"""So long the end of the log may take to be read, once it is skipped to."""
LEAST_TAIL_BYTES = 128 * 1024


class LogLag:
    """Of one log."""

    def __init__(self) -> None:
        self.behind_bytes = 0
        """0: everything was read, or nearly."""
        self.pause = LOOK_SECONDS
        """Until the next look."""
        self.bytes_per_second: float | None = None
        """What the line carries of it; None: enough."""

    def is_worth_a_look(self, taken_bytes: int) -> bool:
        """So much came since the last look that there may be more than the line carries."""
        return taken_bytes >= self.pause * MUCH_BYTES_PER_SECOND

    def measured(self, behind_bytes: int, taken_bytes: int) -> None:
        """The host has so much that was not read, after so much was read since the last look."""
        self.behind_bytes = behind_bytes if behind_bytes >= TOLD_BYTES else 0
        self.bytes_per_second = taken_bytes / self.pause if self.behind_bytes else None
        self.pause = LOOK_SECONDS if behind_bytes > TOLD_BYTES / 4 else min(self.pause * 2, MOST_SECONDS)

    def over(self) -> None:
        """Little comes, so nothing waits; or the log is read from its end on."""
        self.behind_bytes, self.pause = 0, LOOK_SECONDS

    @property
    def is_old_news(self) -> bool:
        """Better skip to the end."""
        seconds = self.behind_bytes / self.bytes_per_second if self.bytes_per_second else 0.0
        return self.behind_bytes > SKIPPED_BYTES or seconds > SKIPPED_SECONDS

    def tail_bytes(self, most: int) -> int:
        """How much of the end to read."""
        if self.bytes_per_second is None:
            return most
        return min(most, max(LEAST_TAIL_BYTES, int(self.bytes_per_second * CAUGHT_UP_SECONDS)))
