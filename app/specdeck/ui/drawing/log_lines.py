"""The lines of one log that are kept for the screen, and the rows they are drawn as: bars folded, filtered, wrapped. Pure."""

from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len

from specdeck.parsing.lines import NOT_IN_FILE, Line
from specdeck.quick_dataclass import dataclass
from specdeck.ui.drawing.log_look import is_poll
from specdeck.ui.drawing.spans import clean, cut

MAX_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class LineFilter:
    """Only lines with (or, beginning with `!`, without) a text, whatever its case; specdeck's own lines always."""

    words: str = ""

    def lets_through(self, line: Line) -> bool:
        """Whether the line is shown."""
        if not self.words or line.offset == NOT_IN_FILE:
            return True
        if self.words.startswith("!"):
            return self.words[1:].lower() not in line.text.lower()
        return self.words.lower() in line.text.lower()


class LogLines:
    """Lines oldest first; of each row its line, and where in the shown text it begins."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.rows: list[Line] = []
        self.starts: list[int] = []
        self.folded: dict[int, int] = {}
        """By line number: how many older states of its bar it stands for."""
        self.widest = 0
        self.wrap_width = 0
        """0: rows are as long as their lines."""
        self.hides_polls = True
        self.filter = LineFilter()

    def clear(self) -> None:
        """Another log."""
        self.lines.clear()
        self.folded.clear()
        self._forget_rows()

    @property
    def last_number(self) -> int:
        """Of the newest line; 0 where there is none."""
        return self.lines[-1].number if self.lines else 0

    @property
    def oldest(self) -> Line | None:
        """The oldest line of the file itself."""
        return next((line for line in self.lines if line.offset != NOT_IN_FILE), None)

    def add(self, lines: Iterable[Line]) -> int:
        """Newer lines; a bar takes the place of its own older state. How many more there are to see."""
        before = len(self.lines)
        hidden = 0
        for line in lines:
            if self.lines and self.lines[-1].is_overwritten:
                gone = self.lines.pop()
                self._drop_last_rows(gone)
                self.folded.pop(gone.number, None)
                if not line.text.strip():
                    line = Line(gone.text, line.number, gone.offset, line.is_overwritten, line.is_cut)
            if self.lines:
                self._note_fold(self.lines[-1], line)
            self.lines.append(line)
            hidden += not self._show(line, self.rows, self.starts)
        return max(0, len(self.lines) - before - hidden)

    def mark(self, text: str) -> None:
        """A line of the user's own after the newest one."""
        line = Line(text, self.last_number, NOT_IN_FILE)
        self.lines.append(line)
        self._show(line, self.rows, self.starts)

    def prepend(self, lines: Sequence[Line]) -> int:
        """Older lines; how many rows they take."""
        rows: list[Line] = []
        starts: list[int] = []
        for line, newer in zip(lines, [*lines[1:], *self.lines[:1]], strict=False):
            self._show(line, rows, starts)
            self._note_fold(line, newer)
        self.lines[:0] = lines
        self.rows[:0], self.starts[:0] = rows, starts
        return len(rows)

    def trim(self, most: int, spare: int) -> int:
        """Let the oldest go where there are more than `most`, `spare` too many at once; how many rows went with them."""
        if len(self.lines) <= most:
            return 0
        gone = self.lines[: len(self.lines) - most + spare]
        rows = self._rows_of_first(gone)
        del self.lines[: len(gone)]
        del self.rows[:rows], self.starts[:rows]
        for line in gone:
            self.folded.pop(line.number, None)
        return rows

    def rebuild(self) -> None:
        """Filter, wrapping or width changed."""
        self._forget_rows()
        for line in self.lines:
            self._show(line, self.rows, self.starts)

    def text_of(self, row: int) -> str:
        """What the row shows."""
        text, start = shown_text(self.rows[row]), self.starts[row]
        return cut(text[start:], self.wrap_width) if self.wrap_width else text

    def is_first_row(self, row: int) -> bool:
        """Whether its line begins there."""
        return self.starts[row] == 0

    def row_of(self, line: Line) -> int | None:
        """Where a line begins; None: it is not shown."""
        return next((row for row, each in enumerate(self.rows) if each is line), None)

    def first_row(self, is_so: Callable[[Line], bool], *, after: int = -1) -> int | None:
        """The next row at which a line begins of which something is so."""
        rows = range(after + 1, len(self.rows))
        return next((row for row in rows if self.starts[row] == 0 and is_so(self.rows[row])), None)

    def _note_fold(self, line: Line, newer: Line) -> None:
        """Numbers that are missing between two lines are states of a bar that were drawn over."""
        passed = newer.number - line.number - 1
        if passed > 0 and line.number > 0 and NOT_IN_FILE not in (line.offset, newer.offset):
            self.folded[newer.number] = passed

    def _show(self, line: Line, rows: list[Line], starts: list[int]) -> bool:
        """Add the rows of a line, if it is to be seen."""
        if (self.hides_polls and is_poll(line.text)) or not self.filter.lets_through(line):
            return False
        if not self.wrap_width:
            self.widest = max(self.widest, len(line.text) if line.text.isascii() else cell_len(line.text))
            rows.append(line)
            starts.append(0)
            return True
        text = shown_text(line)
        start = 0
        while start < len(text) or start == 0:
            rows.append(line)
            starts.append(start)
            start += max(len(cut(text[start:], self.wrap_width)), 1)
        return True

    def _forget_rows(self) -> None:
        self.rows.clear()
        self.starts.clear()
        self.widest = 0

    def _drop_last_rows(self, line: Line) -> None:
        while self.rows and self.rows[-1] is line:
            self.rows.pop()
            self.starts.pop()

    def _rows_of_first(self, gone: Sequence[Line]) -> int:
        count = 0
        for line in gone:
            while count < len(self.rows) and self.rows[count] is line:
                count += 1
        return count


def shown_text(line: Line) -> str:
    """The text of a line as it can be drawn; not endless."""
    is_cut = line.is_cut or len(line.text) > MAX_CHARACTERS
    return clean(line.text[:MAX_CHARACTERS]) + ("…" if is_cut else "")
