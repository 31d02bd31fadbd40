"""Themes: the shipped ones apply, a bad one is a line and never a dead app."""

from dataclasses import replace

import pytest
from tests.pictures.scenes import themes
from tests.ui.fake_deck import FakeDeck

from specdeck.ui.app import SpecdeckApp
from specdeck.ui.last_words import last_words
from specdeck.ui.roles import looks_of


@pytest.mark.parametrize(
    ("colors", "variables", "said"),
    [
        ({"primary": "no-such-colour"}, {}, "no-such-colour"),
        ({"primary": "#fff", "background": "#12345"}, {}, "#12345"),
        ({"primary": "#fff"}, {"foreground": "red; }"}, "theme bad"),
        ({"primary": "#fff", "primry": "#000"}, {}, "primry"),
    ],
)
async def test_a_bad_theme_is_a_line_and_the_app_starts(
    colors: dict[str, str], variables: dict[str, str], said: str
) -> None:
    bad = replace(themes()[0], name="bad", colors=colors, variables=variables)
    deck = FakeDeck()
    app = SpecdeckApp(deck, themes=(*themes(), bad), theme="bad", clock=deck.clock)
    async with app.run_test(notifications=True) as pilot:
        await pilot.pause()
        told = "\n".join(toast.message for toast in app._notifications)
        assert said in told
        assert "there is no theme bad" in told
        assert app.is_running


@pytest.mark.parametrize("name", ["specdeck-light", "specdeck-dark", "nord", "ansi-dark"])
async def test_every_theme_gives_every_role_a_look(name: str) -> None:
    deck = FakeDeck()
    app = SpecdeckApp(deck, themes=themes(), clock=deck.clock)
    async with app.run_test() as pilot:
        await pilot.pause()
        app.action_change_theme()
        app.theme = name
        await pilot.pause()
        looks = looks_of(app.theme_variables)
        assert {"dim", "error", "ready", "bar-rest", "found", "hot", "heading"} <= set(looks)
        assert app.is_running


@pytest.mark.parametrize(
    ("wanted", "ground"), [(None, "#0F141A"), ("specdeck-light", "#FBFCFD"), ("gruvbox", "#1D2021")]
)
async def test_the_wanted_theme_is_what_is_painted(wanted: str | None, ground: str) -> None:
    app = SpecdeckApp(FakeDeck(), theme=wanted)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.screen.background_colors[1].hex == ground
        assert app.has_class("-light-mode") is (wanted == "specdeck-light")


def test_last_words_name_the_report_and_what_was_not_touched(tmp_path: object) -> None:
    from pathlib import Path

    folder, other = Path(str(tmp_path)) / "one", Path(str(tmp_path)) / "other"
    try:
        raise ValueError("[/x] broke")
    except ValueError as error:
        said = last_words(error, folder)
        of_demo = last_words(error, other, fate="The demo ends with it.")
    report = next(folder.iterdir())
    assert f"report: {report}" in said
    assert "No server was stopped" in said
    assert "No server" not in of_demo
    assert "ValueError: [/x] broke" in report.read_text("utf-8")
    assert report.stat().st_mode & 0o077 == 0
