"""The user's own keys: command names of config.yaml into textual's keymap; what cannot be is a line with its place."""

import re
from collections.abc import Iterable, Iterator, Mapping

from textual.keys import Keys, _character_to_key, key_to_character

from specdeck.config.problems import nearest, shown
from specdeck.config.settings import KeyChoice
from specdeck.ui.commands import COMMANDS, Command, Place

SIGNS = {_character_to_key(chr(code)): chr(code) for code in range(33, 127)}
"""`question_mark` and its like."""
NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<")) | {"space", *SIGNS}
MODIFIED = re.compile(r"(?:(?:ctrl|alt|shift)\+)+(?P<key>.+)")
ON_KEYBOARD = {
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "enter": "Enter", "escape": "Esc", "space": "Space",
    "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End", "tab": "Tab", "delete": "Del", "insert": "Ins",
}  # fmt: skip
FIXED = frozenset({"jump"})
"""Its keys are the numbers of the servers."""
KEPT = {"escape": "back", "ctrl+q": "quit"}
"""Esc is always safe, and one key always leaves: no other command can have them."""
SENT_AS = {"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+h": "Backspace", "ctrl+left_square_bracket": "Esc"}
"""What terminals make of them: specdeck never hears of the letter."""
TOGETHER: tuple[tuple[Place, ...], ...] = (
    ("overview", "app", "replay"),
    ("server", "app", "replay"),
    ("log", "app", "replay"),
)
"""Places whose keys are heard at the same time; the log's come before those of its view."""
Keymap = Mapping[str, tuple[str, ...]]
"""Keys as textual names them, by the name of the command."""


def keymap_of(choices: Mapping[str, KeyChoice]) -> tuple[Keymap, list[str]]:
    """What can be used of the user's keys, and one line for each choice that cannot: the default keys stay there."""
    names = {command.id for command in COMMANDS} - FIXED
    problems: list[str] = []
    keymap: dict[str, tuple[str, ...]] = {}
    for name, choice in choices.items():
        wrong = [key for key in choice.keys if _named(key) is None]
        if name not in names:
            what = "has fixed keys" if name in FIXED else f"there is no such command{nearest(name, names)}"
            problems.append(f"{choice.place}: keys.{name}: {what}; `specdeck keys` lists them")
        elif wrong or not choice.keys:
            what = f"`{shown(wrong[0])}` is no key{nearest(wrong[0], NAMED)}" if wrong else "there is no key in it"
            problems.append(f"{choice.place}: keys.{name}: {what}")
        elif taken := next(_taken(name, choice.keys), None):
            problems.append(f"{choice.place}: keys.{name}: {taken}")
        else:
            keymap[name] = tuple(named for key in choice.keys if (named := _named(key)))
    while keymap and (clashes := list(_clashes(keymap))):  # keys that come back may clash with the next
        for name, key, other in clashes:
            del keymap[name]
            problems.append(f"{choices[name].place}: keys.{name}: {display(key)} is the key of {other} already")
    return keymap, problems


def _taken(name: str, keys: Iterable[str]) -> Iterator[str]:
    """Why a key can not be had."""
    for key in map(_named, keys):
        if key is not None and KEPT.get(key, name) != name:
            yield f"{display(key)} stays the key of {KEPT[key]}"
        elif key in SENT_AS:
            yield f"terminals send {key} as {SENT_AS[key]}"


def _named(key: str) -> str | None:
    """`?` and `question_mark`, `R`, `ctrl+r`, `f5`; None: no key."""
    if len(key) == 1:
        return _character_to_key(key) if key.isprintable() else None
    found = MODIFIED.fullmatch(key)
    if found is not None and key not in NAMED:
        base = found["key"]
        return key if len(base) == 1 or base in NAMED else None
    return key if key in NAMED else None


def _clashes(keymap: Keymap) -> Iterator[tuple[str, str, str]]:
    """(the user's command, the key, whose it is already), each command once."""
    told: set[str] = set()
    for places in TOGETHER:
        owners: dict[str, str] = {}
        mine = [command for command in COMMANDS if set(command.places) & set(places)]
        for command in sorted(mine, key=lambda command: command.id in keymap):
            for key in keys_of(command, keymap):
                owner = owners.setdefault(key, command.id)
                if owner != command.id and command.id in keymap and command.id not in told:
                    told.add(command.id)
                    yield command.id, key, owner


def keys_of(command: Command, keymap: Keymap) -> tuple[str, ...]:
    """The user's keys for it, else its own."""
    return keymap.get(command.id, tuple(command.keys.split(",")))


def label_of(command: Command, keymap: Keymap) -> str:
    """As help and `specdeck keys` show them."""
    return " ".join(map(display, keymap[command.id])) if command.id in keymap else command.label


def display(key: str) -> str:
    """`?` for question_mark; names of keys as they are on the keyboard."""
    return ON_KEYBOARD.get(key) or SIGNS.get(key) or key_to_character(key) or key


def for_textual(keymap: Keymap) -> dict[str, str]:
    """By the ids of the bindings."""
    return {name: ",".join(keys) for name, keys in keymap.items()}
