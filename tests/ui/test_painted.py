"""Every word that is painted can be read: on each screen, in the colours that the terminal makes of them."""

from collections.abc import Iterator

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from tests.pictures.scenes import Typist, scenes, themes
from tests.ui.fake_deck import FakeDeck
from textual.screen import Screen

from specdeck.ui.app import SpecdeckApp
from specdeck.ui.palette import READABLE, Rgb, contrast, shown_as
from specdeck.ui.themes import themes_of

LOOKS = (
    ("specdeck-light", ColorSystem.TRUECOLOR),
    ("tokyo-night", ColorSystem.EIGHT_BIT),
    ("specdeck-dark", ColorSystem.STANDARD),
)
KEYS = {
    "overview": (),
    "message": ("message",),
    "server": ("1",),
    "filter": ("1", "&"),
    "pivot": ("v",),
    "profiles": ("p",),
    "theme": ("ctrl+t",),
    "help": ("question_mark",),
    "palette": ("ctrl+p",),
}
"""What leads there from the overview."""


def words(screen: Screen[object]) -> Iterator[tuple[str, Style]]:
    """Every character that is no frame, bar or plot; of a sheet only what is on it."""
    for y, strip in enumerate(screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            for char in text:
                is_behind = screen.is_modal and screen.get_widget_at(x, y)[0] is screen
                if style is not None and not (is_behind or char.isspace() or _is_drawing(char)):
                    yield char, style
                x += Segment(char).cell_length


def _is_drawing(char: str) -> bool:
    return "\u2500" <= char <= "\u259f" or "\u2800" <= char <= "\u28ff"


def seen(style: Style, system: ColorSystem) -> tuple[Rgb, Rgb]:
    """Text and ground as the terminal shows them."""
    assert style.color is not None
    assert style.bgcolor is not None
    text, ground = (shown_as((*colour.get_truecolor(),), system) for colour in (style.color, style.bgcolor))
    return (ground, text) if style.reverse else (text, ground)


@pytest.mark.parametrize("name", KEYS)
async def test_every_word_on_the_screen_can_be_read(name: str) -> None:
    deck = FakeDeck(scenes()["overview"].state)
    app = SpecdeckApp(deck, themes=themes(), clock=deck.clock, key_time=Typist())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for key in KEYS[name]:
            if key == "message":
                app.notify("something went wrong", title="kimi", severity="error")
            else:
                await pilot.press(key)
            await pilot.pause()
        for theme, system in LOOKS:
            (made,), _ = themes_of([spec for spec in themes() if spec.name == theme], {}, {}, system)
            app.register_theme(made)
            app.theme = theme
            await pilot.pause()
            app.tick()
            await pilot.pause()
            found = {(char, *seen(style, system)) for char, style in words(app.screen)}
            assert len(found) > 10
            faint = {each for each in found if contrast(each[1], each[2]) < READABLE}
            assert faint == set(), f"{theme} in {system.name}"
