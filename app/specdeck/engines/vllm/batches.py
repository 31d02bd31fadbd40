"""vLLM's throughput lines, one an engine every 10 s while there is traffic, and its speculation line beside them."""

import re

from specdeck.quick_dataclass import replace
from specdeck.state.log_story import BatchReport

_STATS = re.compile(
    r"(?:Engine (?P<engine>\d+): |\d+ Engines Aggregated: )"
    r"Avg prompt throughput: [\d.]{1,20} tokens/s, Avg generation throughput: (?P<rate>\d{1,12}(?:\.\d{1,6})?) tokens/s, "
    r"Running: (?P<running>\d{1,9}) reqs, Waiting: (?P<waiting>\d{1,9}) reqs"
)
_USAGE = re.compile(r"KV cache usage: (?P<percent>\d{1,12}(?:\.\d{1,6})?)%")
_ACCEPTED = re.compile(r"SpecDecoding metrics: .{0,200}?Mean acceptance length: (?P<length>\d{1,12}(?:\.\d{1,6})?)")


class Batches:
    """The newest report of each engine, summed."""

    def __init__(self) -> None:
        self._engines: dict[str, BatchReport] = {}
        self._accept_length: float | None = None

    def read(self, message: str) -> BatchReport | None:
        """The server's report after this line; None if it is no such line."""
        accepted = _ACCEPTED.search(message)
        if accepted is not None:
            self._accept_length = float(accepted["length"])
            return self._sum() if self._engines else None
        stats = _STATS.search(message)
        if stats is None:
            return None
        usage = _USAGE.search(message)
        self._engines[stats["engine"] or "all"] = BatchReport(
            tok_s=float(stats["rate"]),
            running=int(stats["running"]),
            queued=int(stats["waiting"]),
            kv_usage=float(usage["percent"]) / 100 if usage else None,
        )
        return self._sum()

    def _sum(self) -> BatchReport:
        reports = tuple(self._engines.values())
        usages = [report.kv_usage for report in reports if report.kv_usage is not None]
        return replace(
            reports[0],
            tok_s=sum(report.tok_s for report in reports),
            running=sum(report.running for report in reports),
            queued=sum(report.queued for report in reports),
            kv_usage=max(usages, default=None),
            accept_length=self._accept_length,
        )
