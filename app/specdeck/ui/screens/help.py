"""All keys, from the one table."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from specdeck.ui.commands import Command, told
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.widgets.rows import Rows

WHERE = (
    ("Everywhere", "app"),
    ("Overview and server view", "both"),
    ("Overview", "overview"),
    ("Server view", "server"),
    ("Log", "log"),
    ("Replay (Space stops its time)", "replay"),
)
KEYS = 10
SHAPES = "● ready  ◐ starting  ◑ stopping  ▲ unhealthy or stalled  ✖ crashed  ○ stopped  ◌ unreachable  ■ blocked"


class HelpScreen(ModalScreen[None]):
    """Closes with any of the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter,f1", "leave", "Close"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll { width: 90; max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $primary; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, is_read_only: bool, is_replay: bool = False) -> None:
        super().__init__()
        self._commands = told(is_read_only=is_read_only, is_replay=is_replay)

    def compose(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll() as scroll:
            scroll.border_title = "keys"
            scroll.border_subtitle = "Escape closes"
            yield Rows()

    def on_resize(self) -> None:
        """Wrap for the width."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        rows = self.query_one(Rows)
        rows.show(help_rows(self._commands, max(rows.size.width, 30)))

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one(VerticalScroll).scroll_up(animate=False)


def help_rows(commands: list[Command], width: int) -> list[Row]:
    """The table as rows."""
    rows: list[Row] = []
    for title, place in WHERE:
        mine = [command for command in commands if _belongs(command, place)]
        if not mine:
            continue
        rows.append(((f" {title}", "title"),))
        for command in mine:
            lines = wrapped(command.tooltip, width - KEYS - 3, most=5)
            rows.append(((f" {command.label:<{KEYS}} ", "key"), (lines[0], "")))
            rows += [((" " * (KEYS + 2) + line, ""),) for line in lines[1:]]
        rows.append((("", ""),))
    rows.append(((" Shapes", "title"),))
    rows += [((f" {line}", ""),) for line in wrapped(SHAPES, width - 2)]
    return rows


def _belongs(command: Command, place: str) -> bool:
    if place == "both":
        return command.places == ("overview", "server")
    return command.places == (place,)
