"""How vLLM's log reads: phases, bars, readiness, throughput, stops and first causes."""

import re

from specdeck.engines.failures import death_of_a_child, early_failure, failure_of, native_death, native_rank
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.tracebacks import Raised, TracebackReader
from specdeck.engines.vllm.batches import Batches
from specdeck.engines.vllm.records import Record, YearlessClock, record_of
from specdeck.parsing.bars import Bar
from specdeck.state.phases import PhaseName

PLAIN: tuple[PhaseName, ...] = (
    "import",
    "arguments",
    "processes",
    "distributed",
    "weights",
    "kv_cache",
    "graphs",
    "http",
)
"""Compiling and profiling belong to `kv_cache`: their result decides how large it is. vLLM's HTTP is up when it is ready."""

_MARKS: tuple[tuple[re.Pattern[str], PhaseName], ...] = (
    (re.compile(r"vLLM (?:API )?server version|  version \d|non-default args: "), "arguments"),
    (re.compile(r"Initializing a V\d LLM engine"), "processes"),
    (re.compile(r"distributed_init_method=|vLLM is using nccl"), "distributed"),
    (re.compile(r"Starting to load model "), "weights"),
    (re.compile(r"Loading drafter model"), "draft_weights"),
    (
        re.compile(r"Model loading took|Warming up model for the compilation|Starting torch\.compile|Dynamo bytecode"),
        "kv_cache",
    ),
    (re.compile(r"Available KV cache memory|KV cache size: "), "kv_cache"),
    (re.compile(r"Capturing (?:the model|CUDA graph)|Graph capturing finished"), "graphs"),
    (re.compile(r"Supported tasks: |Starting vLLM (?:API )?server|Started server process"), "http"),
)
_WRITER = r"(?:\([A-Za-z][\w.:-]{0,60}(?: rank=\d+)? pid=\d+\) )?"
_ACCESS_LINE = rf'{_WRITER}INFO:     [\w.:]++ - ".*+\n'
_ACCESS = re.compile(f"(?:{_ACCESS_LINE})++")
_ENDING = re.compile(rf"(?:{_ACCESS_LINE}|{_WRITER}ERROR .*+\n)++")
_BEGIN = re.compile(r"^vLLM (?:API )?server version|^non-default args: |▄.* version \d")
_TROUBLE = ("", "ERROR", "CRITICAL")
_VERSION = re.compile(r"(?:  version |server version |LLM engine \(v)(?P<version>\d[\w.+]*)")
_SPECULATION = re.compile(r"speculative_config'?[=:] ?(?:SpeculativeConfig\(|\{)[^)}]*?method'?[=:] ?'(?P<method>\w+)'")
_WEIGHTS = re.compile(r"Loading .*(?:shards|loader|Streamer)|Multi-thread loading")
_CAPTURE = re.compile(r"Capturing CUDA graph\w*(?: shapes)?(?: \((?P<kind>[^)]*)\))?")
_FATAL_CONTEXT = re.compile(r"failed to start|encountered a fatal error|WorkerProc hit an exception|Process \w+-?\d*:")
_HARMLESS = re.compile(
    r"Exception ignored|Exception in thread|Exception in ASGI|was never retrieved|\.\.\. ?retry", re.IGNORECASE
)
_DEATHS = re.compile(
    r"engine core exited unexpectedly|Worker proc \S+ died unexpectedly[^,]*|Engine core proc \S+ died unexpectedly[^,]*"
)
_FATAL_WORDS = re.compile(r"EngineCore encountered a fatal error|Engine core initialization failed")


class VllmGrammar(LineGrammar):
    """One reading of one vLLM log."""

    def __init__(self) -> None:
        super().__init__(Notebook(PLAIN, engine="vllm"))
        self._clock = YearlessClock()
        self._batches = Batches()
        self._tracebacks: dict[str, TracebackReader] = {}
        """One a process: their lines are interleaved."""

    def _routine(self) -> re.Pattern[str]:
        """Access lines, and the many errors of a wanted stop."""
        return _ENDING if self._book.word in ("stopping", "stopped") else _ACCESS

    def _show(self, bar: Bar) -> None:
        book = self._book
        capture = _CAPTURE.search(bar.label)
        if capture is not None:
            book.enter("graphs", self._clock.now)
            book.show(bar, f"graphs ({capture['kind']})" if capture["kind"] else "graphs")
        elif bar.kind == "bytes" or bar.label.startswith("Fetching"):
            book.show(bar, "downloading")
        elif _WEIGHTS.search(bar.label):
            self._show_weights(bar)
        else:
            book.show(bar, bar.label or "progress")

    def _show_weights(self, bar: Bar) -> None:
        book = self._book
        if book.phase == "weights" and bar.done < bar.total and bar.done == 0 and book.has_finished("target weights"):
            self._begin_draft()
        book.enter("weights", self._clock.now)
        if book.phase == "draft_weights":
            book.show(bar, "draft weights")
            return
        book.loading_total = bar.total
        book.show(bar, "target weights")

    def _expect_draft(self) -> None:
        self._book.order = (*PLAIN[:5], "draft_weights", *(name for name in self._book.order if name in PLAIN[5:]))

    def _begin_draft(self) -> None:
        """A drafter is loaded: this run has one phase more."""
        self._expect_draft()
        self._book.enter("draft_weights", self._clock.now)

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        if has_bars:
            return
        record = record_of(text)
        self._clock.hear(record.stamp)
        if self._read_words(record):
            return
        if not record.level and not record.writer and self._read_bare(record.message):
            return
        if record.level in _TROUBLE and self._book.word not in ("stopping", "stopped"):
            self._read_error(record)

    def _read_bare(self, message: str) -> bool:
        """Words without any prefix; whether they were a failure."""
        failure = early_failure(message)
        if failure is not None and self._book.word in ("stopped", "crashed"):
            self._begin_again()
        failure = failure if not self._book.has_ready_line else None
        failure = failure or native_death(message)
        if failure is not None:
            self._blame(failure, rank=native_rank(message))
        return failure is not None

    def _begin_again(self) -> None:
        """A log that is appended to holds many runs: the newest is the story."""
        self._book = self._book.of_next_run(PLAIN)
        self._batches = Batches()
        self._tracebacks = {}

    def _read_error(self, record: Record) -> None:
        reader = self._tracebacks.setdefault(record.writer, TracebackReader())
        raised = reader.read(record.message, self._line, record.writer or None)
        if raised is not None:
            self._judge(raised)
        elif (death := _DEATHS.search(record.message)) is not None:
            self._blame(death_of_a_child(death[0]), rank=record.writer)
        elif _FATAL_WORDS.search(record.message):
            self._blame(failure_of(record.message), rank=record.writer)

    def _judge(self, raised: Raised) -> None:
        if raised.text.startswith(("KeyboardInterrupt", "SystemExit")):
            return
        is_child = _FATAL_CONTEXT.search(raised.context or raised.before) is not None
        is_start = not self._book.has_ready_line and not _HARMLESS.search(raised.context or raised.before)
        if is_child or is_start:
            self._book.blame(failure_of(raised.text), line=raised.line, rank=raised.rank, is_certain=is_child)

    def _read_words(self, record: Record) -> bool:
        """Messages of a known meaning; False for all others."""
        message = record.message
        if "throughput: " in message:
            self._read_rates(message)
            return True
        if message.startswith("INFO:"):
            self._read_uvicorn(message[5:].strip())
            return True
        if message.startswith("[shutdown]"):
            self._read_shutdown(message)
            return True
        if (
            ("version" in message or "non-default" in message)
            and _BEGIN.search(message)
            and self._book.has_reached("processes")
        ):
            self._begin_again()
        if self._book.is_loading and not message.startswith(" "):
            self._read_start(message)
        return False

    def _read_start(self, message: str) -> None:
        for pattern, phase in _MARKS:
            if pattern.search(message):
                if phase == "draft_weights":
                    self._begin_draft()
                else:
                    self._book.enter(phase, self._clock.now)
                break
        self._read_configuration(message)

    def _read_configuration(self, message: str) -> None:
        version = _VERSION.search(message)
        if version is not None:
            self._book.engine_version = version["version"]
        speculation = _SPECULATION.search(message)
        if speculation is not None:
            self._book.speculation = speculation["method"]
            self._expect_draft()
        if (
            "'enforce_eager': True" in message
            or "enforce_eager=True" in message
            or message.startswith("CPU KV cache size")
        ):
            self._book.order = tuple(name for name in self._book.order if name != "graphs")

    def _read_rates(self, message: str) -> None:
        report = self._batches.read(message)
        if report is not None:
            if not self._book.has_reached("processes"):
                self._book.joined()
            self._book.batch = report
            self._book.batch_at = self._at

    def _read_uvicorn(self, words: str) -> None:
        if words == "Application startup complete.":
            self._book.enter("http", self._clock.now)
            self._book.ready(self._clock.now)
        elif words == "Shutting down" and self._book.has_ready_line:
            self._book.stopping()
        elif words.startswith(("Application shutdown complete", "Finished server process")):
            if self._book.word == "stopping":
                self._book.stopped()
        elif words.startswith("Started server process"):
            self._book.enter("http", self._clock.now)

    def _read_shutdown(self, message: str) -> None:
        if "shutdown triggered" in message:
            self._book.stopping()
        elif (death := _DEATHS.search(message)) is not None:
            self._blame(death_of_a_child(death[0]))
