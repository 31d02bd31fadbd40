"""The user's own keys: every fault with its place; footer, help and hands use the new ones."""

import pytest
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import playing

from specdeck.config.problems import Place
from specdeck.config.settings import KeyChoice, Settings
from specdeck.ui.commands import COMMANDS
from specdeck.ui.keymap import display, keymap_of
from specdeck.ui.screens.sheet import ActSheet


def chosen(**keys: str | tuple[str, ...]) -> dict[str, KeyChoice]:
    """As read from lines 2, 3, ... of a file."""
    found = {}
    for line, (name, mine) in enumerate(keys.items(), start=2):
        found[name.replace("_", "-")] = KeyChoice(
            (mine,) if isinstance(mine, str) else mine, Place("config.yaml", line, 9)
        )
    return found


@pytest.mark.parametrize("key", ["f5", "ctrl+r", "#", "number_sign", "Z", "alt+x", "shift+f3", "insert", "ä"])
def test_a_key_of_the_keyboard_is_taken(key: str) -> None:
    keymap, problems = keymap_of(chosen(silence=key))
    assert problems == []
    assert keymap == {"silence": ("number_sign" if key == "#" else key,)}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (chosen(pivott="x"),
         "config.yaml:2:9: keys.pivott: there is no such command, did you mean pivot?; `specdeck keys` lists them"),
        (chosen(pivot="contrl+v"), "config.yaml:2:9: keys.pivot: `contrl+v` is no key, did you mean ctrl+v?"),
        (chosen(pivot=()), "config.yaml:2:9: keys.pivot: there is no key in it"),
        (chosen(stop="q"), "config.yaml:2:9: keys.stop: q is the key of quit already"),
        (chosen(stop="f9", launch="f9"), "config.yaml:3:9: keys.launch: f9 is the key of stop already"),
        (chosen(pivot="escape"), "config.yaml:2:9: keys.pivot: Esc stays the key of back"),
        (chosen(back="f9", pivot="escape"), "config.yaml:3:9: keys.pivot: Esc stays the key of back"),
        (chosen(stop="ctrl+q"), "config.yaml:2:9: keys.stop: ctrl+q stays the key of quit"),
        (chosen(stop="ctrl+m"), "config.yaml:2:9: keys.stop: terminals send ctrl+m as Enter"),
        (chosen(jump="f1"), "config.yaml:2:9: keys.jump: has fixed keys; `specdeck keys` lists them"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_line_with_its_place(choice: dict[str, KeyChoice], said: str) -> None:
    keymap, problems = keymap_of(choice)
    assert problems == [said]
    assert "quit" not in keymap


def test_a_key_that_comes_back_clashes_with_whoever_had_it_meanwhile() -> None:
    keymap, problems = keymap_of(chosen(zoom="q", hide="z"))
    assert keymap == {}
    assert problems == [
        "config.yaml:2:9: keys.zoom: q is the key of quit already",
        "config.yaml:3:9: keys.hide: z is the key of zoom already",
    ]


def test_two_commands_can_change_their_keys() -> None:
    keymap, problems = keymap_of(chosen(pivot="p", profile="v"))
    assert problems == []
    assert keymap == {"pivot": ("p",), "profile": ("v",)}


def test_places_that_are_never_heard_together_may_share_a_key() -> None:
    assert keymap_of(chosen(filter="f5", search="f5"))[1] == []


async def test_hands_footer_and_help_use_the_users_keys() -> None:
    settings = Settings(keys=chosen(pivot="f7", help=("f2", "H")))
    async with playing(FakeDeck(), settings=settings) as play:
        shown = {
            active.binding.id: play.app.get_key_display(active.binding)
            for active in play.app.screen.active_bindings.values()
        }
        assert (shown["pivot"], shown["relaunch"]) == ("f7", "R")
        await play.press("v")
        assert play.deck.asked == []
        await play.press("f2")
        assert " f7 " in play.screen_text
        assert " f2 H " in play.screen_text
        await play.press("escape", "f7")
        assert isinstance(play.app.screen, ActSheet)
        assert play.deck.asked == [("pivot", "kimi", "eagle3-v1")]


async def test_a_keymap_with_a_fault_starts_with_the_default_keys_and_says_so() -> None:
    async with playing(FakeDeck(), settings=Settings(keys=chosen(stop="q"))) as play:
        said = "config.yaml:2:9: keys.stop: q is the key of quit already"
        assert play.toasts == [said]
        assert said in [happening.text for happening in play.deck.store.state.happenings]  # the message goes
        await play.press("K")
        assert play.deck.asked == [("stop", "kimi", None)]


def test_prefixes_of_tmux_and_screen_are_left_alone() -> None:
    keys = {key for command in COMMANDS for key in command.keys.split(",")}
    assert {"ctrl+b", "ctrl+a"} & keys == set()


def test_every_default_key_is_a_key_by_the_same_rule() -> None:
    for command in COMMANDS:
        if command.id != "jump":
            keys = tuple(command.keys.split(","))
            lines = keymap_of({command.id: KeyChoice(keys, Place("config.yaml"))})[1]
            assert lines == [], (command.id, lines)


def test_a_key_is_shown_as_on_the_keyboard() -> None:
    assert [display(key) for key in ("question_mark", "ctrl+r", "exclamation_mark", "R")] == ["?", "ctrl+r", "!", "R"]
