"""The palette under an impatient hand: what is chosen is done once."""

import pytest
from tests.ui.playing import playing
from textual.command import CommandList
from textual.widgets import Input

from specdeck.ui.command_palette import Palette
from specdeck.ui.screens.overview import OverviewScreen


async def test_enter_pressed_again_while_the_palette_closes_does_nothing() -> None:
    async with playing() as play:
        await play.press("colon", *"pause")
        palette = play.app.screen
        assert isinstance(palette, Palette)
        options, line = palette.query_one(CommandList), palette.query_one(Input)
        await play.until(lambda: options.option_count > 0 and "Pause" in str(options.get_option_at_index(0).prompt))
        options.highlighted = 0
        for _ in range(3):
            await line.action_submit()
        await play.until(lambda: isinstance(play.app.screen, OverviewScreen))
        await play.press("shift")
        assert play.app.is_running
        assert play.app.paused_at is not None  # done twice, it would go on again


async def test_escape_after_the_choice_leaves_the_palette_once() -> None:
    async with playing() as play:
        await play.press("colon")
        palette = play.app.screen
        assert isinstance(palette, Palette)
        palette._action_escape()
        palette._action_escape()
        await play.until(lambda: isinstance(play.app.screen, OverviewScreen))
        await play.press("shift")
        assert play.app.is_running


async def test_a_search_that_misses_its_list_ends_nothing_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise LookupError("no list [/x]")

    async with playing() as play:
        await play.press("colon")
        palette = play.app.screen
        assert isinstance(palette, Palette)
        monkeypatch.setattr(palette, "_search_for", gone)
        await play.press("x")
        await play.until(
            lambda: "the palette failed: LookupError: no list [/x]; close and open it again" in play.toasts
        )
        monkeypatch.undo()
        await play.press("escape", "colon")
        assert isinstance(play.app.screen, Palette)
        assert play.app.is_running


async def test_the_palette_opens_again_while_it_closes() -> None:
    async with playing() as play:
        await play.press("colon")
        palette = play.app.screen
        assert isinstance(palette, Palette)
        palette.dismiss()
        play.app.action_command_palette()
        await play.until(lambda: isinstance(play.app.screen, Palette) and play.app.screen is not palette)
        assert len(play.app.screen_stack) == 2
