"""Leave me alone: for how long alerts do not ring."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets.option_list import Option

from specdeck.state.alert_book import AlertBook, Silence
from specdeck.ui.drawing.spans import clean
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.options import Options

MINUTES = (15, 60, 240)


class SilenceScreen(AskedOnce[Silence | None]):
    """Gives the silence that was chosen, None when the user changed their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Cancel"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    DEFAULT_CSS = """
    SilenceScreen { align: center middle; }
    SilenceScreen > OptionList { width: 76; max-width: 96%; height: auto; max-height: 80%;
        background: $surface; border: round $primary; }
    """

    def __init__(self, book: AlertBook, now: float) -> None:
        super().__init__()
        self._choices = choices(book, now)

    def compose(self) -> ComposeResult:
        """One line a choice."""
        options = Options(*(Option(Text(words)) for words, _ in self._choices), markup=False)
        options.border_title = Text("alerts do not ring")
        options.border_subtitle = Text("they are listed all the same")
        yield options

    @on(Options.OptionSelected)
    def _on_selected(self, event: Options.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._choices[event.option_index][1])

    def action_leave(self) -> None:
        """Nothing changes."""
        self.dismiss(None)

    def action_down(self) -> None:
        """The next one."""
        self.query_one(Options).action_cursor_down()

    def action_up(self) -> None:
        """The one above."""
        self.query_one(Options).action_cursor_up()


def choices(book: AlertBook, now: float) -> list[tuple[str, Silence]]:
    """What can be chosen now, in words: first what ends by itself."""
    found = [(f"for {_words(minutes)}", Silence(now + minutes * 60, book.silence.keys)) for minutes in MINUTES]
    if book.raised:
        named = ", ".join(f"{subject} {kind}" for kind, subject in book.raised)
        found.append((f"until it clears: {clean(named)}", Silence(book.silence.until, frozenset(book.raised))))
    if book.silence != Silence():
        found.append(("ring again", Silence()))
    return found


def _words(minutes: int) -> str:
    return f"{minutes} minutes" if minutes < 60 else "1 hour" if minutes == 60 else f"{minutes // 60} hours"
