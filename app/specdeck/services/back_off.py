"""How long to wait before the next try: doubling from one second to a minute, with jitter so that hosts do not come at once."""

import random
from collections.abc import Callable


class BackOff:
    """Counts failures in a row."""

    def __init__(
        self, *, first_seconds: float = 1.0, last_seconds: float = 60.0, jitter: Callable[[], float] = random.random
    ) -> None:
        self._first = first_seconds
        self._last = last_seconds
        self._jitter = jitter
        self._failures = 0

    def next_seconds(self) -> float:
        """The next pause: between half and all of the doubled time."""
        whole = min(self._last, self._first * 2.0 ** min(self._failures, 20))
        self._failures += 1
        return whole * (0.5 + 0.5 * self._jitter())

    def reset(self) -> None:
        """It worked."""
        self._failures = 0
