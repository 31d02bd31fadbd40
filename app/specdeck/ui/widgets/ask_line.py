"""A line in which something is asked: its sign, what can be typed, and the answer as a message."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from specdeck.ui.drawing.spans import width_of
from specdeck.ui.widgets.rows import Rows


class AskLine(Horizontal):
    """Not there until something is asked; what is typed in is made then, which the first frame need not wait for."""

    DEFAULT_CSS = """
    AskLine { display: none; height: 1; }
    AskLine.-open { display: block; }
    AskLine Rows { width: 2; height: 1; }
    AskLine Input, AskLine Input:focus { width: 1fr; height: 1; border: none; padding: 0; }
    """

    class Answered(Message):
        """Enter was pressed."""

        def __init__(self, kind: str, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    def __init__(self) -> None:
        super().__init__()
        self.kind = ""
        self._sign = Rows()

    def compose(self) -> ComposeResult:
        """The sign."""
        yield self._sign

    @property
    def is_open(self) -> bool:
        """Something is asked."""
        return self.has_class("-open")

    def ask(self, kind: str, *, sign: str, hint: str, value: str = "") -> None:
        """Open it; the answer comes as a message."""
        self.kind = kind
        row = ((f" {sign} " if sign.isalnum() or len(sign) > 1 else f" {sign}", "key"),)
        self._sign.styles.width = width_of(row)
        self._sign.show([row])
        line = self._line()
        line.placeholder, line.value = hint, value
        self.add_class("-open")
        self._sign.refresh()  # what changed while it was hidden was not painted
        self.screen.set_focus(line)  # at once: the next key is part of the answer

    def _line(self) -> Input:
        for line in self.query(Input):
            return line
        line = Input(select_on_focus=True)
        self.mount(line)
        return line

    def close(self) -> None:
        """Nothing is asked any more."""
        self.remove_class("-open")

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.post_message(self.Answered(self.kind, event.value))
