"""A login asks: host key, passphrase, password or second factor; the answer goes to the deck and stays nowhere."""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from specdeck.state.snapshot import Question
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows

TITLES = {
    "host-key": "new host",
    "passphrase": "locked key",
    "password": "password",
    "second-factor": "the host asks",
}
HINTS = {
    "host-key": "If the fingerprint is the host's own, type yes and Enter; anything else refuses.",
    "passphrase": "It opens the key on this machine and is sent nowhere.",
    "password": "It is sent to this host only, once.",
    "second-factor": "Your answer is sent to this host only, once.",
}


class QuestionScreen(AskedOnce[str | None]):
    """Gives the answer back, None when the user declined."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "decline", "Decline", priority=True)]
    LETS_MESSAGES_WAIT: ClassVar[bool] = True
    """Nothing else is to be read now."""
    DEFAULT_CSS = """
    QuestionScreen Toast { display: none; }
    QuestionScreen { align: center middle; }
    QuestionScreen > Vertical { width: 84; max-width: 96%; height: auto; max-height: 90%;
        background: $surface; border: round $warning; padding: 0 1; }
    QuestionScreen Input, QuestionScreen Input:focus { height: 1; border: none; padding: 0 1; margin: 1 0;
        background: $panel; }
    """

    def __init__(self, question: Question, host: str) -> None:
        super().__init__()
        self.question = question
        self._host = host

    def compose(self) -> ComposeResult:
        """The question, the answer's line, what becomes of it."""
        with Vertical() as box:
            box.border_title = TITLES[self.question.kind]
            box.border_subtitle = "Enter answers, Escape declines"
            yield Rows(id="asked")
            yield Input(password=self.question.is_secret)
            yield Rows(id="hint")

    def on_resize(self, _: events.Resize) -> None:
        """Wrap for the width."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        asked, hint = self.query_one("#asked", Rows), self.query_one("#hint", Rows)
        width = max(asked.size.width, 30)
        place = self.question.place if self._host in self.question.place else f"{self._host}: {self.question.place}"
        rows: list[Row] = [((line, "strong"),) for line in wrapped(place, width)]
        rows += [((line, ""),) for part in self._parts(width) for line in wrapped(part, width, most=6)]
        asked.show(rows)
        hint.show([((line, "dim"),) for line in wrapped(HINTS[self.question.kind], width)])

    def _parts(self, width: int) -> list[str]:
        """A fingerprint is compared letter by letter: on a row of its own where it would be broken."""
        before, hash_name, rest = self.question.text.partition("SHA256:")
        is_whole = len(self.question.text) <= width or not hash_name
        return [self.question.text] if is_whole else [before, f"{hash_name}{rest}"]

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        """Enter on an empty line is no answer."""
        event.stop()
        if event.value:
            self.dismiss(event.value)

    def action_decline(self) -> None:
        """No answer: this host stays without a login until it is asked for again."""
        self.dismiss(None)
