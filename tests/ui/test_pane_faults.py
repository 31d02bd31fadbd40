"""An exception in any pane is one sentence in that pane; all others go on, and it tries again."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing

from specdeck.ui.panes.base import Pane
from specdeck.ui.panes.log import LogPane
from specdeck.ui.widgets.chart import Chart
from specdeck.ui.widgets.guarded import Guarded
from specdeck.ui.widgets.log_tail import LogTail
from specdeck.ui.widgets.rows import Rows


def breaks(*_: object, **__: object) -> None:
    raise ValueError("[/x] cannot be drawn\x1b[2J")


async def next_state(play: Play) -> None:
    play.deck.clock.at += 3
    await play.publish(replace(play.deck.store.state, at=play.deck.clock.at))


def panes_of(play: Play) -> dict[str, Pane]:
    return {pane.id or type(pane).__name__: pane for pane in play.app.screen.query(Pane) if pane.display}


OVERVIEW = ("title", "servers", "gpus", "events")
SERVER = ("identity", "hero", "gpus", "evidence")


@pytest.mark.parametrize(("keys", "name"), [*(((), n) for n in OVERVIEW), *((("enter",), n) for n in SERVER)])
async def test_a_pane_that_cannot_draw_says_so_and_recovers(
    keys: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing() as play:
        await play.press(*keys)
        panes = panes_of(play)
        with monkeypatch.context() as patch:
            patch.setattr(type(panes[name]), "draw", breaks)
            await next_state(play)
            assert panes[name].plain == f" {name} failed: ValueError: [/x] cannot be drawn·[2J; trying again"
            others = [pane for key, pane in panes.items() if key != name]
            assert not any("failed" in pane.plain for pane in others)
            assert play.app.is_running
        await next_state(play)
        assert "failed" not in panes[name].plain
        assert panes[name].fault is None


async def test_a_plot_that_cannot_be_drawn_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with playing() as play:
        await play.press("j", "enter")
        chart = play.app.screen.query_one(Chart)
        monkeypatch.setattr("specdeck.ui.widgets.chart.chart_rows", breaks)
        await next_state(play)
        assert "throughput failed: ValueError" in chart.plain
        assert play.app.is_running


async def test_a_log_that_cannot_be_taken_over_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    deck = FakeDeck()
    async with playing(deck) as play:
        await play.press("enter")
        pane = play.app.screen.query_one(LogPane)
        with monkeypatch.context() as patch:
            patch.setattr(deck, "log_lines", breaks)
            await next_state(play)
            assert "log failed: ValueError" in str(pane.border_title)
        deck.logs["kimi"] = lines(["it goes on"])
        await next_state(play)
        assert "failed" not in str(pane.border_title)
        assert "it goes on" in pane.tail.plain


@pytest.mark.parametrize("kind", [Rows, LogTail])
async def test_a_widget_whose_lines_cannot_be_rendered_shows_the_sentence(
    kind: type[Guarded], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing() as play:
        await play.press("enter")
        with monkeypatch.context() as patch:
            patch.setattr(kind, "render_line", breaks)
            play.app.screen.refresh()
            await next_state(play)
            for widget in play.app.screen.query(kind):
                widget.refresh()
            await play.pilot.pause()
            assert play.app.is_running
            assert any("ValueError" in (widget.fault or "") for widget in play.app.screen.query(kind))
        assert play.app.is_running


async def test_a_screen_that_cannot_look_is_told_once_and_the_next_second_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing() as play:
        with monkeypatch.context() as patch:
            patch.setattr(type(play.app.screen), "look", breaks)
            await next_state(play)
            await next_state(play)
            assert [toast for toast in play.toasts if "could not be drawn" in toast] == [
                "the screen could not be drawn: ValueError: [/x] cannot be drawn·[2J"
            ]
        await play.publish(fleets.only(fleets.glm()))
        assert "glm" in play.screen_text


def test_no_pane_goes_around_the_guard() -> None:
    family: list[type[Guarded]] = [Guarded]
    for kind in family:  # grows while it is walked
        family.extend(kind.__subclasses__())
    for pane in family[1:]:
        assert "redraw" not in vars(pane), f"{pane.__name__} draws unguarded: say it in _redraw"
