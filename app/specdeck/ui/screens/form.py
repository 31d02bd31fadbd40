"""A few fields to fill in; what is wrong with one is said beside it before anything happens."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from specdeck.quick_dataclass import dataclass
from specdeck.ui.drawing.spans import Row, clean, wrapped
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows

LABEL = 14


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a form."""

    id: str
    label: str
    hint: str = ""
    """Stands in the empty field."""
    value: str = ""
    problem: Callable[[str], str | None] = lambda text: None
    """What is wrong with a text; None: nothing."""


class Form(AskedOnce[Mapping[str, str] | None]):
    """Gives the texts by field, None when the user changed their mind; `problem` looks at all of them together."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", priority=True),
        Binding("down", "app.focus_next", show=False, priority=True),
        Binding("up", "app.focus_previous", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    Form { align: center middle; }
    Form > Vertical { width: 84; max-width: 96%; height: auto; max-height: 96%;
        background: $surface; border: round $primary; padding: 0 1; }
    Form Horizontal { height: 1; }
    Form Static { width: 14; color: $text-muted; }
    Form Input, Form Input:focus { height: 1; border: none; padding: 0 1; width: 1fr; background: $surface; }
    Form Input:focus { background: $panel; }
    Form #wrong { margin: 1 0 0 0; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        problem: Callable[[Mapping[str, str]], str | None] = lambda texts: None,
    ) -> None:
        super().__init__()
        self._title = title
        self._fields = tuple(fields)
        self._problem = problem

    def compose(self) -> ComposeResult:
        """A line for each field, and one for what is wrong."""
        with Vertical() as box:
            box.border_title = clean(self._title)
            box.border_subtitle = "Tab next field   Enter goes on   Esc cancels"
            for field in self._fields:
                with Horizontal():
                    yield Static(field.label, markup=False)
                    yield Input(field.value, placeholder=field.hint, id=field.id, select_on_focus=False)
            yield Rows(id="wrong")

    @property
    def texts(self) -> dict[str, str]:
        """As they stand now."""
        return {field.id: self.query_one(f"#{field.id}", Input).value.strip() for field in self._fields}

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to the first field that is wrong; where none is, on."""
        event.stop()
        texts = self.texts
        for field in self._fields:
            if (wrong := field.problem(texts[field.id])) is not None:
                self._say(f"{field.label}: {wrong}")
                self.query_one(f"#{field.id}", Input).focus()
                return
        if (wrong := self._problem(texts)) is not None:
            self._say(wrong)
            return
        self.dismiss(texts)

    @on(Input.Changed)
    def _on_changed(self, event: Input.Changed) -> None:
        event.stop()
        field = next(field for field in self._fields if field.id == event.input.id)
        wrong = field.problem(event.value.strip()) if event.value.strip() else None
        self._say(f"{field.label}: {wrong}" if wrong is not None else "")

    def on_click(self, event: events.Click) -> None:
        """A click beside the form cancels."""
        if event.widget is self:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Nothing comes of it."""
        self.dismiss(None)

    def _say(self, words: str) -> None:
        rows = self.query_one("#wrong", Rows)
        lines: list[Row] = [
            ((line, "error"),) for text in words.split("\n") for line in wrapped(text, max(rows.size.width, 40))
        ]
        rows.show(lines or [(("", ""),)])
