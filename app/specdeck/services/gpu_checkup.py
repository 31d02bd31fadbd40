"""Asks every few minutes, or on a change, what a stream of rows does not tell: ECC, links, MIG, Xids. One look at a time."""

import asyncio
from collections.abc import Callable, Iterable

from specdeck.errors import ScriptTimeout
from specdeck.parsing.gpu_check import BUSY_PERCENT, CHECK_FIELDS, GpuCheck, check_row
from specdeck.parsing.mig import MigInstance, listed_instances, with_names
from specdeck.parsing.nvidia_smi import without_field
from specdeck.parsing.nvidia_smi_complaints import complaints
from specdeck.parsing.nvidia_smi_xml import read_xml
from specdeck.parsing.nvlink import nvlinks
from specdeck.parsing.xid import Xid, xids
from specdeck.quick_dataclass import replace
from specdeck.services.gpu_watch import GpuWatch
from specdeck.services.racing import wait_at_most
from specdeck.state.events import Event, GpusChecked
from specdeck.state.gpu_snapshot import CheckUp
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

EVERY_SECONDS = 300.0
MIG_EVERY_SECONDS = 60.0
"""The memory of instances is told by nothing else."""
LEAST_SECONDS = 30.0
"""Between two looks, whatever changes."""
LIMIT_SECONDS = 60.0


class GpuCheckUps:
    """Of one host; survives reconnects, so that the fields which its driver knows are asked at once."""

    def __init__(self, host: str, watch: GpuWatch, post: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self._host = host
        self._watch = watch
        self._post = post
        self._clock = clock
        self._fields: tuple[str, ...] = CHECK_FIELDS
        self._due = asyncio.Event()
        self._has_mig = False
        self._has_told = False
        self._is_looking = False
        self._looked_at: frozenset[int] = frozenset()
        """GPUs that were at work when they were looked at, whatever could be read."""

    @property
    def is_due(self) -> bool:
        """Somebody asked for a look that has not begun."""
        return self._due.is_set()

    def look_at_rows(self) -> None:
        """A GPU that has begun to work has a link worth a look."""
        if not self._is_looking and self._busy() - self._looked_at:
            self._due.set()

    def ask_soon(self) -> None:
        """Something has changed: a process on a GPU has ended."""
        self._due.set()

    def _busy(self) -> frozenset[int]:
        rows = self._watch.rows
        return frozenset(row.index for row in rows if (row.utilization_percent or 0.0) >= BUSY_PERCENT)

    async def run(self, transport: Transport) -> None:
        """Endless; begins when it is known how quick nvidia-smi is."""
        await self._watch.known.wait()
        while True:
            self._due.clear()
            if not self._watch.is_stuck:
                await self._look(transport)
            await asyncio.sleep(LEAST_SECONDS)
            await wait_at_most(self._due, (MIG_EVERY_SECONDS if self._has_mig else EVERY_SECONDS) - LEAST_SECONDS)

    async def _look(self, transport: Transport) -> None:
        self._is_looking = True
        self._looked_at |= self._busy()
        try:
            answer = await self._in_turn(transport)
        except ScriptTimeout:
            answer = None
        finally:
            self._is_looking = False
        if answer is not None:
            self._tell(answer)
        elif not self._has_told:
            self._post(GpusChecked(self._host, CheckUp(self._clock())))  # asked, and nothing is claimed
        self._has_told = True

    async def _in_turn(self, transport: Transport) -> dict[str, str] | None:
        if not self._watch.is_slow:
            return await self._ask(transport)
        if not await self._watch.has_turn(LIMIT_SECONDS):
            return None
        try:
            return await self._ask(transport)
        finally:
            self._watch.turn.release()

    async def _ask(self, transport: Transport) -> dict[str, str] | None:
        """The tagged lines; a field that the driver does not know is left out at once, and from then on."""
        for _ in CHECK_FIELDS:
            answer = tagged(await self._answer(transport))
            unknown = next((each.field for each in complaints(answer.get("check", "")) if each.field), None)
            if unknown is None or unknown not in self._fields:
                return answer if "end" in answer else None
            self._fields = without_field(self._fields, unknown)
        return None

    async def _answer(self, transport: Transport) -> bytes:
        has_links = len(self._watch.rows) > 1 and not self._watch.is_slow  # each of them is one more call
        kinds = [*(["links"] if has_links else []), *(["mig"] if self._has_mig else [])]
        args = (",".join(self._fields), self._watch.living_ids, " ".join(kinds))
        outcome = await transport.run(Script(script_text("gpu_check"), args), limit_seconds=LIMIT_SECONDS)
        return outcome.stdout

    def _tell(self, answer: dict[str, str]) -> None:
        checkup = read_checkup(answer, self._fields, self._clock())
        has_mig = any(check.is_mig for check in checkup.checks)
        if has_mig and not self._has_mig:
            self._due.set()  # its instances were not asked for yet
        self._has_mig = has_mig
        self._post(GpusChecked(self._host, checkup))


def tagged(answer: bytes) -> dict[str, str]:
    """The lines of gpu_check.sh by their tags."""
    found: dict[str, str] = {}
    for line in answer.decode("utf-8", "replace").split("\n"):
        if line.startswith("@"):
            tag, _, rest = line[1:].partition(" ")
            found[tag] = f"{found.get(tag, '')}{rest}\n"
    return found


def read_checkup(answer: dict[str, str], fields: tuple[str, ...], now: float) -> CheckUp:
    """What it says at `now`, by specdeck's clock."""
    uptime = answer.get("uptime", "").strip()
    booted_at = now - float(uptime) if uptime.replace(".", "", 1).isdecimal() else None
    return CheckUp(
        at=now,
        checks=_checks(answer.get("check", "").split("\n"), fields),
        links=nvlinks(answer.get("link", "")),
        instances=_instances(answer),
        xids=None if "denied" in answer else _dated(xids(answer.get("kernel", "")), booted_at),
    )


def _checks(lines: Iterable[str], fields: tuple[str, ...]) -> tuple[GpuCheck, ...]:
    return tuple(check for line in lines if (check := check_row(line, fields)))


def _instances(answer: dict[str, str]) -> tuple[MigInstance, ...]:
    listed = listed_instances(answer.get("list", ""))
    return with_names(read_xml(answer.get("xml", "")).instances, listed) or listed


def _dated(found: tuple[Xid, ...], booted_at: float | None) -> tuple[Xid, ...]:
    return tuple(
        replace(xid, at=booted_at + xid.seconds) if booted_at is not None and xid.seconds is not None else xid
        for xid in found
    )
