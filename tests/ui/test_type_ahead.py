"""Keys that come faster than the dashboard draws, as on a busy machine: after a key that asks they are the answer."""

import pytest
from tests.ui.playing import Play, playing
from textual import events
from textual.keys import _character_to_key
from textual.widgets import Input

from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.server import ServerScreen


async def type_at_once(play: Play, text: str) -> None:
    """All keys are there before the first is looked at."""
    for char in text:
        play.app.post_message(events.Key(_character_to_key(char), char))
    await play.pilot.pause()
    await play.pilot.pause()


async def test_a_filter_that_is_typed_quickly_is_a_filter_and_no_letter_of_it_a_command() -> None:
    async with playing() as play:
        await type_at_once(play, "/x o1Kpgpu17")
        screen = play.app.screen
        assert isinstance(screen, OverviewScreen)
        assert screen.wanted == "x o1Kpgpu17"
        assert (play.app.paused_at, screen.panes.is_plain) == (None, True)


@pytest.mark.parametrize("sign", ["/", "&", "T"])
async def test_what_is_asked_of_the_log_is_answered_by_the_very_next_key(sign: str) -> None:
    async with playing() as play:
        await play.press("1")
        assert isinstance(play.app.screen, ServerScreen)
        await type_at_once(play, f"{sign}-1Kc w")
        assert isinstance(play.app.screen, ServerScreen)
        assert isinstance(play.app.focused, Input)
        assert play.app.focused.value == "-1Kc w"


async def test_a_command_that_is_typed_quickly_into_the_palette_has_all_its_letters() -> None:
    async with playing() as play:
        await type_at_once(play, ":relaunch")
        await play.until(lambda: isinstance(play.app.focused, Input))
        assert isinstance(play.app.focused, Input)
        assert play.app.focused.value == "relaunch"
