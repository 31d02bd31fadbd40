"""The bottom line: the keys that apply now, by mouse too, and nothing left behind however often they change."""

import gc

from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing
from textual.widget import Widget

from specdeck.ui.widgets.key_line import KeyLine
from specdeck.ui.widgets.rows import Rows


def line(play: Play) -> KeyLine:
    """That of the screen in sight."""
    return play.app.screen.query_one(KeyLine)


async def test_it_names_at_most_eight_keys_with_what_they_do() -> None:
    async with playing() as play:
        words = line(play).plain
        assert words.startswith(" Enter Open  v Pivot  p Profile  R Relaunch  K Stop")
        assert "? Help" in words
        assert len(line(play).keys) <= 8


async def test_where_little_fits_no_key_is_cut_in_the_middle() -> None:
    async with playing(size=(62, 24)) as play:
        assert line(play).keys[-1].stop <= 62
        assert line(play).plain.endswith("? Help")


async def test_acting_keys_are_not_there_when_read_only() -> None:
    async with playing(FakeDeck(is_read_only=True)) as play:
        assert {"v", "p", "R", "K"}.isdisjoint(key.label for key in line(play).keys)


async def test_a_click_is_the_key() -> None:
    async with playing() as play:
        stop = next(key for key in line(play).keys if key.label == "?")
        await play.pilot.click(KeyLine, offset=(stop.start + 1, 0))
        await play.until(lambda: type(play.app.screen).__name__ == "HelpScreen")


async def test_where_something_is_typed_letters_are_letters() -> None:
    async with playing() as play:
        await play.press("j", "enter", "ampersand")
        assert line(play).plain == " Enter Go  Esc Leave"
        await play.press("escape")
        assert line(play).plain.startswith(" v Pivot")


async def test_keys_that_change_often_leave_nothing_behind() -> None:
    def widgets() -> int:
        gc.collect()
        return sum(isinstance(each, Widget) for each in gc.get_objects())

    async with playing() as play:
        await play.press("j", "enter", "slash", "escape")
        before = widgets()
        for _ in range(5):
            await play.press("slash", "escape")
        assert widgets() == before


async def test_a_focus_that_moves_paints_only_what_it_changes() -> None:
    async with playing() as play:
        await play.press("j", "enter", "slash", "escape")
        gpus = play.app.screen.query_one("#gpus", Rows)
        painted: list[object] = []
        gpus.render_lines = lambda crop: painted.append(crop) or Rows.render_lines(gpus, crop)  # type: ignore[method-assign, func-returns-value]
        await play.press("slash")
        assert play.app.screen.focused is not None
        assert painted == []
