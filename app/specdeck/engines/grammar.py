"""What every engine's log grammar shares: line by line, bars first, a story that is made when somebody asks."""

import re

from specdeck.engines.failures import Failure
from specdeck.engines.notebook import Notebook
from specdeck.parsing.bars import Bar, find_bars, lone_writer
from specdeck.parsing.lines import Line, Lines, visible
from specdeck.quick_dataclass import replace
from specdeck.state.log_story import LogStory

_NONE = re.compile(r"(?!)")
_OUR_TRACE = re.compile(r'"GET /[^"]*" \d{3}|log_server_r: .*GET /|Health check failed|^\s*$|^\[specdeck: ')


def is_our_trace(text: str) -> bool:
    """A line that a watcher's own requests cause: it proves that the web part answers, not that the engine works."""
    return _OUR_TRACE.search(text) is not None


class LineGrammar:
    """One reading of one log; an engine adds `_show` for bars and `_read_text` for all other words."""

    def __init__(self, book: Notebook) -> None:
        self._book = book
        self._line = 0
        self._at = 0.0
        self._writer: str | None = None
        """A writer's prefix that stood alone on the line before."""
        self._drawn_line = 0
        self._drawn_count = 0
        """How many bars of that line are drawn already."""
        self._redraw = ""
        """The bar that was drawn last, as it stood: drawn again it says nothing new."""
        self._story: LogStory | None = None
        self._spoke_at: float | None = None
        self._zero_at: float | None = None
        self._newest_began: float | None = None

    @property
    def story(self) -> LogStory:
        """What the log has told so far."""
        if self._story is None:
            self._book.lines = self._line
            self._story = replace(self._book.story(), spoke_at=self._spoke_at, zero_at=self._zero_at)
        return self._story

    def read(self, lines: Lines, at: float) -> None:
        """Complete lines; what a busy server writes all the time is done with at a glance."""
        if not lines:
            return
        self._story = None
        self._at = at
        self._read_all(lines.text, lines.number)
        self._line = lines.number + len(lines) - 1
        self._time_the_phases()
        if self._spoke_at is None or not all(map(is_our_trace, lines.newest_first())):
            self._spoke_at = at

    def peek(self, line: Line, at: float) -> None:
        """A line that has no end yet: only a complete bar in it counts."""
        bars = self._undrawn(line.number, find_bars(line.text))
        if bars:
            self._story = None
            self._at = self._spoke_at = at
            self._begin()
            self._draw(bars)
            self._time_the_phases()

    def end(self) -> None:
        """The file is complete."""
        self._story = None
        self._book.end()

    def _time_the_phases(self) -> None:
        """When a phase's begin is read, it was written; the soonest reading tells when the log's first stamp was."""
        began = self._book.phases[-1].began if self._book.phases else None
        if began is None or began == self._newest_began:
            return
        is_new_run = self._newest_began is not None and began < self._newest_began
        self._newest_began = began
        zero_at = self._at - began
        self._zero_at = zero_at if self._zero_at is None or is_new_run else min(self._zero_at, zero_at)

    def _begin(self) -> None:
        if not self._book.phases:
            self._book.enter(self._book.order[0], None)

    def _read_all(self, text: str, number: int) -> None:
        """Lines as they were written; the first one has this number."""
        place = 0
        while place < len(text):
            self._line = number
            routine = self._routine().match(text, place)
            if routine is not None:
                number += self._read_routine(routine[0])
                place = routine.end()
            else:
                end = text.index("\n", place)
                self._read_line(visible(text[place:end]))
                number += 1
                place = end + 1

    def _read_routine(self, text: str) -> int:
        """Lines of the routine, unless something is glued to one of them; how many they are."""
        count = text.count("\n")
        if "|" not in text and self._is_pure(text, count):
            self._glance(text)
        elif count > 1:
            for number, line in enumerate(text.split("\n")[:-1], self._line):
                self._read_all(f"{line}\n", number)
        else:
            self._read_line(visible(text[:-1]))
        return count

    def _read_line(self, text: str) -> None:
        if not text or text == self._redraw:
            return
        self._begin()
        bars, self._redraw = find_bars(text), ""
        if bars:
            self._draw(self._undrawn(self._line, bars))
            self._redraw = text if self._writer is None and text.endswith("]") and "[2" not in text else ""
        writer = lone_writer(text)
        if writer is None:
            self._read_text(text, has_bars=bool(bars))
        self._writer = writer

    def _undrawn(self, number: int, bars: tuple[Bar, ...]) -> tuple[Bar, ...]:
        """The bars of a line that were not drawn yet, while it was still open."""
        drawn = self._drawn_count if self._drawn_line == number else 0
        self._drawn_line, self._drawn_count = number, len(bars)
        return bars[drawn:]

    def _draw(self, bars: tuple[Bar, ...]) -> None:
        """The bars of one line; a bar without a writer is by the one that stood alone above it."""
        if not self._book.is_loading:
            return
        for bar in bars:
            self._show(bar if bar.writer or self._writer is None else bar._replace(writer=self._writer))

    def _blame(self, failure: Failure, *, rank: str | None = None, is_certain: bool = True) -> None:
        self._book.blame(failure, line=self._line, rank=rank or None, is_certain=is_certain)

    def _routine(self) -> re.Pattern[str]:
        """Matches as many lines as there are, with their ends, of those that are done with at a glance in this state."""
        return _NONE

    def _is_pure(self, text: str, count: int) -> bool:
        """Whether so many lines of the routine hold nothing else."""
        return True

    def _glance(self, text: str) -> None:
        """What lines of the routine say nevertheless."""

    def _show(self, bar: Bar) -> None:
        raise NotImplementedError

    def _read_text(self, text: str, *, has_bars: bool) -> None:
        raise NotImplementedError
