"""The theme picker: what the cursor is on is worn at once, Escape returns, Enter is remembered."""

from pathlib import Path

import pytest
from tests.pictures.scenes import themes
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing
from textual.widgets import OptionList

from specdeck.config.places import state_folder
from specdeck.config.problems import Problems
from specdeck.config.theme import read_themes
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.remembered import remember_theme, remembered_theme
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.theme_picker import ThemePicker


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


async def picking(play: Play) -> OptionList:
    await play.press("ctrl+t")
    assert isinstance(play.app.screen, ThemePicker)
    return play.app.screen.query_one(OptionList)


async def test_every_shipped_theme_is_there_and_the_cursor_is_on_the_worn_one() -> None:
    async with playing() as play:
        options = await picking(play)
        assert [str(option.prompt) for option in options.options] == sorted(spec.name for spec in themes())
        assert options.highlighted is not None
        assert str(options.options[options.highlighted].prompt) == "specdeck-dark"


async def test_the_cursor_shows_a_theme_and_escape_brings_the_old_one_back() -> None:
    async with playing() as play:
        await picking(play)
        await play.press("j")
        assert play.app.theme == "specdeck-light"
        await play.press("escape")
        assert play.app.theme == "specdeck-dark"
        assert isinstance(play.app.screen, OverviewScreen)
        assert remembered_theme() is None


async def test_enter_keeps_the_theme_for_the_next_time() -> None:
    async with playing() as play:
        await picking(play)
        await play.press("j", "enter")
        assert play.app.theme == "specdeck-light"
    assert remembered_theme() == "specdeck-light"


async def test_the_palette_leads_to_the_picker() -> None:
    async with playing() as play:
        command = next(c for c in play.app.get_system_commands(play.app.screen) if c.title == "Theme")
        command.callback()
        await play.pilot.pause()
        assert isinstance(play.app.screen, ThemePicker)


@pytest.mark.parametrize("content", [b"", b"../../etc\n", b"\xff\xfe", b"a b\n"])
def test_a_spoilt_memory_is_no_theme(content: bytes) -> None:
    remember_theme("x")
    (state_folder() / "theme").write_bytes(content)
    assert remembered_theme() is None


async def test_a_state_folder_that_cannot_be_written_is_one_sentence(state: Path) -> None:
    (state / "specdeck").write_text("a file is in the way")
    async with playing() as play:
        await picking(play)
        await play.press("enter")
        assert any("the theme could not be remembered" in toast for toast in play.toasts)


BAD = """\
name: mine
colors:
  primary: "#336699"
  error: "#12345678"
  panel: nosuchcolour
"""
BAD_VARIABLE = """\
name: mine
colors:
  primary: "#336699"
variables:
  footer-key-foreground: "#ff0"
  footer-background: "} nonsense {"
"""


@pytest.mark.parametrize(
    ("text", "said"), [(BAD, "5:10: theme mine: panel: "), (BAD_VARIABLE, "6:22: theme mine: footer-background: ")]
)
async def test_a_theme_of_the_user_that_cannot_be_worn_is_named_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    (folder / "mine.yaml").write_text(text)
    problems = Problems()
    specs = tuple(read_themes([folder], problems).values())
    assert problems.found == []
    deck = FakeDeck()
    app = SpecdeckApp(deck, themes=(*themes(), *specs), theme="mine", clock=deck.clock)
    async with app.run_test(notifications=True) as pilot:
        await pilot.pause()
        told = "\n".join(toast.message for toast in app._notifications)
        assert f"{folder / 'mine.yaml'}:{said}" in told
        assert app.theme == "specdeck-dark"
