"""One run of nvidia-smi, be it a stream: its rows gathered into samples, the GPUs that it names as lost, its pace."""

import asyncio
from collections.abc import Callable
from dataclasses import field

from specdeck.parsing.nvidia_smi import GPU_FIELDS, GpuRow, earlier_row, gpu_row
from specdeck.parsing.nvidia_smi_complaints import Complaint, complaints
from specdeck.quick_dataclass import dataclass
from specdeck.state.gpu_snapshot import LostGpu

WHOLE_SECONDS = 0.3
"""After so long the first rows of a call are a whole sample: how many there will be is known from the second one on."""
_KEPT_WORDS = 2000
Sample = tuple[tuple[GpuRow, ...], tuple[LostGpu, ...]]


@dataclass(slots=True)
class SmiCall:
    """Fed with its lines; it calls `on_sample` with each complete sample."""

    now: Callable[[], float]
    on_sample: Callable[[Sample], None]
    asked: tuple[str, ...] = GPU_FIELDS
    began: float = 0.0
    took: float | None = None
    """Seconds until its first row."""
    row_at: float = 0.0
    """When its newest row came."""
    words: str = ""
    """All that were no rows."""
    status: int = 0
    hung: str = ""
    """`PID SECONDS` of another one that hangs, so that this one was not started."""
    first: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _rows: list[GpuRow] = field(default_factory=list)
    _rows_at: float = 0.0
    _count: int | None = None
    """Rows of a sample, by the last one that was seen from its first row to its last."""
    _lost: dict[str, LostGpu] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """A line of nvidia-smi, or what the script says of it."""
        if line.startswith("@smi-hung "):
            self.hung = line.partition(" ")[2]
        elif line.startswith("@smi-end"):
            self.status = int(word) if (word := line.partition(" ")[2]).isdecimal() else 1
            self._report()
            self.ended.set()
            self.first.set()
        elif row := gpu_row(line, self.asked) or earlier_row(line):
            self._take_row(row)
        else:
            self._take_words(line)

    def flush(self) -> None:
        """Report the first sample, which nothing ends before the second one comes."""
        if self._rows and self._count is None and self.now() - self._rows_at >= WHOLE_SECONDS:
            self._report()

    def complaint(self) -> Complaint | None:
        """The first thing that it said instead of rows, where it is a known sentence."""
        return next(iter(complaints(self.words)), None)

    def _take_words(self, line: str) -> None:
        self.words = f"{self.words}{line}\n"[-_KEPT_WORDS:]
        for each in complaints(line):
            if each.gpu is not None:
                self._lost[each.gpu] = LostGpu(each.gpu, each.sentence)

    def _take_row(self, row: GpuRow) -> None:
        self.row_at = self.now()
        if self.took is None:
            self.took = self.row_at - self.began
            self.first.set()
        if (
            self._rows and row.index <= self._rows[-1].index
        ):  # it goes through the GPUs in order: the next sample begins
            self._count = len(self._rows)
            self._report()
        if not self._rows:
            self._rows_at = self.row_at
        self._rows.append(row)
        if len(self._rows) == self._count:
            self._report()

    def _report(self) -> None:
        rows, self._rows = tuple(self._rows), []
        if rows:
            self.on_sample((rows, tuple(self._lost.values())))
