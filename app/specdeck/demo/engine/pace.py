"""How fast simulated time runs: loading is compressed by the demo's speed; serving keeps real time at the usual speed."""

import os
import time
from collections.abc import Callable

from specdeck.demo.identity import SPEED

USUAL_SPEED = 25.0


class Pace:
    """Sleeps in seconds of a real engine."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.speed = max(0.01, float(os.environ.get(SPEED, USUAL_SPEED)))
        self._check = check

    def load(self, seconds: float) -> None:
        """Work of a start that takes a large model this long; looks after the ranks on the way."""
        until = time.monotonic() + seconds / self.speed
        while (left := until - time.monotonic()) > 0:
            self._check()
            time.sleep(min(left, 0.5))
        self._check()

    def serving(self, seconds: float) -> float:
        """A duration while serving: real at the usual speed or below, shorter above."""
        return seconds / max(1.0, self.speed / USUAL_SPEED)
