"""A server's log from bytes to its story: splits lines, finds out which engine wrote them, and lets its grammar read."""

from collections.abc import Mapping

from specdeck.engines.base import LogGrammar
from specdeck.engines.registry import ENGINES
from specdeck.parsing.container_log import UnwrappingSplitter
from specdeck.parsing.lines import Line, Lines
from specdeck.quick_dataclass import replace
from specdeck.state.log_story import LogStory

_UNDECIDED_LINES = 2_000
"""After so many lines that could be anybody's, no engine is looked for."""
_FALLBACK = "sglang"
"""Whose grammar reads a log of which nobody knows the engine: bars and tracebacks look alike."""


class LogReader:
    """One log, fed in whatever pieces it comes."""

    def __init__(self, engine: str | None = None) -> None:
        self._splitter = UnwrappingSplitter()
        self._engine = engine
        self._is_looking = engine is None
        names = (engine,) if engine is not None else tuple(ENGINES)
        self._readings: Mapping[str, LogGrammar] = {name: ENGINES[name].grammar() for name in names}
        self._at = 0.0

    @property
    def story(self) -> LogStory:
        """What the log has told so far."""
        if self._engine is not None:
            return self._readings[self._engine].story
        return replace(self._readings[_FALLBACK].story, engine=None)

    @property
    def open_line(self) -> Line | None:
        """The line that has no end yet."""
        return self._splitter.open_line

    def feed(self, chunk: bytes, at: float) -> Lines:
        """Read a piece that arrived `at` (unix seconds); the lines that it completes."""
        self._at = at
        lines = self._splitter.feed(chunk)
        self._read(lines)
        if chunk:
            self._peek()
        return lines

    def jump(self, number: int, offset: int) -> None:
        """The next piece begins with this line of the file: what lies between is not read."""
        self._splitter.jump(number, offset)

    def end(self) -> Lines:
        """The file is complete: its last line counts although it has no end."""
        lines = self._splitter.end()
        self._read(lines)
        for reading in self._readings.values():
            reading.end()
        return lines

    def _read(self, lines: Lines) -> None:
        self._tell(self._look_through(lines) if self._is_looking else lines)

    def _look_through(self, lines: Lines) -> Lines:
        """Read one by one until a line tells whose log it is; what comes after it."""
        for count, line in enumerate(lines, 1):
            self._look_at(line)
            self._tell(Lines.of((line,)))
            if not self._is_looking:
                return lines.after(count)
        return Lines.of(())

    def _tell(self, lines: Lines) -> None:
        for reading in self._readings.values():
            reading.read(lines, self._at)

    def _peek(self) -> None:
        line = self._splitter.open_line
        if line is None:
            return
        for reading in self._readings.values():
            reading.peek(line, self._at)

    def _look_at(self, line: Line) -> None:
        """Decide on the first line that only one engine writes."""
        name = next((name for name, engine in ENGINES.items() if engine.recognises_line(line.text)), None)
        if name is not None:
            self._engine = name
            self._settle(name)
        elif line.number > _UNDECIDED_LINES:
            self._settle(_FALLBACK)

    def _settle(self, name: str) -> None:
        self._is_looking = False
        self._readings = {name: self._readings[name]}
