"""The first frame: no blank one comes before it, and its styles are read once."""

import pytest
from tests.ui.fake_deck import FakeDeck
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from specdeck.ui.app import SpecdeckApp
from specdeck.ui.screens.deck_screen import DeckScreen


async def test_nothing_is_painted_before_the_time_of_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layouts before it would paint panes that do not know their sizes yet."""
    happened: list[str] = []
    display, frame = SpecdeckApp._display, DeckScreen._on_timer_update

    def displayed(app: SpecdeckApp, screen: Screen[object], update: object) -> None:
        happened.append("painted")
        display(app, screen, update)  # type: ignore[arg-type]

    def came(screen: DeckScreen) -> None:
        happened.append("frame")
        frame(screen)

    monkeypatch.setattr(SpecdeckApp, "_display", displayed)
    monkeypatch.setattr(DeckScreen, "_on_timer_update", came)
    async with SpecdeckApp(FakeDeck()).run_test() as pilot:
        await pilot.pause()
    assert happened[0] == "frame"
    assert "painted" in happened


async def test_styles_are_read_again_for_another_theme_but_not_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    app = SpecdeckApp(FakeDeck(), theme="specdeck-light")
    monkeypatch.setattr(Stylesheet, "reparse", lambda _: read.append(app.theme))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert not read
        app.theme = "textual-dark"
        await pilot.pause()
    assert read == ["textual-dark"]
