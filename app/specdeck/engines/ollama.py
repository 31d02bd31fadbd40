"""Ollama: log grammar, endpoints, command line. Read from 0.33; it loads a model when one is asked for, not when it starts."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.answers import mapping, text
from specdeck.engines.base import LogGrammar, Probe
from specdeck.engines.commands import program_of
from specdeck.engines.failures import failure_of
from specdeck.engines.grammar import LineGrammar
from specdeck.engines.notebook import Notebook
from specdeck.engines.plain import PlainEngine
from specdeck.parsing.bars import Bar
from specdeck.state.load import LoadReading
from specdeck.state.phases import PhaseName

ORDER: tuple[PhaseName, ...] = ("arguments", "http")
_RECORD = re.compile(
    r'time=\S{1,40} level=(?P<level>[A-Z]+)\S* source=\S{1,60}\.go:\d{1,6} msg=(?P<words>"(?:[^"\\]|\\.)*"|\S+)(?P<more>.*)'
)
_GIN = re.compile(r"\[GIN\] \d{4}/\d\d/\d\d - ")
_LISTENS = re.compile(r"Listening on \S+ \(version (?P<version>[\w.+-]{1,40})\)")
_RUNNER_LOST = ("llama-server terminated", "llama runner terminated", "Load failed", "model failed to load")


class OllamaGrammar(LineGrammar):
    """One reading of one log of `ollama serve`."""

    def __init__(self) -> None:
        super().__init__(Notebook(ORDER, engine="ollama"))

    def _show(self, bar: Bar) -> None:
        self._book.show(bar, "downloading" if bar.kind == "bytes" else bar.label or "progress")

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        record = _RECORD.match(text)
        if record is None:
            self._read_bare(text)
            return
        words = record["words"].strip('"')
        listens = _LISTENS.match(words)
        if listens is not None:
            self._book.engine_version = listens["version"]
            self._book.ready(None)
        elif words.startswith(_RUNNER_LOST):
            self._book.warn(f"a model was lost: {words}{record['more']}"[:200])

    def _read_bare(self, text: str) -> None:
        """`Error: listen tcp 127.0.0.1:11434: bind: address already in use` is the last word of one that could not start."""
        if text.startswith("Error: ") and not self._book.has_ready_line:
            self._blame(failure_of(text.removeprefix("Error: ")))


class Ollama(PlainEngine):
    """`ollama serve`."""

    name = "ollama"
    title = "Ollama"
    default_port = 11434
    command_words = "ollama"
    program = "ollama"
    probes: tuple[Probe, ...] = (
        Probe("health", "/", every_seconds=5.0, limit_seconds=10.0),
        Probe("details", "/api/version", every_seconds=300.0, limit_seconds=5.0),
    )
    ready_words = "Listening on "

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return OllamaGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """`ollama serve`, not its clients and runners."""
        program, rest = program_of(argv)
        return program == self.program and rest[:1] in (("serve",), ("start",))

    def recognises_line(self, text: str) -> bool:
        """Whether only Ollama writes this."""
        return _RECORD.match(text) is not None or _GIN.match(text) is not None

    def entry(self, server: Server) -> tuple[str, ...]:
        """`ollama serve`."""
        return (*super().entry(server), "serve")

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """None: it takes its address from OLLAMA_HOST, which the profile's env must set."""
        return {}

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """Its version; it tells no load."""
        return (
            LoadReading(engine_version=text(mapping(body).get("version"))) if probe.kind == "details" else LoadReading()
        )
