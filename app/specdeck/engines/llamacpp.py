"""llama.cpp's llama-server: log grammar, endpoints, command line."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.answers import mappings, parsed
from specdeck.engines.base import LogGrammar, Probe
from specdeck.engines.commands import program_of
from specdeck.engines.failures import early_failure, failure_of
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.plain import PlainEngine
from specdeck.parsing.bars import Bar
from specdeck.parsing.prometheus import samples
from specdeck.state.load import LoadReading
from specdeck.state.log_story import BatchReport
from specdeck.state.phases import PhaseName

ORDER: tuple[PhaseName, ...] = ("arguments", "weights", "kv_cache", "warm_up")
_PREFIX = re.compile(
    r"(?:\[\d+\] )?(?:(?P<minutes>\d{1,9})\.(?P<seconds>\d\d)\.(?P<milli>\d{3})\.\d{3} )?(?:(?P<level>[IWED]) )?(?P<message>.*)"
)
_STAMP = re.compile(r"(?:\[\d+\] )?\d{1,9}\.\d\d\.\d{3}\.\d{3} [IWED] ")
_MARKS: tuple[tuple[re.Pattern[str], PhaseName], ...] = (
    (re.compile(r"load_model: loading model "), "weights"),
    (re.compile(r"KV buffer size|llama_kv_cache|initializing, n_slots"), "kv_cache"),
    (re.compile(r"warming up the model"), "warm_up"),
)
_READY = re.compile(r"(?:llama_server|main): (?:server is )?listening on ")
_BUILD = re.compile(r"build (?P<build>\d+) \(")
_RATE = re.compile(
    r"print_timing: id +(?P<slot>\d{1,6}) \| task .*\| n_(?:gen|decoded) = +\d+, tg = +(?P<mean>[\d.]{1,20}) t/s"
    r"(?:, tg_3s = +(?P<rate>[\d.]{1,20}))?"
)
_SLOT = re.compile(r"(?P<what>launch_slot_|release): id +(?P<slot>\d{1,6}) ")
_ACCEPTED = re.compile(r"draft acceptance = .*mean len = +(?P<length>\d{1,9}(?:\.\d{1,6})?)")
_RATE_LASTS_SECONDS = 4.0
_NEXT_RUN_SECONDS = 0.5
_PROCESSING = "llamacpp:requests_processing"
_DEFERRED = "llamacpp:requests_deferred"


class LlamaCppGrammar(LineGrammar):
    """One reading of one llama-server log. Its stamps are seconds since the process began."""

    def __init__(self) -> None:
        super().__init__(Notebook(ORDER, engine="llamacpp"))
        self._now: float | None = None
        self._rates: dict[str, tuple[float, float]] = {}
        self._busy: set[str] = set()
        self._accept_length: float | None = None

    def _show(self, bar: Bar) -> None:
        self._book.show(bar, "downloading" if bar.kind == "bytes" else bar.label or "progress")

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        match = _PREFIX.match(text)
        if match is None:
            return
        if match["minutes"] is not None:
            self._hear(int(match["minutes"]) * 60 + int(match["seconds"]) + int(match["milli"]) / 1000)
        message = match["message"]
        if match["level"] == "E" or message.startswith("error: ") or "GGML_A" in message:
            self._read_error(message)
        elif message.startswith("slot"):
            self._read_slot(message)
        else:
            self._read_words(message)

    def _hear(self, now: float) -> None:
        """Stamps count from the start of the process: where they fall back, another run was appended."""
        if self._now is not None and now < self._now - _NEXT_RUN_SECONDS:
            self._book = self._book.of_next_run(ORDER)
            self._rates, self._busy, self._accept_length = {}, set(), None
        self._now = now

    def _read_error(self, message: str) -> None:
        failure = early_failure(message) or failure_of(message)
        is_end = "exiting due to" in message
        if failure.kind != "exception":
            self._blame(failure, is_certain=is_end)

    def _read_words(self, message: str) -> None:
        build = _BUILD.search(message)
        if build is not None:
            self._book.engine_version = f"b{build['build']}"
        if _READY.search(message):
            self._book.ready(self._now)
        elif message.endswith("cleaning up before exit..."):
            self._book.stopping()
        for pattern, phase in _MARKS:
            if pattern.search(message):
                self._book.enter(phase, self._now)

    def _read_slot(self, message: str) -> None:
        slot = _SLOT.search(message)
        if slot is not None:
            self._move(slot["slot"], is_busy=slot["what"] == "launch_slot_")
        accepted = _ACCEPTED.search(message)
        if accepted is not None:
            self._accept_length = float(accepted["length"])
        rate = _RATE.search(message)
        if rate is not None and self._now is not None:
            self._busy.add(rate["slot"])
            self._rates[rate["slot"]] = (_rate(rate), self._now)
            self._report(self._now)

    def _move(self, slot: str, *, is_busy: bool) -> None:
        if is_busy:
            self._busy.add(slot)
            return
        self._busy.discard(slot)
        self._rates.pop(slot, None)

    def _report(self, now: float) -> None:
        rates = [rate for rate, at in self._rates.values() if now - at <= _RATE_LASTS_SECONDS]
        self._book.batch = BatchReport(sum(rates), len(self._busy), 0, accept_length=self._accept_length)
        self._book.batch_at = self._at


def _rate(match: re.Match[str]) -> float:
    try:
        return float(match["rate"] or match["mean"])
    except ValueError:
        return 0.0


class LlamaCpp(PlainEngine):
    """llama-server, builds of 2025 and 2026."""

    name = "llamacpp"
    title = "llama.cpp"
    default_port = 8080
    command_words = "llama-server"
    program = "llama-server"
    metrics_flag: str | None = "--metrics"
    probes: tuple[Probe, ...] = (
        Probe("health", "/health", every_seconds=5.0, limit_seconds=10.0),
        Probe("metrics", "/metrics", every_seconds=5.0, limit_seconds=5.0),
        Probe("load", "/slots", every_seconds=2.0, limit_seconds=5.0),
    )
    ready_words = "listening on "
    api_key_variable: str | None = "LLAMA_API_KEY"

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return LlamaCppGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """`llama-server ...`."""
        return program_of(argv)[0] == self.program

    def recognises_line(self, text: str) -> bool:
        """Whether only llama.cpp writes this."""
        return _STAMP.match(text) is not None or text.startswith("error: invalid argument: ")

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """Model, address and port of the fleet file."""
        return {"model": server.model, "host": server.bind, "port": server.port}

    def version_script(self) -> str:
        """Asks the program: it is no Python package."""
        return (
            "import subprocess as s; "
            "print(s.run(['llama-server', '--version'], capture_output=True, text=True).stderr.split()[1])"
        )

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """Requests only: its token counter moves at the end of a request, so the log's rates are used instead."""
        if probe.kind == "load":
            slots = mappings(parsed(body))
            return (
                LoadReading(running=sum(slot.get("is_processing") is True for slot in slots))
                if slots
                else LoadReading()
            )
        if probe.kind != "metrics":
            return LoadReading()
        found = {sample.name: sample.value for sample in samples(body, frozenset({_PROCESSING, _DEFERRED}))}
        return LoadReading(running=_whole(found.get(_PROCESSING)), queued=_whole(found.get(_DEFERRED)))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
