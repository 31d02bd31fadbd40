"""The log pane: a tail of the chosen server's log with a search line under it."""

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.widgets import Input

from specdeck.services.deck import Deck
from specdeck.ui.drawing.spans import clean
from specdeck.ui.drawing.words import plural
from specdeck.ui.view import View
from specdeck.ui.widgets.guarded import Guarded
from specdeck.ui.widgets.log_tail import LogTail


class LogPane(Guarded, Vertical):
    """Asks for the lines after the last one it drew; a new run starts an empty log."""

    DEFAULT_CSS = """
    LogPane { height: 1fr; }
    LogPane Input, LogPane Input:focus { display: none; height: 1; border: none; padding: 0 1; }
    LogPane.-searching Input, LogPane.-searching Input:focus { display: block; }
    """
    view: var[View | None] = var(None, init=False)

    def __init__(self, deck: Deck, *, draw_every_seconds: float = 0.0, id: str | None = None) -> None:
        super().__init__(id=id)
        self._deck = deck
        self._every = draw_every_seconds
        self._drawn_at = 0.0
        self._shown: tuple[str, str] | None = None
        self._titles = ("", "")
        self.tail = LogTail()

    def compose(self) -> ComposeResult:
        """The tail and the search line."""
        yield self.tail
        yield Input(placeholder="search the log, Enter goes, Escape leaves", select_on_focus=True)

    def watch_view(self) -> None:
        """Fetch what is new."""
        self.redraw()

    def on_show(self) -> None:
        """In sight again."""
        self.redraw()

    def _redraw(self) -> None:
        """Take over the new lines, if the pane is in sight and it is time."""
        view = self.view
        if view is None or not self.is_mounted or not self.display:
            return
        server = view.server
        shown = (view.server_name or "", server.run.run + str(server.run.pid) if server and server.run else "")
        if shown != self._shown:
            self._shown, self._drawn_at = shown, 0.0
            self.tail.clear()
        if view.server_name is not None and not 0 <= view.now - self._drawn_at < self._every:
            self._drawn_at = view.now
            self.tail.add(self._deck.log_lines(view.server_name, self.tail.last_number))
        self._say()

    def show_fault(self, sentence: str) -> None:
        """Above the lines that are there."""
        self._titles = (sentence, "")
        self.border_title, self.border_subtitle = Text(sentence), None

    def _say(self) -> None:
        view = self.view
        if view is None:
            return
        server = view.server
        run = f"  run {server.run.run}" if server is not None and server.run is not None and server.run.run else ""
        error = server.evidence.log_error if server is not None else None
        title = f"log {view.server_name or ''}{run}" + (f"  {error}" if error else "")
        titles = (clean(title), self._state())
        if titles != self._titles:
            self._titles = titles
            self.border_title, self.border_subtitle = (Text(text) if text else None for text in titles)

    def _state(self) -> str:
        tail, parts = self.tail, []
        if tail.pattern:
            found = f"{tail.match_index + 1}/{len(tail.matches)}" if tail.matches else "not found"
            parts.append(f"/{clean(tail.pattern)} {found}")
        if not tail.hides_polls:
            parts.append("with polls")
        if tail.is_following:
            parts.append("following")
        else:
            parts.append(f"{plural(tail.news, 'new line')}, f follows" if tail.news else "f follows")
        return "  ".join(parts)

    @on(LogTail.Told)
    def _on_told(self, event: LogTail.Told) -> None:
        event.stop()
        self._say()

    def open_search(self) -> None:
        """Show the search line."""
        self.add_class("-searching")
        self.query_one(Input).focus()

    def close_search(self) -> bool:
        """Leave the search; False where there was none."""
        if not self.has_class("-searching") and not self.tail.pattern:
            return False
        self.remove_class("-searching")
        self.tail.search("")
        self.tail.marked = None
        self.tail.focus()
        return True

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.tail.search(event.value)
        self.remove_class("-searching")
        self.tail.focus()
