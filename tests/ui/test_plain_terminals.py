"""Plain ASCII and no colours: over every screen, whatever hosts say; the state is never told by colour alone."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.style import Style
from tests.pictures.scenes import Scene, Typist, scenes, themes
from tests.ui.fake_deck import FakeDeck, lines
from textual.pilot import Pilot

from specdeck.config.settings import Settings
from specdeck.parsing.ascii_only import ascii_only
from specdeck.state.snapshot import SHAPES
from specdeck.ui.app import SpecdeckApp

NASTY = ("東京 サーバ 起動 ✍️ ⚠️ 👩‍💻 é \u0301", "▁▂▃ ─│╭╮ ⠿⣀⠉", "\u202eturned \x1b[2J", "[@click=app.quit]press me[/]")
SCENES = sorted(scenes())


@asynccontextmanager
async def seen(
    scene: Scene, size: tuple[int, int], settings: Settings
) -> AsyncIterator[tuple[SpecdeckApp, Pilot[None]]]:
    deck = FakeDeck(scene.state, is_read_only=scene.is_read_only)
    deck.logs = {name: lines([*texts, *NASTY]) for name, texts in (scene.logs or {}).items()}
    app = SpecdeckApp(deck, themes=themes(), settings=settings, clock=deck.clock, key_time=Typist())
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        for key in scene.keys:
            await pilot.press(key)
            await pilot.pause()
        app.notify("東京 ─ ●", title="✖", markup=False)
        await pilot.pause()
        yield app, pilot


def drawn(app: SpecdeckApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def styles(app: SpecdeckApp) -> list[Style]:
    return [part.style for strip in app.screen._compositor.render_strips() for part in strip if part.style is not None]


@pytest.mark.parametrize("name", SCENES)
async def test_ascii_draws_no_character_above_127_on_any_screen(name: str) -> None:
    async with seen(scenes()[name], (120, 40), Settings(is_ascii=True)) as (app, pilot):
        for size in ((120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            for _ in range(500):  # the layout of a new size comes with a timer
                await pilot.pause()
                if len(drawn(app)) == size[1] and len(drawn(app)[0]) == size[0]:
                    break
            found = drawn(app)
            assert sorted({char for line in found for char in line if ord(char) > 127}) == []
            assert [len(line) for line in found] == [size[0]] * size[1]


@pytest.mark.parametrize("name", ["overview", "ready", "pivot", "picker", "palette"])
async def test_no_color_writes_no_colour_at_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seen(scenes()[name], (120, 40), Settings()) as (app, _):
        assert [style for style in styles(app) if style.color is not None or style.bgcolor is not None] == []
        assert any(style.bold for style in styles(app))
        assert name != "overview" or any(style.dim for style in styles(app))


@pytest.mark.parametrize("name", ["picker", "palette"])
async def test_without_colours_the_cursor_of_a_list_is_reversed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seen(scenes()[name], (120, 40), Settings()) as (app, _):
        assert any(style.reverse for style in styles(app))


async def test_an_empty_no_color_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with seen(scenes()["overview"], (120, 40), Settings()) as (app, _):
        assert any(style.color is not None for style in styles(app))


@pytest.mark.parametrize("is_ascii", [False, True])
async def test_each_state_has_its_word_and_shape_in_the_overview(
    is_ascii: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seen(scenes()["overview"], (120, 40), Settings(is_ascii=is_ascii)) as (app, _):
        shown = "\n".join(drawn(app))
        for shape, server, word in (
            ("◐", "kimi", "starting"),
            ("●", "qwen", "ready"),
            ("✖", "glm", "crashed"),
            ("◌", "llama", "unreach"),
        ):
            sign = re.escape(ascii_only(shape) if is_ascii else shape)
            assert re.search(rf"{sign} {server}\b.*{word}", shown), shown


def test_no_two_states_share_a_sign_in_ascii_that_they_do_not_share_elsewhere() -> None:
    signs = {shape: ascii_only(shape) for shape in SHAPES.values()}
    assert len(set(signs.values())) == len(signs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("● kimi 41° ▁▂▃▄▅▆▇█", "* kimi 41C _.-:=+*#"),
        ("╭─ gpus ─╮│┤┼╰╯", "+- gpus -+|++++"),
        ("a → b … ✓ ✗", "a > b ~ v x"),
        ("⠀⠉⣀⣿", " '.:"),
        ("東京é", "????e"),
        ("plain", "plain"),
        ("e\u0301\u200d", "e"),
    ],
)
def test_a_text_in_ascii(text: str, said: str) -> None:
    assert ascii_only(text) == said
