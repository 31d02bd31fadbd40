"""No single key stops, starts or replaces a server: every key of the table, in every view, leads at most to a sheet."""

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import playing
from textual import events
from textual.command import CommandPalette

from specdeck.ui.commands import COMMANDS
from specdeck.ui.screens.overview import OverviewScreen

LEAVES = frozenset({"quit", "suspend", "edit"})
"""These end the dashboard or give the terminal to somebody else."""
MOVES = frozenset(
    {"up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab", *"123456789"}
)
KEYS = sorted({key for command in COMMANDS if command.id not in LEAVES for key in command.keys.split(",")} - MOVES)


async def test_no_key_of_the_table_does_more_than_ask() -> None:
    deck = FakeDeck(fleets.only(fleets.qwen()))
    async with playing(deck) as play:
        home = play.app.screen
        for key in KEYS:
            await play.pilot.press(key)
            while play.app.screen is not home and not isinstance(play.app.screen, OverviewScreen):
                await play.pilot.press("escape")
            play.app.screen.set_focus(None)
            assert deck.performed == [], key
        assert deck.asked


async def test_a_whole_pasted_text_arms_nothing() -> None:
    deck = FakeDeck()
    async with playing(deck) as play:
        play.hand.gap = 0.004
        for key in (*"vRKLp", "enter", *"v", "enter", "enter"):
            play.app.screen.post_message(events.Key(key, key if len(key) == 1 else None))
        await play.pilot.pause()
        play.stopwatch.at += 10
        await play.pilot.pause()
        assert deck.performed == []
        play.app.post_message(events.Paste("v\nv\nRK\n"))
        await play.pilot.pause()
        play.stopwatch.at += 10
        await play.pilot.pause()
        assert deck.performed == []


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_both_keys_open_the_palette(key: str) -> None:
    async with playing() as play:
        await play.press(key)
        assert isinstance(play.app.screen, CommandPalette)
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)
