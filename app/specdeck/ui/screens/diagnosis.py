"""Why a server is as it is, read from the whole log on its host: opened by `d` where the log pane does not hold the place."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from specdeck.errors import SpecdeckError
from specdeck.services.diagnosis_words import diagnosis_words
from specdeck.state.diagnosis import Diagnosis
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.widgets.rows import Rows

ROLES = {
    "  cause: ": "error-strong",
    "  kernel: ": "error",
    "  what to do: ": "accent",
    "  memory: ": "warning",
    "  > ": "found",
}
"""How lines that begin so are drawn."""
LOG_LINES = ("    ", "  >")


class DiagnosisScreen(ModalScreen[None]):
    """Looks, then shows; closes with any of the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d,enter", "leave", "Close"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    DEFAULT_CSS = """
    DiagnosisScreen { align: center middle; }
    DiagnosisScreen > VerticalScroll { width: 140; max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $primary; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, server: str, look: Callable[[], Awaitable[Diagnosis]]) -> None:
        super().__init__()
        self._server = server
        self._look = look
        self._lines = [f"{server}: looking through the whole log on its host ..."]

    def compose(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll() as scroll:
            scroll.border_title = "diagnosis"
            scroll.border_subtitle = "Escape closes"
            yield Rows()

    def on_mount(self) -> None:
        """Begin."""
        self.run_worker(self._diagnose(), name="diagnosis", group="diagnosis", exclusive=True, exit_on_error=False)

    async def _diagnose(self) -> None:
        try:
            self._lines = diagnosis_words(await self._look())
        except SpecdeckError as error:
            self._lines = [f"{self._server}: {error}"]
        self._draw()

    def on_resize(self) -> None:
        """Wrap for the width."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        """It may have been closed meanwhile."""
        for rows in self.query(Rows):
            rows.show(diagnosis_rows(self._lines, max(rows.size.width, 30)))

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one(VerticalScroll).scroll_up(animate=False)


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
