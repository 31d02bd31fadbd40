"""SGLang's `Decode batch` lines: one rate of the whole server out of the lines of its data-parallel ranks."""

import re
from typing import NamedTuple

from specdeck.engines.sglang.records import moment
from specdeck.state.log_story import BatchReport

_HEAD = re.compile(r"(?:Decode|Prefill) batch(?: \[\d+\])?[.,] ")
_DECODE = "] Decode batch"
_LINE = re.compile(r"\[(2.{18})([\w. ]*+)\] ((?:Decode|Prefill) batch.*)")
_DP = re.compile(r"DP\d+")
_IDLE_AFTER_SECONDS = 2.0
"""A pause that long, with a new request from nothing, makes the next rate meaningless."""
_SURELY_IDLE_AFTER_SECONDS = 30.0
_ABSURD = 1e12
_SILENT_AFTER_SECONDS = 30.0
"""A rank that wrote nothing for so long while others did has no requests."""


class _Heard(NamedTuple):
    """The newest decode line of a replica, not read yet: a busy server writes many, and only the newest counts."""

    message: str
    stamp: str
    stamp_before: str | None
    is_from_nothing: bool
    """Requests began while nothing ran, since the line before."""


def fields_of(message: str) -> dict[str, str]:
    """`#running-req: 1, token usage: 0.71` as a mapping; versions differ in which fields there are."""
    head = _HEAD.match(message)
    if head is None:
        return {}
    pairs = (part.partition(": ") for part in message[head.end() :].split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _number(word: str | None) -> float | None:
    try:
        value = float(word or "")
    except ValueError:
        return None
    return value if abs(value) < _ABSURD else None


class Batches:
    """The newest decode line of each data-parallel replica."""

    def __init__(self) -> None:
        self._heard: dict[str, _Heard] = {}
        self._from_nothing: set[str] = set()

    def prefill(self, message: str, rank: str) -> None:
        """A prefill with nothing running ends a pause of that replica."""
        if "#running-req: 0," in message:
            self._from_nothing.add(_replica(rank))

    def decode(self, message: str, rank: str, stamp: str) -> None:
        """A decode line; it is read when somebody asks."""
        replica = _replica(rank) if rank else ""
        before = self._heard.get(replica)
        is_from_nothing = replica in self._from_nothing
        if is_from_nothing:
            self._from_nothing.discard(replica)
        self._heard[replica] = _Heard(message, stamp, before.stamp if before else None, is_from_nothing)

    def hear(self, text: str) -> bool:
        """Lines of the log with their ends, of other kinds too; whether decode lines are among them."""
        newest = text.rfind(_DECODE)
        if newest < 0 and "#running-req: 0," not in text:
            return False
        for match in _LINE.finditer(text, self._worth_reading_from(text, newest)):
            stamp, rank, message = match.groups()
            if message.startswith("Decode"):
                self.decode(message, rank, stamp)
            else:
                self.prefill(message, rank)
        return newest >= 0

    def _worth_reading_from(self, text: str, newest: int) -> int:
        """Without replicas the newest two decode lines count. The lines of one run all name their replica, or none does."""
        before = text.rfind(_DECODE, 0, max(newest, 0))
        is_of_a_replica = _DP.search(text, text.rfind("\n", 0, newest) + 1, newest)
        return 0 if before < 0 or is_of_a_replica else text.rfind("\n", 0, before) + 1

    def report(self) -> BatchReport | None:
        """The whole server: the sum over its replicas; None before the first rate."""
        newest = max((moment(heard.stamp) for heard in self._heard.values()), default=0.0)
        speaking = [heard for heard in self._heard.values() if newest - moment(heard.stamp) <= _SILENT_AFTER_SECONDS]
        reports = [report for heard in speaking if (report := _read(heard)) is not None]
        return _sum(reports) if reports else None


def _read(heard: _Heard) -> BatchReport | None:
    fields = fields_of(heard.message)
    rate = _number(fields.get("gen throughput (token/s)"))
    running = _number(fields.get("#running-req"))
    if rate is None or running is None:
        return None
    return BatchReport(
        tok_s=rate,
        running=int(running),
        queued=int(_number(fields.get("#queue-req")) or 0),
        kv_usage=_number(fields.get("token usage") or fields.get("full token usage")),
        accept_length=_number(fields.get("accept len")),
        follows_idle=_follows_idle(heard),
    )


def _follows_idle(heard: _Heard) -> bool:
    if heard.stamp_before is None:
        return True
    pause = moment(heard.stamp) - moment(heard.stamp_before)
    return pause >= (_IDLE_AFTER_SECONDS if heard.is_from_nothing else _SURELY_IDLE_AFTER_SECONDS)


def _replica(rank: str) -> str:
    """The ranks of one data-parallel replica report the same requests."""
    match = _DP.search(rank)
    return match[0] if match else ""


def _sum(reports: list[BatchReport]) -> BatchReport:
    """All ranks as one server; a rate that includes a pause is left out of the sum."""
    if len(reports) == 1:
        return reports[0]
    usages = [report.kv_usage for report in reports if report.kv_usage is not None]
    lengths = [report.accept_length for report in reports if report.accept_length is not None]
    steady = [report for report in reports if not report.follows_idle]
    return BatchReport(
        tok_s=sum(report.tok_s for report in steady or reports),
        running=sum(report.running for report in reports),
        queued=sum(report.queued for report in reports),
        kv_usage=max(usages, default=None),
        accept_length=sum(lengths) / len(lengths) if lengths else None,
        follows_idle=not steady,
    )
