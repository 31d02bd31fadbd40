"""Text Generation Inference: log grammar, endpoints, command line. Read from 3.3.7, its last line of releases."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.answers import mapping, text
from specdeck.engines.base import LogGrammar, Probe
from specdeck.engines.commands import program_of
from specdeck.engines.counters import page_of
from specdeck.engines.failures import Failure, early_failure, failure_of
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.plain import PlainEngine
from specdeck.engines.tracebacks import TracebackReader
from specdeck.parsing.bars import Bar
from specdeck.parsing.prometheus import samples
from specdeck.state.load import LoadReading
from specdeck.state.phases import PhaseName

ORDER: tuple[PhaseName, ...] = ("arguments", "processes", "weights", "http", "warm_up", "graphs", "kv_cache")
"""The web server's process starts before the warm-up; it binds its port after all of it."""
_PREFIX = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]{1,20}Z +(?P<level>TRACE|DEBUG|INFO|WARN|ERROR) +(?:[\w-]{1,60}(?:\{[^}]{0,400}\})?: ){0,4}"
    r"text_generation_\w+(?:::\w+){0,6}: (?:[\w/.-]{1,200}\.rs:\d+: )?(?P<words>.*)"
)
_MARKS: tuple[tuple[re.Pattern[str], PhaseName], ...] = (
    (re.compile(r"Args \{"), "arguments"),
    (re.compile(r"Starting (?:check and )?download|Download: |Starting shard"), "processes"),
    (re.compile(r"Waiting for shard to be ready|Shard ready in "), "weights"),
    (re.compile(r"Starting Webserver"), "http"),
    (re.compile(r"Warming up model"), "warm_up"),
    (re.compile(r"Cuda Graphs are enabled"), "graphs"),
    (re.compile(r"KV-cache blocks: |Setting max batch total tokens to "), "kv_cache"),
)
_DOWNLOAD = re.compile(r"Download: \[(?P<done>\d{1,6})/(?P<total>\d{1,6})\]")
_LOST = re.compile(
    r"Shard \d+ (?:failed to start|crashed)|ShardCannotStart|ShardFailed|Webserver Crashed|WebserverFailed|DownloadError"
    r"|NotEnoughCUDADevices|ArgumentValidation"
)
_FAILED = re.compile(
    r"Failed to bind to |Not enough memory to handle|Download encountered an error|signaled to shutdown"
)
_RUNNING, _QUEUED = "tgi_batch_current_size", "tgi_queue_size"
_PER_TOKEN = "tgi_request_mean_time_per_token_duration_bucket"  # noqa: S105 - a metric


class TgiGrammar(LineGrammar):
    """One reading of one log of text-generation-launcher."""

    def __init__(self) -> None:
        super().__init__(Notebook(ORDER, engine="tgi"))
        self._tracebacks = TracebackReader()
        """Of the shard whose stderr the launcher holds back until it has died."""

    def _show(self, bar: Bar) -> None:
        self._book.show(bar, bar.label or "progress")

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        match = _PREFIX.match(text)
        if match is None:
            self._read_bare(text)
        elif match["words"] == "Connected":
            self._book.ready(None)
        else:
            self._read_words(match["words"], is_error=match["level"] == "ERROR")

    def _read_words(self, words: str, *, is_error: bool) -> None:
        for pattern, phase in _MARKS:
            if pattern.match(words):
                self._book.enter(phase, None)
        download = _DOWNLOAD.match(words)
        if download is not None and int(download["total"]):
            self._book.show(Bar("", int(download["done"]), int(download["total"])), "downloading files")
        if words.startswith(("Terminating ", "Waiting for webserver to gracefully", "signal received")):
            self._book.stopping()
        elif is_error and (_FAILED.search(words) or _LOST.search(words)):
            self._blame(_failure(words))

    def _read_bare(self, text: str) -> None:
        raised = self._tracebacks.read(text, self._line, None)
        if raised is not None:
            self._book.blame(failure_of(raised.text), line=raised.line)
        elif (early := early_failure(text)) is not None:
            self._blame(early)
        elif text.startswith("Error: ") and _LOST.search(text):
            self._blame(_failure(text))


def _failure(words: str) -> Failure:
    """The launcher's own words come after the shard's, and say less."""
    if "Failed to bind" in words:
        return failure_of(f"{words}: address already in use" if "in use" not in words else words)
    if words.startswith("Not enough memory to handle"):
        return failure_of(f"CUDA out of memory. {words}")
    return failure_of(f"{words} (see the error messages above)") if _LOST.search(words) else failure_of(words)


class Tgi(PlainEngine):
    """text-generation-launcher."""

    name = "tgi"
    title = "TGI"
    default_port = 3000
    command_words = "text-generation-launcher"
    program = "text-generation-launcher"
    probes: tuple[Probe, ...] = (
        Probe("health", "/health", every_seconds=5.0, limit_seconds=20.0),
        Probe("metrics", "/metrics", every_seconds=2.0, limit_seconds=5.0),
        Probe("details", "/info", every_seconds=300.0, limit_seconds=5.0),
    )
    ready_words = ": Connected"

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return TgiGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """The launcher, not its shards and router."""
        return program_of(argv)[0] == self.program

    def recognises_line(self, text: str) -> bool:
        """Whether only TGI writes this."""
        return _PREFIX.match(text) is not None

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """Model, address and port of the fleet file."""
        return {"model-id": server.model, "hostname": server.bind, "port": server.port}

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """Requests and latency; its token counters move at the end of a request only, so they make no rate."""
        if probe.kind == "details":
            return LoadReading(engine_version=text(mapping(body).get("version")))
        if probe.kind != "metrics":
            return LoadReading()
        found = samples(body, frozenset({_RUNNING, _QUEUED, _PER_TOKEN}))
        values = {sample.name: sample.value for sample in found}
        return LoadReading(
            running=int(values[_RUNNING]) if _RUNNING in values else None,
            queued=int(values[_QUEUED]) if _QUEUED in values else None,
            page=page_of(found, {_PER_TOKEN: "tpot"}),
        )
