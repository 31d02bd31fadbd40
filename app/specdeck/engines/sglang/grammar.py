"""How SGLang's log reads: phases, bars, readiness, throughput, stops and first causes."""

import re
from collections.abc import Callable, Mapping

from specdeck.engines.failures import death_of_a_child, early_failure, failure_of, native_death, native_rank
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.sglang.batches import Batches
from specdeck.engines.sglang.order import PLAIN
from specdeck.engines.sglang.records import Record, StampClock, records, without_level
from specdeck.engines.sglang.speculation import NO_ADAPTION, adaptive_steps, declared_mode
from specdeck.engines.sglang.start import START_WORDS, StartReader
from specdeck.engines.sglang.timings import timings_of_line
from specdeck.engines.tracebacks import Raised, TracebackReader
from specdeck.parsing.bars import Bar
from specdeck.state.log_story import LogStory

_ROUTINE = r"(?:\[2.{18}[\w. ]*+\] (?:%s).*+\n)++"
_ASKED = r'INFO:     [\w.:]++ - "|Health check request received during shutdown'
_ACCESS = re.compile(_ROUTINE % _ASKED)
_SERVING = re.compile(_ROUTINE % f"Decode batch|Prefill batch|{_ASKED}")
_HARMLESS = re.compile(
    r"Exception ignored|Exception in thread|Exception in ASGI|was never retrieved|Error in sys\.excepthook"
)
_FATAL_CONTEXT = re.compile(r"hit an exception|Initialization failed|Process \w+-\d+", re.IGNORECASE)
_DEATHS = re.compile(r"crashed with exit code|scheduler is dead|died during initialization|watchdog timeout")
_PROXY = re.compile(r"Starting new HTTPS? connection \(\d+\): (?P<proxy>[\w.:\[\]-]{1,200})$")
_LOOPBACK = re.compile(r"(?:0\.0\.0\.0|127\.\d+\.\d+\.\d+|localhost|\[::1?\]|::1)(?::\d+)?$")
_LEFT = re.compile(r"Remaining number of requests (\d{1,9})\b")


class SglangGrammar(LineGrammar):
    """One reading of one SGLang log."""

    def __init__(self) -> None:
        super().__init__(Notebook(PLAIN, engine="sglang"))
        self._clock = StampClock()
        self._batches = Batches()
        self._tracebacks = TracebackReader()
        self._start = StartReader(self._book, self._clock)
        self._declared: str | None = None
        """The speculation mode that was declared since the newest run began."""

    @property
    def story(self) -> LogStory:
        """What the log has told so far."""
        if self._story is None:
            self._book.batch = self._batches.report()
        return super().story

    def _routine(self) -> re.Pattern[str]:
        """Most of what a serving process writes: access lines, and batch lines of which only the newest counts."""
        return _SERVING if self._book.has_ready_line else _ACCESS

    def _is_pure(self, text: str, count: int) -> bool:
        """Each line has one time stamp: no record is glued to it."""
        return text.count("[") == count or text.count("[2") == count

    def _glance(self, text: str) -> None:
        if self._batches.hear(text):
            self._book.batch_at = self._at

    def _show(self, bar: Bar) -> None:
        self._start.show(bar)

    def _now(self) -> float | None:
        return self._clock.seconds(None)

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        for record in records(text):
            if record.stamp is not None:
                self._read_record(record)
            elif not has_bars:
                self._read_bare(record.message)

    def _read_record(self, record: Record) -> None:
        at = self._clock.seconds(record.stamp)
        self._book.enter("arguments", at)
        self._tracebacks.close()
        message = record.message
        word = message.partition(" ")[0]
        read = _READERS.get(word)
        if read is not None:
            read(self, message, record.rank)
        elif word in ("DEBUG", "INFO", "WARNING", "ERROR"):
            self._read_words(without_level(message))
        else:
            self._read_words(message)
        if "Traceback" in message:
            self._tracebacks.read(message, self._line, record.rank or None)

    def _read_words(self, message: str) -> None:
        """Messages that have no fixed first word."""
        if message.startswith("server_args="):
            self._read_arguments(message)
        elif message.startswith("max_total_num_tokens="):
            self._book.enter("http", self._now())
        elif (timings := timings_of_line(message)) is not None:
            self._book.timings = timings
        elif message.startswith("KV cache pool is full"):
            self._book.warn("KV cache pool is full: requests are retracted and start again")
        elif (steps := adaptive_steps(message)) is not None:
            self._book.draft_steps = steps
        elif message.startswith(NO_ADAPTION):
            self._book.warn(message)
        elif (mode := declared_mode(message)) is not None:
            self._book.speculation = self._declared = mode
        elif (proxy := _PROXY.match(message)) is not None:
            self._warn_of_proxy(proxy["proxy"])
        elif _DEATHS.search(message):
            self._blame(death_of_a_child(message))
        elif "Port is already in use" in message or "is used by a process already" in message:
            self._blame(failure_of(message))

    def _warn_of_proxy(self, proxy: str) -> None:
        """The server asks itself, and the request leaves for a proxy of its shell: it will end itself after minutes."""
        if self._book.is_loading and self._book.has_reached("http") and not _LOOPBACK.match(proxy):
            self._book.warn(f"warm-up goes through {proxy}: add 0.0.0.0 to no_proxy in the server's `env`")

    def _read_arguments(self, message: str) -> None:
        if self._book.has_reached("processes"):
            self._begin_again()
        self._start.arguments(message, self._declared)
        self._declared = None

    def _begin_again(self) -> None:
        """A log that is appended to holds many runs: the newest is the story."""
        self._book = self._book.of_next_run(PLAIN)
        self._batches = Batches()
        self._tracebacks = TracebackReader()
        self._start = StartReader(self._book, self._clock)

    def _read_bare(self, text: str) -> None:
        failure = early_failure(text)
        if failure is not None and self._book.word in ("stopped", "crashed"):
            self._begin_again()
        if failure is not None and not self._book.has_ready_line:
            self._blame(failure)
            return
        failure = native_death(text)
        if failure is not None:
            self._blame(failure, rank=native_rank(text))
            return
        raised = self._tracebacks.read(text, self._line, None)
        if raised is not None:
            self._judge(raised)

    def _judge(self, raised: Raised) -> None:
        """Whether an exception ended something: many a healthy start has a traceback."""
        if raised.text.startswith(("KeyboardInterrupt", "SystemExit")):
            return
        is_child = _FATAL_CONTEXT.search(raised.context or raised.before) is not None
        is_bare = not raised.context and not _HARMLESS.search(raised.before)
        if is_child or (is_bare and not self._book.has_ready_line):
            failure = failure_of(raised.text)
            self._book.blame(failure, line=raised.line, rank=raised.rank, is_certain=is_child)

    # What each first word of a message means.

    def _starts(self, message: str, rank: str) -> None:
        if message.startswith("KV cache pool is full"):
            self._read_words(message)
        else:
            self._start.read(message, rank)

    def _uvicorn(self, message: str, rank: str) -> None:
        if ' - "' in message:
            return
        words = message[5:].strip()
        if words.startswith("Started server process"):
            self._book.enter("http", self._now())
        elif words.startswith("Uvicorn running on"):
            self._book.enter("http", self._now())
            self._book.enter("warm_up", self._now())
        elif words == "Shutting down" and self._book.has_ready_line:
            self._book.stopping()
        elif words.startswith(("Application shutdown complete", "Finished server process")):
            if self._book.word == "stopping":
                self._book.stopped()
        else:
            self._read_words(words)

    def _error(self, message: str, rank: str) -> None:
        if "attempting to bind" in message or "address already in use" in message:
            self._blame(failure_of(message.removeprefix("ERROR:").strip()))
        else:
            self._read_words(without_level(message))

    def _prefill(self, message: str, rank: str) -> None:
        self._batches.prefill(message, rank)

    def _decode(self, message: str, rank: str) -> None:
        if not self._book.has_reached("processes"):
            self._book.joined()
        self._batches.decode(message, rank, self._clock.word)
        self._book.batch_at = self._at

    def _the(self, message: str, rank: str) -> None:
        if message.startswith("The server is fired up"):
            self._book.ready(self._now())
        else:
            self._read_words(message)
            if message.startswith("The memory capacity is unbalanced"):
                self._book.warn(message.partition(" pre_model_load")[0])

    def _sigterm(self, message: str, rank: str) -> None:
        if "received" in message:
            self._book.stopping()

    def _sigquit(self, message: str, rank: str) -> None:
        if self._book.word in ("stopping", "stopped"):
            self._book.stopped()
        else:
            self._blame(failure_of(message))

    def _received(self, message: str, rank: str) -> None:
        if message.startswith("Received sigquit"):
            self._sigquit(message, rank)

    def _gracefully(self, message: str, rank: str) -> None:
        self._book.stopping()
        left = _LEFT.search(message)
        if left is not None and int(left[1]) == 0:
            self._book.stopped()

    def _initialization(self, message: str, rank: str) -> None:
        if message.startswith("Initialization failed"):
            self._blame(failure_of(message), rank=rank)


_Reader = Callable[[SglangGrammar, str, str], None]
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys(START_WORDS, SglangGrammar._starts),
    "INFO:": SglangGrammar._uvicorn,
    "ERROR:": SglangGrammar._error,
    "Prefill": SglangGrammar._prefill,
    "Decode": SglangGrammar._decode,
    "The": SglangGrammar._the,
    "SIGTERM": SglangGrammar._sigterm,
    "SIGQUIT": SglangGrammar._sigquit,
    "Received": SglangGrammar._received,
    "Gracefully": SglangGrammar._gracefully,
    "Initialization": SglangGrammar._initialization,
}
"""By the first word of a message: most lines of a busy server are decided by one look-up."""
