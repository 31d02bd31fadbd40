"""The log pane: a tail of the chosen server's log, a line under it for what is asked, and what can be done with its lines."""

from collections.abc import Callable, Mapping

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var

from specdeck.errors import SpecdeckError
from specdeck.services.deck import Deck
from specdeck.services.log_save import file_name, save_lines, usual_path
from specdeck.state.warnings import log_lag
from specdeck.ui.drawing.log_places import newest_moment, oldest_moment
from specdeck.ui.drawing.log_times import wanted_moment
from specdeck.ui.drawing.spans import clean
from specdeck.ui.drawing.words import clock, day_and_clock, plural
from specdeck.ui.view import View
from specdeck.ui.widgets.ask_line import AskLine
from specdeck.ui.widgets.guarded import Guarded
from specdeck.ui.widgets.log_tail import MOST_WHILE_READING, LogTail

QUESTIONS: Mapping[str, tuple[str, str]] = {
    "search": ("/", "search the log, Enter goes, Escape leaves"),
    "filter": ("&", "only lines with this text; !text: only those without; empty: all lines"),
    "time": ("T", "14:32 or 14:32:05 or 11-29 14:32, or before the newest line: -10m, -1h30m"),
    "save": ("save to", "a file or folder of this machine"),
}
MOST_COPIED = 70_000
"""Characters: terminals take no more by OSC 52."""


class LogPane(Guarded, Vertical):
    """Asks for the lines after the last one it drew; a new run starts an empty log."""

    DEFAULT_CSS = "LogPane { height: 1fr; }"
    view: var[View | None] = var(None, init=False)

    def __init__(self, deck: Deck, *, draw_every_seconds: float = 0.0, id: str | None = None) -> None:
        super().__init__(id=id)
        self._deck = deck
        self._every = draw_every_seconds
        self._drawn_at = 0.0
        self._shown: tuple[str, str] | None = None
        self._titles = ("", "")
        self._older = ""
        """What is to be said of the lines before the oldest one."""
        self._fetching: object | None = None
        """Stands for the fetch that runs."""
        self.tail = LogTail()
        self.line = AskLine()

    def compose(self) -> ComposeResult:
        """The tail and the line under it."""
        yield self.tail
        yield self.line

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
            self._shown, self._drawn_at, self._older = shown, 0.0, ""
            self.tail.clear()
        if view.server_name is not None and not 0 <= view.now - self._drawn_at < self._every:
            self._drawn_at = view.now
            self.tail.add(self._deck.log_lines(view.server_name, self.tail.last_number))
        self._say()

    # The border says how it stands

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
        title, state = f"log {view.server_name or ''}{run}".rstrip(), self._state()
        if not self.styles.border_bottom[0]:
            title, state = f"{title}  {state}", ""
        self.tail.nothing = self._nothing()
        titles = (clean(title + (f"  {error}" if error else "")), clean(state))
        if titles != self._titles:
            self._titles = titles
            self.border_title, self.border_subtitle = (Text(text) if text else None for text in titles)

    def _nothing(self) -> str:
        """Why there is no line to be seen, and what shows one."""
        tail = self.tail
        if self.view is None or self.view.server is None:
            return "the log of the chosen server stands here"
        if not tail.log_lines.lines:
            return "no line yet"
        return (
            f"no line with this: {clean(tail.words)}; Esc shows all" if tail.words else "only polls yet: a shows them"
        )

    def _state(self) -> str:
        """`/oom 3 of 41  &TP0  error 2 of 7  12 new below, f follows`."""
        tail, finds, parts = self.tail, self.tail.finds, []
        if tail.words:
            parts.append(f"&{tail.words}: {len(tail.shown_lines):,} of {len(tail.log_lines.lines):,} lines")
        if finds.pattern:
            found = f"{finds.index + 1} of {len(finds.matches)}" if finds.matches else "not found"
            parts.append(f"/{finds.pattern} {found}")
        if tail.error_place[1]:
            parts.append("error {} of {}".format(*tail.error_place))
        if not tail.hides_polls:
            parts.append("with polls")
        server = self.view.server if self.view is not None else None
        if server is not None and (behind := log_lag(server)):
            parts.append(behind)
        if tail.is_following:
            return "  ".join([*parts, "following"])
        if self._older:
            parts.append(self._older)
        return "  ".join([*parts, f"{tail.news:,} new below, f follows" if tail.news else "f follows"])

    @on(LogTail.Told)
    def _on_told(self, event: LogTail.Told) -> None:
        event.stop()
        self._say()

    def _toast(self, words: str, *, is_bad: bool = False) -> None:
        lines = "\n".join(clean(line) for line in words.split("\n"))
        self.app.notify(lines, severity="warning" if is_bad else "information", markup=False)

    # What is asked

    def ask(self, kind: str) -> None:
        """Open the line for a search, a filter, a time or a file name."""
        sign, hint = QUESTIONS[kind]
        value = {"filter": self.tail.words, "save": str(usual_path(self._file_name()))}.get(kind, "")
        self.line.ask(kind, sign=sign, hint=hint, value=value)

    @on(AskLine.Answered)
    def _on_answered(self, event: AskLine.Answered) -> None:
        event.stop()
        self.tail.focus()
        {"search": self.tail.search, "filter": self.tail.filter, "time": self._go_to_time, "save": self._save}[
            event.kind
        ](event.text)

    def close_search(self) -> bool:
        """Leave what is asked, else the search, else the filter; False where there was none of them."""
        if self.line.is_open:
            self.line.close()
        elif self.tail.finds.pattern or self.tail.marked is not None:
            self.tail.search("")
            self.tail.unmark()
        elif self.tail.words:
            self.tail.filter("")
        else:
            return False
        self.tail.focus()
        return True

    # Places

    def next_error(self) -> None:
        """To the next error, or say that there is none."""
        if not self.tail.go_to_next_error():
            which = "that the filter shows" if self.tail.words else "kept here"
            self._toast(f"no error in the {plural(len(self.tail.shown_lines), 'line')} {which}")

    def reach_line(self, number: int, *, otherwise: Callable[[], None]) -> None:
        """Show the line of that number, fetched from the host where it is not far; else do something else."""
        self.redraw()
        oldest = self.tail.log_lines.oldest
        if self.display and oldest is not None and self.tail.go_to_line(number):
            return
        if not self.display or oldest is None or not 0 < oldest.number - number < MOST_WHILE_READING:
            otherwise()
            return

        def is_reached() -> bool:
            known = self.tail.log_lines.oldest
            return known is None or known.number <= number

        def go() -> None:
            if not self.tail.go_to_line(number):
                self.tail.action_follow()
                otherwise()

        self._fetch(is_reached, go)

    def _go_to_time(self, words: str) -> None:
        newest = newest_moment(self.tail.log_lines)
        moment = wanted_moment(words, newest) if newest is not None else None
        if newest is None or moment is None:
            why = "no line here tells a time" if newest is None else f"not a time: {words.strip() or 'nothing'}"
            self._toast(why if newest is None else f"{why}; as in 14:32, 11-29 14:32:05 or -10m", is_bad=True)
            return

        def is_reached() -> bool:
            oldest = oldest_moment(self.tail.log_lines)
            return oldest is not None and oldest <= moment

        def go() -> None:
            if not self.tail.go_to_moment(moment):
                self.tail.action_follow()
                self._toast(
                    f"nothing at {moment:%d %b %H:%M:%S} or later: the newest line is of {newest:%d %b %H:%M:%S}"
                )

        self._fetch(is_reached, go)

    # Older lines, from the host

    @on(LogTail.OlderWanted)
    def _on_older_wanted(self, event: LogTail.OlderWanted) -> None:
        event.stop()
        known = self.tail.log_lines.oldest
        if self._fetching is None:
            self._fetch(lambda: self.tail.log_lines.oldest is not known, lambda: None)

    def _fetch(self, is_reached: Callable[[], bool], then: Callable[[], None]) -> None:
        """Instead of what is being fetched."""
        self.tail.is_following = False  # else new lines would push out what is fetched
        self._fetching = token = object()
        self.run_worker(
            self._fetch_older(is_reached, then, token), name="older", group="older", exclusive=True, exit_on_error=False
        )

    async def _fetch_older(self, is_reached: Callable[[], bool], then: Callable[[], None], token: object) -> None:
        """Piece after piece, until what was wanted is there, the log begins, or no more can be kept."""
        shown = self._shown
        try:
            while not is_reached() and await self._fetch_piece():
                pass
        except SpecdeckError as error:
            self._older = ""
            self._toast(str(error), is_bad=True)
        finally:
            if self._fetching is token:
                self._fetching = None
        if shown == self._shown:
            then()
        self._say()

    async def _fetch_piece(self) -> bool:
        """False: there is no more."""
        shown, oldest = self._shown, self.tail.log_lines.oldest
        if oldest is None or shown is None:
            return False
        if oldest.offset == 0:
            self._older = "the log begins here"
            return False
        if self.tail.is_full:
            self._older = f"no more than {MOST_WHILE_READING:,} lines are kept here"
            return False
        self._older = "fetching older lines"
        self._say()
        piece = await self._deck.older_lines(shown[0], oldest)
        if shown != self._shown or oldest is not self.tail.log_lines.oldest:
            return False
        self.tail.prepend(piece.lines)
        self._older = "the log begins here" if piece.begin == 0 else "older lines: scroll up"
        return bool(piece.lines)

    # What is done with lines

    def add_mark(self) -> None:
        """Put a line with the time into the view."""
        if self.view is not None:
            self.tail.add_mark(f"──── mark {clock(self.view.now)} ────────────────────────")
            self.tail.focus()

    def copy(self) -> None:
        """What is selected, else the line that was jumped to, else the lines in sight, to the clipboard of the terminal."""
        text = self.screen.get_selected_text() or "\n".join(line.text for line in self.tail.chosen_lines)
        lines = [clean(line) for line in text[:MOST_COPIED].split("\n")]
        self.app.copy_to_clipboard("\n".join(lines))
        cut = ", the rest was too long" if len(text) > MOST_COPIED else ""
        self._toast(f"copied {plural(len(lines), 'line')}{cut}\n(OSC 52; tmux needs: set -g set-clipboard on)")

    def _file_name(self) -> str:
        server, run = self._shown or ("log", "")
        number = self.view.server.run.run if self.view and self.view.server and self.view.server.run else run
        return file_name(server, number, day_and_clock(self.view.now if self.view else 0.0))

    def _save(self, wanted: str) -> None:
        lines = self.tail.shown_lines
        try:
            path = save_lines(lines, wanted, self._file_name())
        except SpecdeckError as error:
            self._toast(str(error), is_bad=True)
            return
        self._toast(f"saved {plural(len(lines), 'line')} to {path}")
