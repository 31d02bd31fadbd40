"""Time of a recording: it passes faster or slower than ours, stands still, or is moved to another moment."""

import asyncio
import selectors
from collections.abc import Callable


class ReplayClock:
    """Where a replay is, in unix seconds of the recording."""

    def __init__(self, began: float, loop_time: Callable[[], float]) -> None:
        self._at = began
        self._loop_time = loop_time
        self._since = loop_time()
        self._is_paused = False

    def now(self) -> float:
        """The moment that is shown."""
        return self._at if self._is_paused else self._at + self._loop_time() - self._since

    @property
    def is_paused(self) -> bool:
        """Whether it stands still."""
        return self._is_paused

    def pause(self, *, is_paused: bool) -> None:
        """Stand still, or go on."""
        self._set(self.now())
        self._is_paused = is_paused

    def move(self, at: float) -> None:
        """Another moment; whatever watches by this clock must begin anew."""
        self._set(at)

    def _set(self, at: float) -> None:
        self._at, self._since = at, self._loop_time()


class ReplayLoop(asyncio.SelectorEventLoop):
    """An event loop on which every second is `speed` times as short; speed None: whatever waits for time need not wait.

    So the monitors pace themselves as they did, and nothing but the clock differs.
    """

    def __init__(self, speed: float | None = 1.0) -> None:
        self._speed = speed
        self._jumped = 0.0
        self._hastened_until = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds of the recording."""
        return super().time() * (self._speed or 1.0) + self._jumped

    def hasten(self, seconds: float) -> None:
        """Whatever waits for one of the next seconds need not wait."""
        self._hastened_until = self.time() + seconds

    def shortened(self, seconds: float | None) -> float | None:
        """How long to wait for that to pass."""
        if seconds is None or seconds <= 0:
            return seconds
        hastened = self._hastened_until - self.time()
        if self._speed is not None and hastened <= 0:
            return seconds / self._speed
        self._jumped += seconds if self._speed is None else min(seconds, hastened)
        return 0.0


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: ReplayLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(self._loop.shortened(timeout))
