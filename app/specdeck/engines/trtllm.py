"""TensorRT-LLM's trtllm-serve: log grammar, endpoints, command line. Read from 1.1 to 1.3; no run of it was watched.

Its `/metrics` and `/perf_metrics` are emptied by whoever reads them: never asked here.
"""

import re
from collections.abc import Sequence

from specdeck.config.objects import Server
from specdeck.engines.answers import labelled_sum, mapping, text
from specdeck.engines.base import LogGrammar, Probe
from specdeck.engines.commands import program_of
from specdeck.engines.counters import page_of
from specdeck.engines.failures import early_failure, failure_of, native_death
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.plain import PlainEngine
from specdeck.engines.tracebacks import TracebackReader
from specdeck.parsing.bars import Bar
from specdeck.parsing.prometheus import Sample, samples
from specdeck.state.load import LoadReading
from specdeck.state.phases import PhaseName
from specdeck.state.serving import CounterName

ORDER: tuple[PhaseName, ...] = ("import", "arguments", "weights", "kv_cache", "graphs", "http")
"""The cache is built twice, an estimate first: the second time belongs to the phase after it."""
_PREFIX = re.compile(
    r"(?:\s*\d{1,6}: )?(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] )?\[(?:TRT-LLM|TensorRT-LLM)\] ?"
    r"(?:\[(?:MPI_Rank|RANK) (?P<rank>\d{1,5})\] )?(?:\[(?:[FEWIVD]|INFO|WARNING|ERROR|DEBUG)\] )?"
    r"(?:\[[\w.]+\])?(?:\[RANK (?P<rank2>\d{1,5})\] )?(?P<words>.*)"
)
_MARKS: tuple[tuple[re.Pattern[str], PhaseName], ...] = (
    (re.compile(r"TensorRT.LLM version: "), "arguments"),
    (re.compile(r"Prefetching |Model init total"), "weights"),
    (re.compile(r"Allocated [\d.]+ GiB for max tokens|Peak memory during memory usage profiling"), "kv_cache"),
    (
        re.compile(r"Running autotuner warmup|Creating CUDA graph|Running CUDA graph|Run generation only CUDA graph"),
        "graphs",
    ),
)
_VERSION = re.compile(r"TensorRT.LLM version: (?P<version>\d[\w.+]*)")
_NAMES = re.compile(rb"(?m)^trtllm_")
_RUNNING, _WAITING = "num_requests_running", "num_requests_waiting"
_USAGE = "kv_cache_utilization"
_COUNTED: dict[str, CounterName] = {
    "time_to_first_token_seconds_bucket": "ttft",
    "time_per_output_token_seconds_bucket": "tpot",
}
_WANTED = frozenset({_RUNNING, _WAITING, _USAGE, *_COUNTED})


class TrtLlmGrammar(LineGrammar):
    """One reading of one log of trtllm-serve; all ranks write into it."""

    def __init__(self) -> None:
        super().__init__(Notebook(ORDER, engine="trtllm"))
        self._tracebacks = TracebackReader()

    def _show(self, bar: Bar) -> None:
        if bar.label.startswith("Loading"):
            self._book.enter("weights", None)
        self._book.show(bar, "downloading" if bar.kind == "bytes" else _label(bar.label))

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        match = _PREFIX.match(text)
        words = match["words"] if match is not None else text
        rank = f"RANK {found}" if match is not None and (found := match["rank"] or match["rank2"]) else None
        for pattern, phase in _MARKS:
            if pattern.search(words):
                self._book.enter(phase, None)
        version = _VERSION.search(words)
        if version is not None:
            self._book.engine_version = version["version"]
        if match is None:
            self._read_bare(words)
        elif "out of memory" in words or "Failed to bind socket" in words:
            self._blame(failure_of(words), rank=rank)

    def _read_bare(self, text: str) -> None:
        """Lines of uvicorn, of Python and of MPI."""
        failure = early_failure(text) or native_death(text)
        if text.startswith("INFO:"):
            self._read_uvicorn(text[5:].strip())
        elif failure is not None:
            self._blame(failure)
        elif text.startswith("Error: No such option"):
            self._blame(failure_of(f"unrecognized arguments: {text.removeprefix('Error: ')}"))
        elif (raised := self._tracebacks.read(text, self._line, None)) is not None and not self._book.has_ready_line:
            self._book.blame(failure_of(raised.text), line=raised.line, is_certain=False)

    def _read_uvicorn(self, words: str) -> None:
        if words.startswith("Started server process"):
            self._book.enter("http", None)
        elif words.startswith("Application startup complete"):
            self._book.ready(None)
        elif words == "Shutting down":
            self._book.stopping()
        elif words.startswith(("Application shutdown complete", "Finished server process")):
            self._book.stopped()


def _label(words: str) -> str:
    return "target weights" if words.startswith("Loading weights") else words or "progress"


class TrtLlm(PlainEngine):
    """trtllm-serve."""

    name = "trtllm"
    title = "TensorRT-LLM"
    default_port = 8000
    command_words = "trtllm-serve"
    program = "trtllm-serve"
    probes: tuple[Probe, ...] = (
        Probe("health", "/health", every_seconds=5.0, limit_seconds=10.0),
        Probe("metrics", "/prometheus/metrics", every_seconds=2.0, limit_seconds=5.0),
        Probe("details", "/version", every_seconds=300.0, limit_seconds=5.0),
    )
    metrics_flag: str | None = "return_perf_metrics: true in the file of --config"
    ready_words = "Application startup complete."

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return TrtLlmGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """`trtllm-serve ...`, as a program or as a script of Python."""
        return program_of(argv)[0] == self.program

    def recognises_line(self, text: str) -> bool:
        """Whether only TensorRT-LLM writes this."""
        return _PREFIX.match(text) is not None

    def entry(self, server: Server) -> tuple[str, ...]:
        """`trtllm-serve MODEL`."""
        return (*super().entry(server), server.model)

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """Requests and latency; its token counter moves when a request ends, so it makes no rate."""
        if probe.kind == "details":
            return LoadReading(engine_version=text(mapping(body).get("version")))
        if probe.kind != "metrics":
            return LoadReading()
        found = samples(_NAMES.sub(b"", body), _WANTED)  # up to 1.2 the names had no prefix
        return LoadReading(
            running=_whole(found, _RUNNING),
            queued=_whole(found, _WAITING),
            kv_usage=max((sample.value for sample in found if sample.name == _USAGE), default=None),
            page=page_of(found, _COUNTED),
        )


def _whole(found: Sequence[Sample], name: str) -> int | None:
    value, _ = labelled_sum([sample for sample in found if sample.name == name])
    return None if value is None else int(value)
