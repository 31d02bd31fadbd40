"""Whether the processes of a family use the CPU, by the ticks that /proc counts; a start that says nothing may compile."""

from collections import deque
from collections.abc import Iterable, Mapping

from specdeck.parsing.proc import ProcessStat

SPAN_SECONDS = 10.0
"""Over which the use is measured."""
BUSY_CORES = 0.2
TICKS_A_SECOND = 100.0
"""USER_HZ of every Linux that carries NVIDIA GPUs."""
MOST_PROCESSES = 64


class CpuUse:
    """Of one family; a process that ended leaves its time to its parent."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Mapping[int, int]]] = deque()

    def take(self, stats: Iterable[ProcessStat], at: float) -> None:
        """The ticks of all its processes at one moment; none: it is not measured any more."""
        ticks = {stat.pid: stat.cpu_ticks for stat in stats}
        if not ticks:
            self._samples.clear()
            return
        self._samples.append((at, ticks))
        while len(self._samples) > 2 and at - self._samples[1][0] >= SPAN_SECONDS:
            self._samples.popleft()

    @property
    def is_busy(self) -> bool | None:
        """None until it was measured long enough."""
        if len(self._samples) < 2:
            return None
        (began, before), (ended, now) = self._samples[0], self._samples[-1]
        if ended - began < SPAN_SECONDS:
            return None
        used = sum(max(0, ticks - before.get(pid, 0)) for pid, ticks in now.items())
        return used / TICKS_A_SECOND / (ended - began) > BUSY_CORES
