"""What a running dashboard shows, kept page by page as text, or with the colours that a terminal makes of it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from string import ascii_letters

from rich.color import ColorSystem
from rich.style import Style
from tests.pictures.scenes import Typist, themes
from tests.ui.fake_deck import Clock, FakeDeck
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets._toast import ToastRack

from specdeck.state.snapshot import FleetState
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.palette import shown_as
from specdeck.ui.themes import themes_of
from specdeck.ui.widgets.rows import Rows


class Album:
    """A running dashboard, and what it showed."""

    def __init__(self, app: SpecdeckApp, deck: FakeDeck, pilot: Pilot[None]) -> None:
        self._app = app
        self._deck = deck
        self._pilot = pilot
        self._pages: list[str] = []

    @property
    def text(self) -> str:
        """All pages."""
        return "\n".join(self._pages) + "\n"

    async def show(self, state: FleetState) -> None:
        """This is the newest state."""
        self._deck.publish(state)
        self._app.fleet = self._deck.store.state
        await self.settle()

    async def press(self, *keys: str) -> None:
        """Type, and wait for the layout, then for what the panes make of their new sizes."""
        await self._pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Until nothing more is to be drawn."""
        for _ in range(2):
            await self._pilot.pause()
            self._app.tick()
        await self._pilot.pause()

    async def wear(self, theme: str, system: ColorSystem) -> None:
        """This theme, as a terminal with so many colours wears it."""
        (made,), _ = themes_of([spec for spec in themes() if spec.name == theme], {}, {}, system)
        self._app.register_theme(made)
        self._app.theme = "textual-dark"
        self._app.theme = theme
        await self.settle()

    def focus(self, selector: str) -> None:
        """This pane."""
        self._app.screen.query_one(selector).focus()

    def keep(self, title: str) -> None:
        """The whole screen."""
        self._keep(title, self._rows())

    def keep_region(self, title: str, selector: str) -> None:
        """Only the place of this widget."""
        place = self._app.screen.query_one(selector).region
        self._keep(title, [row[place.x : place.right].rstrip() for row in self._rows()[place.y : place.bottom]])

    def keep_box(self, title: str) -> None:
        """Only what lies over the dashboard."""
        screen = self._app.screen
        assert screen.is_modal, f"nothing is open: {title}"
        boxes = [each.region for each in screen.children if each.region.area and not isinstance(each, ToastRack)]
        place = Region.from_union(boxes or [screen.region])
        self._keep(title, [row[place.x : place.right].rstrip() for row in self._rows()[place.y : place.bottom]])

    def keep_row(self, title: str) -> None:
        """The first row of the table."""
        self._pages.append(f"=== {title}\n{self._app.screen.query_one('#servers', Rows).plain.splitlines()[1]}")

    def keep_parts(self, title: str, *selectors: str) -> None:
        """Only these panes."""
        texts = [self._app.screen.query_one(selector, Rows).plain for selector in selectors]
        self._pages.append("\n".join([f"=== {title}", *texts]))

    def keep_colours(self, title: str, system: ColorSystem, *, rows: int) -> None:
        """The first rows, under each a letter for the look of every cell, and what the letters mean in such a terminal."""
        letters: dict[str, str] = {}
        kept: list[str] = []
        for strip in self._app.screen._compositor.render_strips()[:rows]:
            looks = [_look(style or Style(), system) for text, style, _ in strip for _ in text]
            marks = [letters.setdefault(look, ascii_letters[len(letters)]) for look in looks]
            text = strip.text.rstrip()
            kept += [text, "".join(marks)[: len(text)]] if text else []
        self._keep(title, [*kept, *(f"{letter} {look}" for look, letter in letters.items())])

    def _rows(self) -> list[str]:
        return [strip.text.rstrip() for strip in self._app.screen._compositor.render_strips()]

    def _keep(self, title: str, rows: Sequence[str]) -> None:
        self._pages.append("\n".join([f"=== {title}", *_without_repeats(rows)]))


@asynccontextmanager
async def album_of(deck: FakeDeck, size: tuple[int, int]) -> AsyncIterator[Album]:
    """A dashboard of this size, its servers as in the fleet."""
    app = SpecdeckApp(deck, themes=themes(), clock=deck.clock, key_time=Typist(), monotonic=Clock(1_000.0))
    app.arrangement.is_worst_first = False
    async with app.run_test(size=size) as pilot:
        yield Album(app, deck, pilot)


def _look(style: Style, system: ColorSystem) -> str:
    """`#ff5f5f on #121212 bold`."""
    text, ground = (
        "#{:02x}{:02x}{:02x}".format(*shown_as((*colour.get_truecolor(),), system)) if colour is not None else "-"
        for colour in (style.color, style.bgcolor)
    )
    extras = "".join(f" {name}" for name in ("bold", "dim", "reverse") if getattr(style, name))
    return f"{text} on {ground}{extras}"


def _without_repeats(rows: Sequence[str]) -> list[str]:
    """A row that stands there several times, as inside of an empty frame, once with how often."""
    kept: list[str] = []
    count = 0
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        count += 1
        if row != following:
            kept.append(row if count == 1 else f"{row}   (x {count})")
            count = 0
    return kept
