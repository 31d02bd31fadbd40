"""Keeps one nvidia-smi going on a host: a stream where it is quick, calls in turn where it is slow, none beside one that hangs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from specdeck.parsing.nvidia_smi import GPU_FIELDS, GpuRow, without_field
from specdeck.parsing.nvidia_smi_complaints import why_no_rows
from specdeck.services.monitor_channel import Monitor
from specdeck.services.smi_call import Sample, SmiCall
from specdeck.state.events import Event, GpusSampled, GpusUnavailable, Noted
from specdeck.state.gpu_snapshot import LostGpu
from specdeck.state.gpus import gpu_from_row

PERIOD_MS = 2000
SLOW_SECONDS = 1.0
"""A call that takes longer is not streamed: without persistence mode each may load the driver."""
HINT_SECONDS = 3.0
SILENT_SECONDS = 60.0
"""A call without a row for so long hangs; before its first row the driver may be loading."""
STREAM_SILENT_SECONDS = 30.0
"""The same for a stream that gave rows every two seconds."""
PAUSE_SECONDS = 2.0
FAILED_PAUSE_SECONDS = 15.0
ASK_ALL_AGAIN_SECONDS = 45.0
"""How long a field that the driver does not know is left out: drivers are changed under running hosts."""
LOST_AGAIN_SECONDS = 300.0
"""How long a lost GPU is left out: a reset may bring it back."""
_LOOK_SECONDS = 1.0
HANGS = "nvidia-smi hangs; no second one is started beside it"


class GpuWatch:
    """Of one host; survives reconnects, so that what was learned is kept."""

    def __init__(self, host: str, post: Callable[[Event], None], now: Callable[[], float] = monotonic) -> None:
        self._host = host
        self._post = post
        self._now = now
        self._fields: tuple[str, ...] = GPU_FIELDS
        self._dropped_at = 0.0
        self._has_hinted = False
        self._lost: dict[str, LostGpu] = {}
        """Those for whose sake the whole query fails: the others are asked without them."""
        self._uuids: dict[str, str] = {}
        """Of all GPUs that were seen, by bus id."""
        self.rows: tuple[GpuRow, ...] = ()
        """The newest sample."""
        self.is_slow = False
        self.is_stuck = False
        """It hangs: nobody may start another one."""
        self.used_mib: int | None = None
        """GPU memory in use on all GPUs, by the newest sample; None: one cannot be read."""
        self.known = asyncio.Event()
        """How quick nvidia-smi is has been seen, so a second query does no harm."""
        self.turn = asyncio.Lock()
        """Held during each call on a slow host: whoever else wants nvidia-smi there waits."""
        self._call = self.begin_call()

    @property
    def living_ids(self) -> str:
        """What `nvidia-smi -i` is to be asked for, so that a lost GPU spoils nothing; empty: all."""
        return ",".join(uuid for bus, uuid in self._uuids.items() if bus not in self._lost) if self._lost else ""

    async def run(self, channel: Monitor) -> None:
        """Ask, take rows, ask again; endless. `take` must be given the channel's lines meanwhile."""
        self.known.clear()
        self.is_stuck = False
        self._lost = {}
        while True:
            if self.is_slow:
                async with self.turn:
                    await self._one_call(channel, 0)
            else:
                await self._one_call(channel, PERIOD_MS)
            await asyncio.sleep(self._pause())

    async def has_turn(self, seconds: float) -> bool:
        """Wait for the turn, which the caller must release; False: it did not come, as behind a call that hangs."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.turn.acquire()
        return False

    def take(self, line: str) -> None:
        """A line of nvidia-smi, or of the script that runs it: `@smi-end STATUS`, `@smi-hung PID SECONDS`."""
        self._call.take(line)

    def flush(self) -> None:
        """Report the first sample of a call, which nothing ends before the second one comes."""
        self._call.flush()

    def begin_call(self) -> SmiCall:
        """What comes from now on is the answer to a new question."""
        self._call = SmiCall(self._now, self._report, self._fields, self._now())
        return self._call

    def _report(self, sample: Sample) -> None:
        rows, lost = sample
        self.rows, self.is_stuck = rows, False
        self.known.set()
        self._uuids |= {row.bus_id: row.uuid for row in rows if row.bus_id and row.uuid}
        used = [row.memory_used_mib for row in rows]
        self.used_mib = sum(mib for mib in used if mib is not None) if None not in used else None
        all_lost = {**self._lost, **{each.bus_id: each for each in lost}}
        self._post(GpusSampled(self._host, tuple(map(gpu_from_row, rows)), tuple(all_lost.values())))

    async def _one_call(self, channel: Monitor, period_ms: int) -> None:
        if self._fields != GPU_FIELDS and self._now() - self._dropped_at > ASK_ALL_AGAIN_SECONDS:
            self._fields = GPU_FIELDS
        call = self.begin_call()
        await channel.tell(" ".join(("smi", str(period_ms), ",".join(self._fields), *self._which())))
        await self._until_ended(call, channel, period_ms)
        self.is_stuck = bool(call.hung)
        if not call.hung:
            self.known.set()
        if call.took is None:
            self._explain(call)

    def _which(self) -> tuple[str, ...]:
        """By the driver's own list where no other GPU was ever seen."""
        if not self._lost:
            return ()
        if self.living_ids:
            return "only", self.living_ids
        return "without", ",".join(_in_proc(bus) for bus in self._lost)

    async def _until_ended(self, call: SmiCall, channel: Monitor, period_ms: int) -> None:
        """Wait for the end; a stream whose first row came late is ended. A call that hangs is waited for: never a second one."""
        while not await _is_set(call.first, self._patience(call, SILENT_SECONDS)):
            self._look_for_silence(call, SILENT_SECONDS)
        self._judge_pace(call)
        is_too_slow = self.is_slow and period_ms
        if is_too_slow and not call.ended.is_set():
            await asyncio.sleep(0.2)
            call.flush()
            await channel.tell("smi-stop")
        has_stopped = bool(is_too_slow)
        while not await _is_set(call.ended, self._patience(call, STREAM_SILENT_SECONDS)):
            self._look_for_silence(call, STREAM_SILENT_SECONDS)
            if self._lost and not has_stopped and self._now() - call.began > LOST_AGAIN_SECONDS:
                has_stopped, self._lost = True, {}
                await channel.tell("smi-stop")

    def _patience(self, call: SmiCall, limit_seconds: float) -> float:
        """How long to wait before its silence is looked at."""
        return max(_LOOK_SECONDS, max(call.began, call.row_at) + limit_seconds - self._now())

    def _look_for_silence(self, call: SmiCall, limit_seconds: float) -> None:
        if not self.is_stuck and self._now() - max(call.began, call.row_at) >= limit_seconds:
            self.is_stuck = True
            self._post(GpusUnavailable(self._host, HANGS))

    def _judge_pace(self, call: SmiCall) -> None:
        if call.took is None:
            return
        self.is_slow = call.took > SLOW_SECONDS
        if call.took > HINT_SECONDS and not self._has_hinted:
            self._has_hinted = True
            words = f"nvidia-smi takes {call.took:.0f} s here, persistence mode may be off"
            self._post(Noted(self._host, words, "warning"))

    def _explain(self, call: SmiCall) -> None:
        """The call gave no row: leave out what the driver does not know or has lost, or say why there are no GPUs."""
        complaint = call.complaint()
        if call.hung:
            self._post(GpusUnavailable(self._host, f"{HANGS} (pid {call.hung.partition(' ')[0]})"))
        elif complaint is not None and complaint.field in call.asked:
            self._fields = without_field(call.asked, str(complaint.field))
            self._dropped_at = self._now()
        elif complaint is not None and complaint.gpu is not None and complaint.gpu not in self._lost:
            self._lost[complaint.gpu] = LostGpu(complaint.gpu, complaint.sentence)
        else:
            self._lost = {}
            self._post(GpusUnavailable(self._host, why_no_rows(call.words, call.status).sentence))

    def _pause(self) -> float:
        call = self._call
        if call.took is None:
            has_learned = self._fields != call.asked or self._lost
            return 0.05 if has_learned and not call.hung else FAILED_PAUSE_SECONDS
        return max(PAUSE_SECONDS, call.took / 4)


def _in_proc(bus_id: str) -> str:
    """`0000:1a:00.0`, as /proc/driver/nvidia/gpus names it."""
    domain, _, rest = bus_id.rpartition(":")[0].rpartition(":")
    return f"{domain.rjust(4, '0')}:{rest}:{bus_id.rpartition(':')[2]}".lower()


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
