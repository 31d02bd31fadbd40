"""The keys of the present pane: what can be pressed now, by where it is heard, from the bindings themselves."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import App
from textual.binding import ActiveBinding, Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen

from specdeck.ui.commands import COMMAND, COMMANDS, Command
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.keymap import Keymap, display, keys_of, label_of
from specdeck.ui.screens.reading import ReadingScreen

KEYS = 10
SHAPES = "● ready  ◐ starting  ◑ stopping  ▲ unhealthy or stalled  ✖ crashed  ○ stopped  ◌ unreachable  ■ blocked"
OWN = "Your own keys: keys: in ~/.config/specdeck/config.yaml; specdeck keys lists the names."
Told = tuple[str, Command, bool]
"""Where it is heard, what it does, whether it can be done now."""


class HelpScreen(ReadingScreen):
    """Closes with any of the usual keys."""

    HEADING = "keys"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter,f1", "leave", "Close")]
    DEFAULT_CSS = "HelpScreen > VerticalScroll { width: 90; }"

    def __init__(self, told: list[Told], keymap: Keymap) -> None:
        super().__init__()
        self._told = told
        self._keymap = keymap

    def reads(self, width: int) -> list[Row]:
        """The keys that are heard now."""
        return help_rows(self._told, self._keymap, width)


def told_of(active: Mapping[str, ActiveBinding]) -> list[Told]:
    """The commands behind the bindings that are heard now, each once, in the order of the table."""
    heard = {binding.binding.id: binding for binding in active.values() if binding.binding.id}
    found = [
        (_place(heard[command.id].node), command, heard[command.id].enabled)
        for command in COMMANDS
        if command.id in heard
    ]
    jump = heard.get("jump-1")
    found += [(_place(jump.node), command, jump.enabled) for command in COMMANDS if jump and command.id == "jump"]
    places = list(dict.fromkeys(_place(node) for node in [each.node for each in active.values()]))
    return sorted(found, key=lambda told: places.index(told[0]))


def _place(node: DOMNode) -> str:
    if isinstance(node, App):
        return "Everywhere"
    if isinstance(node, Screen):
        return "This view"
    return "Focused: log" if type(node).__name__ == "LogTail" else f"Focused: {node.id or type(node).__name__}"


def help_rows(told: list[Told], keymap: Keymap, width: int) -> list[Row]:
    """The commands as rows, grouped by where they are heard."""
    rows: list[Row] = [*_first_words(keymap), (("", ""),)]
    for place in dict.fromkeys(place for place, _, _ in told):
        rows.append(((f" {place}", "title"),))
        for command, is_possible in ((c, possible) for p, c, possible in told if p == place):
            rows += _command_rows(command, keymap, width, is_possible=is_possible)
        rows.append((("", ""),))
    rows.append(((" Shapes", "title"),))
    rows += [((f" {line}", ""),) for text in (SHAPES, OWN) for line in wrapped(text, width - 2)]
    return rows


def _first_words(keymap: Keymap) -> list[Row]:
    """What somebody looks for who is lost, and would find on the last page."""
    key = {name: display(keys_of(COMMAND[name], keymap)[0]) for name in ("palette", "back", "quit")}
    told = (
        (key["palette"], " finds any command   "),
        (key["back"], " goes back   "),
        (key["quit"], " leaves specdeck"),
    )
    return [((" ", ""), *(span for label, words in told for span in ((label, "key"), (words, ""))))]


def _command_rows(command: Command, keymap: Keymap, width: int, *, is_possible: bool) -> list[Row]:
    role = "" if is_possible else "dim"
    words = command.tooltip.replace("`", "")
    text = words if is_possible else f"{words} (not now)"
    lines = wrapped(text, width - KEYS - 3, most=5)
    first = ((f" {label_of(command, keymap):<{KEYS}} ", "key" if is_possible else "dim"), (lines[0], role))
    return [first, *[((" " * (KEYS + 2) + line, role),) for line in lines[1:]]]
