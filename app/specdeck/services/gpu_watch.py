"""Keeps one nvidia-smi going on a host: a stream where it is quick, one call at a time where it is slow."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from time import monotonic

from specdeck.parsing.nvidia_smi import GPU_FIELDS, GpuRow, gpu_row, without_field
from specdeck.parsing.nvidia_smi_complaints import complaints, why_no_rows
from specdeck.services.monitor_channel import Monitor
from specdeck.state.events import Event, GpusSampled, GpusUnavailable, Noted
from specdeck.state.snapshot import Gpu

PERIOD_MS = 2000
SLOW_SECONDS = 1.0
"""A call that takes longer is not streamed: without persistence mode each may load the driver."""
HINT_SECONDS = 3.0
SILENT_SECONDS = 60.0
PAUSE_SECONDS = 2.0
FAILED_PAUSE_SECONDS = 15.0
WHOLE_SECONDS = 0.3
"""After so long the first rows of a call are a whole sample: how many there will be is known from the second one on."""
ASK_ALL_AGAIN_SECONDS = 45.0
"""How long a field that the driver does not know is left out: drivers are changed under running hosts."""
_KEPT_WORDS = 2000


@dataclass(slots=True)
class _Call:
    """One run of nvidia-smi, be it a stream."""

    asked: tuple[str, ...] = GPU_FIELDS
    began: float = 0.0
    took: float | None = None
    """Until its first row."""
    rows: list[GpuRow] = field(default_factory=list)
    """Of the sample that comes in now."""
    rows_at: float = 0.0
    count: int | None = None
    """Rows of a sample, by the last one that was seen from its first row to its last."""
    words: str = ""
    status: int = 0
    first: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class GpuWatch:
    """Of one host; survives reconnects, so that what was learned is kept."""

    def __init__(self, host: str, post: Callable[[Event], None], now: Callable[[], float] = monotonic) -> None:
        self._host = host
        self._post = post
        self._now = now
        self._fields: tuple[str, ...] = GPU_FIELDS
        self._dropped_at = 0.0
        self._has_hinted = False
        self.is_slow = False
        self.used_mib: int | None = None
        """GPU memory in use on all GPUs, by the newest sample; None: one cannot be read."""
        self.known = asyncio.Event()
        """How quick nvidia-smi is has been seen, so a second query does no harm."""
        self.turn = asyncio.Lock()
        """Held during each call on a slow host: whoever else wants nvidia-smi there waits."""
        self._call = _Call()

    async def run(self, channel: Monitor) -> None:
        """Ask, take rows, ask again; endless. `take` must be given the channel's lines meanwhile."""
        self.known.clear()
        while True:
            if self.is_slow:
                async with self.turn:
                    await self._one_call(channel, 0)
            else:
                await self._one_call(channel, PERIOD_MS)
            await asyncio.sleep(self._pause())

    def take(self, line: str) -> None:
        """A line of nvidia-smi, or `@smi-end STATUS`."""
        if line.startswith("@smi-end"):
            self._call.status = int(word) if (word := line.partition(" ")[2]).isdecimal() else 1
            self._report()
            self._call.ended.set()
            self._call.first.set()
        elif row := gpu_row(line, self._call.asked):
            self._take_row(row)
        else:
            self._call.words = f"{self._call.words}{line}\n"[-_KEPT_WORDS:]

    def flush(self) -> None:
        """Report the first sample of a call, which nothing ends before the second one comes."""
        call = self._call
        if call.rows and call.count is None and self._now() - call.rows_at >= WHOLE_SECONDS:
            self._report()

    def _report(self) -> None:
        rows, self._call.rows = self._call.rows, []
        if rows:
            used = [row.memory_used_mib for row in rows]
            self.used_mib = sum(mib for mib in used if mib is not None) if None not in used else None
            self._post(GpusSampled(self._host, tuple(_gpu(row) for row in rows)))

    async def _one_call(self, channel: Monitor, period_ms: int) -> None:
        if self._fields != GPU_FIELDS and self._now() - self._dropped_at > ASK_ALL_AGAIN_SECONDS:
            self._fields = GPU_FIELDS
        self._call = _Call(self._fields, self._now())
        await channel.tell(f"smi {period_ms} {','.join(self._call.asked)}")
        await self._until_ended(channel, period_ms)
        self.known.set()
        if self._call.took is None:
            self._explain()

    async def _until_ended(self, channel: Monitor, period_ms: int) -> None:
        """Wait for the end; a stream whose first row came late is ended. A call that hangs is waited for: never a second one."""
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                await self._call.first.wait()
        except TimeoutError:
            self._post(GpusUnavailable(self._host, f"nvidia-smi has not answered for {SILENT_SECONDS:.0f} s"))
            await self._call.first.wait()
        self._judge_pace()
        if self.is_slow and period_ms and not self._call.ended.is_set():
            await asyncio.sleep(0.2)
            self._report()
            await channel.tell("smi-stop")
        await self._call.ended.wait()

    def _take_row(self, row: GpuRow) -> None:
        if self._call.took is None:
            self._call.took = self._now() - self._call.began
            self.known.set()
            self._call.first.set()
        rows = self._call.rows
        if rows and row.index <= rows[-1].index:  # nvidia-smi goes through the GPUs in order: the next sample begins
            self._call.count = len(rows)
            self._report()
        if not self._call.rows:
            self._call.rows_at = self._now()
        self._call.rows.append(row)
        if len(self._call.rows) == self._call.count:
            self._report()

    def _judge_pace(self) -> None:
        if self._call.took is None:
            return
        self.is_slow = self._call.took > SLOW_SECONDS
        if self._call.took > HINT_SECONDS and not self._has_hinted:
            self._has_hinted = True
            words = f"nvidia-smi takes {self._call.took:.0f} s here, persistence mode may be off"
            self._post(Noted(self._host, words, "warning"))

    def _explain(self) -> None:
        """The call gave no row: leave out what the driver does not know, or say why there are no GPUs."""
        unknown = next((each.field for each in complaints(self._call.words) if each.field), None)
        if unknown is not None and unknown in self._call.asked:
            self._fields = without_field(self._call.asked, unknown)
            self._dropped_at = self._now()
        else:
            self._post(GpusUnavailable(self._host, why_no_rows(self._call.words, self._call.status).sentence))

    def _pause(self) -> float:
        if self._call.took is None:
            return 0.05 if self._fields != self._call.asked else FAILED_PAUSE_SECONDS
        return max(PAUSE_SECONDS, self._call.took / 4)


def _gpu(row: GpuRow) -> Gpu:
    return Gpu(**{each.name: getattr(row, each.name) for each in fields_of(row)})
