"""SGLang's `Decode batch` lines: one rate of the whole server out of the lines of its data-parallel ranks."""

import re
from dataclasses import dataclass

from specdeck.state.log_story import BatchReport

_HEAD = re.compile(r"(?:Decode|Prefill) batch(?: \[\d+\])?[.,] ")
_DP = re.compile(r"DP\d+")
_IDLE_AFTER_SECONDS = 2.0
"""A pause that long, with a new request from nothing, makes the next rate meaningless."""
_SURELY_IDLE_AFTER_SECONDS = 30.0
_SILENT_AFTER_SECONDS = 30.0
"""A rank that wrote nothing for so long while others did has no requests."""


@dataclass(frozen=True, slots=True)
class _RankReport:
    report: BatchReport
    at: float


def fields_of(message: str) -> dict[str, str]:
    """`#running-req: 1, token usage: 0.71` as a mapping; versions differ in which fields there are."""
    head = _HEAD.match(message)
    if head is None:
        return {}
    pairs = (part.partition(": ") for part in message[head.end() :].split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _number(word: str | None) -> float | None:
    try:
        return None if word is None else float(word)
    except ValueError:
        return None


class Batches:
    """The newest report of each rank, and which of them follow a pause."""

    def __init__(self) -> None:
        self._ranks: dict[str, _RankReport] = {}
        self._started_from_nothing: set[str] = set()

    def prefill(self, message: str, rank: str) -> None:
        """A prefill with nothing running ends a pause of that rank."""
        if "#running-req: 0," in message:
            self._started_from_nothing.add(_replica(rank))

    def decode(self, message: str, rank: str, at: float) -> BatchReport | None:
        """The server's report after this line; None if the line holds no rate."""
        fields = fields_of(message)
        rate = _number(fields.get("gen throughput (token/s)"))
        running = _number(fields.get("#running-req"))
        if rate is None or running is None:
            return None
        replica = _replica(rank)
        report = BatchReport(
            tok_s=rate,
            running=int(running),
            queued=int(_number(fields.get("#queue-req")) or 0),
            kv_usage=_number(fields.get("token usage") or fields.get("full token usage")),
            accept_length=_number(fields.get("accept len")),
            follows_idle=self._follows_idle(replica, at),
        )
        self._started_from_nothing.discard(replica)
        self._ranks[replica] = _RankReport(report, at)
        return _sum([known.report for known in self._ranks.values() if at - known.at <= _SILENT_AFTER_SECONDS])

    def _follows_idle(self, replica: str, at: float) -> bool:
        before = self._ranks.get(replica)
        if before is None:
            return True
        pause = at - before.at
        from_nothing = replica in self._started_from_nothing
        return pause >= (_IDLE_AFTER_SECONDS if from_nothing else _SURELY_IDLE_AFTER_SECONDS)


def _replica(rank: str) -> str:
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
