"""Whoever is asked answers once: what else comes while a screen closes (a double click, Enter and Esc together) is nothing."""

import pytest
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import playing

from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.sheet import ActSheet
from specdeck.ui.widgets.options import Options


@pytest.mark.parametrize("key", ["p", "plus", "E", "exclamation_mark", "ctrl+t", "question_mark", "v"])
async def test_a_second_answer_takes_no_other_screen_away(key: str) -> None:
    async with playing() as play:
        await play.press("enter", key)
        seen = play.app.screen
        assert isinstance(seen, AskedOnce)
        for _ in range(3):
            seen.dismiss(None)
        await play.press("shift")
        assert len(play.app.screen_stack) == 2
        assert play.app.is_running


async def test_a_profile_that_is_chosen_twice_opens_one_sheet() -> None:
    deck = FakeDeck()
    async with playing(deck) as play:
        await play.press("p")
        picker = play.app.screen
        assert isinstance(picker, AskedOnce)
        picker.dismiss("eagle3-v1")
        picker.dismiss("eagle3-v1")
        await play.until(lambda: isinstance(play.app.screen, ActSheet))
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)
        assert len(deck.asked) == 1


@pytest.mark.parametrize(("key", "action"), [("ctrl+t", "down"), ("p", "move(1)"), ("question_mark", "down")])
async def test_a_key_that_comes_before_the_list_is_nothing(key: str, action: str) -> None:
    async with playing() as play:
        await play.press(key)
        seen = play.app.screen
        await seen.remove_children()
        assert await play.app.run_action(action, seen)
        assert play.app.faults.own == []
        assert play.app.is_running


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_a_page_in_a_list_that_is_not_laid_out_yet_is_nothing(key: str) -> None:
    async with playing() as play:
        await play.press("exclamation_mark")
        options = play.app.screen.query_one(Options)
        options._index_to_line.clear()
        await play.press(key)
        assert play.app.faults.own == []
