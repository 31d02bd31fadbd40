"""Why a server is as it is, read from the whole log on its host: opened by `d` where the log pane does not hold the place."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from specdeck.errors import SpecdeckError
from specdeck.services.diagnosis_words import diagnosis_words
from specdeck.state.diagnosis import Diagnosis
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.screens.reading import ReadingScreen

ROLES = {
    "  cause: ": "error-strong",
    "  kernel: ": "error",
    "  what to do: ": "accent",
    "  memory: ": "warning",
    "  > ": "found",
}
"""How lines that begin so are drawn."""
LOG_LINES = ("    ", "  >")


class DiagnosisScreen(ReadingScreen):
    """Looks, then shows; closes with any of the usual keys."""

    HEADING = "diagnosis"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,d,enter", "leave", "Close")]
    DEFAULT_CSS = "DiagnosisScreen > VerticalScroll { width: 140; }"

    def __init__(self, server: str, look: Callable[[], Awaitable[Diagnosis]]) -> None:
        super().__init__()
        self._server = server
        self._look = look
        self._lines = [f"{server}: looking through the whole log on its host ..."]

    def reads(self, width: int) -> list[Row]:
        """What is known so far."""
        return diagnosis_rows(self._lines, width)

    def on_mount(self) -> None:
        """Begin."""
        self.run_worker(self._diagnose(), name="diagnosis", group="diagnosis", exclusive=True, exit_on_error=False)

    async def _diagnose(self) -> None:
        try:
            self._lines = diagnosis_words(await self._look())
        except SpecdeckError as error:
            self._lines = [f"{self._server}: {error}"]
        self.draw()


def diagnosis_rows(lines: list[str], width: int) -> list[Row]:
    """Each line wrapped, those of the log cut; the words before the colon decide a colour."""
    rows: list[Row] = []
    for number, line in enumerate(lines):
        role = next((role for begin, role in ROLES.items() if line.startswith(begin)), "strong" if number == 0 else "")
        if line.startswith(LOG_LINES):
            rows.append(((line, role),))
            continue
        indent = "  " if line.startswith("  ") else ""
        rows += [((indent + text, role),) for text in wrapped(line, width - len(indent), most=6)]
    return rows
