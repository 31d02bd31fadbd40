"""Messages in the corner: where they stand, and when they wait."""

from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing
from textual.geometry import Region
from textual.widgets._toast import Toast

from specdeck.ui.screens.sheet import ActSheet
from specdeck.ui.widgets.ask_line import AskLine
from specdeck.ui.widgets.log_tail import LogTail


def toast_regions(play: Play) -> list[Region]:
    """Where messages stand on the screen."""
    return [toast.region for toast in play.app.screen.query(Toast) if toast.display]


async def test_messages_cover_neither_what_is_asked_of_the_log_nor_its_newest_lines() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines([f"line {n}" for n in range(100)])
    async with playing(deck, size=(80, 24)) as play:
        await play.press("enter", "slash")
        play.app.say("copied 12 lines")
        await play.until(lambda: len(toast_regions(play)) == 1)
        line, tail = play.app.screen.query_one(AskLine).region, play.app.screen.query_one(LogTail).region
        await play.until(lambda: toast_regions(play)[0].y == 1)
        place = toast_regions(play)[0]
        assert place.right == 80
        assert place.bottom <= tail.bottom - 5
        assert not place.overlaps(line)


async def test_a_message_waits_until_the_sheet_is_answered() -> None:
    async with playing() as play:
        await play.press("v")
        play.app.say("the disk is full")
        await play.pilot.pause()
        assert isinstance(play.app.screen, ActSheet)
        assert toast_regions(play) == []
        assert play.toasts == [], "its time runs from when it can be seen"
        await play.press("escape")
        await play.until(lambda: len(toast_regions(play)) == 1)


async def test_the_same_words_stand_there_once_however_often_they_are_said() -> None:
    async with playing() as play:
        for _ in range(3):
            play.app.say("the plot is not in sight")
        play.app.say("saved 12 lines")
        play.app.say("the plot is not in sight", title="kimi")
        await play.until(lambda: len(toast_regions(play)) == 3)
        await play.pilot.pause()
        assert len(toast_regions(play)) == 3
