"""A search in the lines of a log: which rows match and which match is looked at, while lines come and go. Pure."""

from specdeck.parsing.lines import Line
from specdeck.ui.drawing.log_lines import LogLines


class LogSearch:
    """Of one text, whatever its case."""

    def __init__(self, lines: LogLines) -> None:
        self._lines = lines
        self.pattern = ""
        self.matches: list[int] = []
        """The rows where a line with the pattern begins, oldest first."""
        self.index = -1
        """The match that is looked at; -1: none."""

    def clear(self) -> None:
        """No match is left; the pattern stays."""
        self.matches.clear()
        self.index = -1

    def begin(self, pattern: str) -> None:
        """Look for a text; the newest match is looked at first."""
        self.pattern = pattern.lower()
        self.look(0)
        self.index = len(self.matches) - 1

    def look(self, first: int) -> None:
        """Look at the rows from one on; what was found before it is kept."""
        wanted, lines = self.pattern, self._lines
        self.matches = [row for row in self.matches if row < first] if wanted else []
        if wanted:
            rows = range(first, len(lines.rows))
            self.matches += [row for row in rows if lines.starts[row] == 0 and wanted in lines.rows[row].text.lower()]
        self.index = min(self.index, len(self.matches) - 1)

    def forget_first(self, rows: int) -> None:
        """So many rows at the top are gone."""
        kept = [row - rows for row in self.matches if row >= rows]
        self.index = max(self.index - (len(self.matches) - len(kept)), -1)
        self.matches = kept

    def look_above(self) -> None:
        """Older rows are there now; the same match stays the one that is looked at."""
        before = len(self.matches)
        self.look(0)
        if self.index >= 0:
            self.index += len(self.matches) - before

    def step(self, step: int) -> int | None:
        """The row of the next (1) or the previous (-1) match, around the ends; None: there is none."""
        if not self.matches:
            return None
        self.index = (self.index + step) % len(self.matches)
        return self.matches[self.index]

    def is_at(self, line: Line) -> bool:
        """Whether the match that is looked at is this line."""
        return 0 <= self.index < len(self.matches) and self._lines.rows[self.matches[self.index]] is line
