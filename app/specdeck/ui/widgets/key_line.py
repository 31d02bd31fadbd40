"""The keys that apply now, in the bottom line. Textual's Footer makes its widgets anew on each change and keeps the old ones."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual import events
from textual.binding import ActiveBinding, Binding
from textual.screen import Screen
from textual.widgets import Input

from specdeck.quick_dataclass import dataclass
from specdeck.ui.commands import COMMANDS
from specdeck.ui.drawing.spans import Row, clean
from specdeck.ui.keymap import display
from specdeck.ui.widgets.rows import Rows

ORDER = {command.id: index for index, command in enumerate(COMMANDS)}
"""Also where the user gave a command another key."""
NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class ShownKey:
    """One key of the line and where it stands."""

    key: str
    """As textual names it."""
    label: str
    words: str
    tooltip: str
    is_possible: bool
    start: int
    """Its first cell."""

    @property
    def stop(self) -> int:
        """The cell after its last one."""
        return self.start + cell_len(f" {self.label} {self.words} ")

    @property
    def row(self) -> Row:
        """` v Pivot `."""
        return (
            (f" {self.label}", "key" if self.is_possible else "bar-rest"),
            (f" {self.words} ", "" if self.is_possible else "bar-rest"),
        )


TYPING = (("enter", "Enter", "Go"), ("escape", "Esc", "Leave"))
"""Where something is typed, all other keys are letters."""


def shown_keys(active: Sequence[ActiveBinding], width: int, instead: Mapping[str, str] = NONE) -> list[ShownKey]:
    """Those of the bindings that are to be shown, or others instead of them, once for each action, as many as fit whole.

    The last one is always there: it is the help, which tells all others.
    """
    wanted: dict[str, ActiveBinding] = {}
    for each in sorted(active, key=lambda each: ORDER.get(each.binding.id or "", len(ORDER))):
        binding = each.binding
        if (binding.show and binding.id not in instead) or binding.id in instead.values():
            wanted.setdefault(binding.action or binding.key, each)
    keys = _placed(list(wanted.values()))
    while len(keys) > 1 and keys[-1].stop > width:
        wanted.pop(list(wanted)[-2])
        keys = _placed(list(wanted.values()))
    return keys


def _placed(active: Sequence[ActiveBinding]) -> list[ShownKey]:
    keys: list[ShownKey] = []
    for _, binding, is_possible, tooltip in active:
        label = clean(binding.key_display or display(binding.key))
        start = keys[-1].stop if keys else 0
        keys.append(ShownKey(binding.key, label, clean(binding.description), clean(tooltip), is_possible, start))
    return keys


class KeyLine(Rows):
    """Draws again when the bindings of its screen change; a click is the key."""

    DEFAULT_CSS = "KeyLine { dock: bottom; background: $panel; color: $foreground; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.keys: list[ShownKey] = []
        self.instead = NONE
        """Commands whose place others have now, by their names; an empty name: nobody has it."""

    def on_mount(self) -> None:
        """The screen tells when its bindings change."""
        self.screen.bindings_updated_signal.subscribe(self, self._on_bindings)

    def on_resize(self) -> None:
        """More or fewer fit."""
        self._draw()

    def _on_bindings(self, _: Screen[object]) -> None:
        self._draw()

    def _draw(self) -> None:
        active = list(self.screen.active_bindings.values())
        if isinstance(self.screen.focused, Input):
            active = [
                ActiveBinding(self.screen, Binding(key, "", words, key_display=label), True, "")
                for key, label, words in TYPING
            ]
        self.keys = shown_keys(active, self.size.width, self.instead)
        self.show([tuple(span for key in self.keys for span in key.row)])

    def _at(self, x: int) -> ShownKey | None:
        return next((key for key in self.keys if key.start <= x < key.stop), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what the key under the pointer does."""
        key = self._at(event.x)
        self.tooltip = key.tooltip if key is not None else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A click is the key; one that can do nothing now rings."""
        key = self._at(event.x)
        if key is None:
            return
        if key.is_possible:
            self.app.simulate_key(key.key)
        else:
            self.app.bell()
