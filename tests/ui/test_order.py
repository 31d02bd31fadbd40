"""The overview of a fleet: worst first, still under the hand, found by typing, as many as there are."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing
from textual.widget import Widget

from specdeck.state.snapshot import FleetState, ServerState, Throughput, Word
from specdeck.ui.arrangement import BUSY_SECONDS
from specdeck.ui.screens.server import ServerScreen
from specdeck.ui.widgets.key_line import KeyLine
from specdeck.ui.widgets.rows import Rows


def order_of(play: Play) -> list[str]:
    """The names in the table, from the top."""
    return [row[3:].split()[0] for row in play.text("#servers").splitlines()[1:] if row[3:4].strip()]


def many(count: int = 64) -> FleetState:
    """Hosts of one ready server each."""
    names = [f"gpu{number:02}" for number in range(count)]
    hosts = tuple(replace(fleets.blackwell(), name=name) for name in names)
    return FleetState(fleets.NOW, hosts, tuple(fleets.qwen(f"llm-{name}", name) for name in names))


def with_word(state: FleetState, name: str, word: Word) -> FleetState:
    """One server is something else now."""
    server = state.server(name)
    assert server is not None
    return fleets.with_server(state, replace(server, word=word))


async def test_the_worst_stands_first_and_is_chosen() -> None:
    async with playing(is_worst_first=True) as play:
        assert order_of(play) == ["glm", "llama", "kimi", "qwen", "qwen-spec"]
        assert play.text("#servers").splitlines()[1].startswith("▸✖ glm")


async def test_o_switches_to_the_order_of_the_fleet_and_back() -> None:
    async with playing(is_worst_first=True) as play:
        await play.press("o")
        assert order_of(play) == ["kimi", "qwen", "qwen-spec", "glm", "llama"]
        assert "fleet order" in play.text("#title")
        await play.press("o")
        assert order_of(play)[0] == "glm"


async def test_the_chosen_server_stays_chosen_when_another_one_gets_worse() -> None:
    async with playing(FakeDeck(many(4)), is_worst_first=True) as play:
        await play.publish(with_word(many(4), "llm-gpu03", Word.CRASHED))
        assert order_of(play) == ["llm-gpu03", "llm-gpu00", "llm-gpu01", "llm-gpu02"]
        assert play.text("#servers").splitlines()[2].startswith("▸● llm-gpu00")


async def test_no_row_moves_just_after_a_key() -> None:
    async with playing(FakeDeck(many(4)), is_worst_first=True) as play:
        await play.press("j")
        await play.publish(with_word(many(4), "llm-gpu03", Word.CRASHED))
        assert order_of(play)[0] == "llm-gpu00"
        play.deck.clock.at += BUSY_SECONDS
        play.app.tick()
        assert order_of(play)[0] == "llm-gpu03"


async def test_no_row_moves_while_the_mouse_is_over_the_table() -> None:
    async with playing(FakeDeck(many(4)), is_worst_first=True) as play:
        await play.pilot.hover("#servers", offset=(10, 1))
        await play.publish(with_word(many(4), "llm-gpu03", Word.CRASHED))
        assert order_of(play)[0] == "llm-gpu00"
        await play.pilot.click("#servers", offset=(10, 3))
        assert play.text("#servers").splitlines()[3].startswith("▸● llm-gpu02")


async def test_until_every_server_was_heard_of_the_first_row_is_the_chosen_one() -> None:
    state = many(3)
    unknown: tuple[ServerState, ...] = tuple(replace(server, word=Word.UNKNOWN) for server in state.servers)
    async with playing(FakeDeck(replace(state, servers=unknown)), is_worst_first=True) as play:
        half_known = replace(state, servers=(unknown[0], replace(unknown[1], word=Word.CRASHED), unknown[2]))
        await play.publish(half_known)
        assert play.text("#servers").splitlines()[1].startswith("▸✖ llm-gpu01")
        play.deck.clock.at += 60
        await play.publish(with_word(half_known, "llm-gpu00", Word.CRASHED))
        assert "▸✖ llm-gpu01" in play.text("#servers")


async def test_sixty_four_servers_take_the_place_of_the_log_and_the_chosen_one_is_in_sight() -> None:
    async with playing(FakeDeck(many()), size=(120, 40)) as play:
        assert "1 to 25 of 64" in play.text("#servers")
        assert not play.app.screen.query_one("#log").display
        assert play.deck.looked_at[-1] is None
        assert "kimi TP7" in play.text("#gpus")
        await play.press("pagedown", "pagedown", "j", "j", "j")
        assert "1 to 25 of 64" in play.text("#servers")
        assert "▸● llm-gpu23" in play.text("#servers")
        await play.press("G")
        assert "40 to 64 of 64" in play.text("#servers")
        assert "▸● llm-gpu63" in play.text("#servers")
        await play.press("g")
        assert "1 to 25 of 64" in play.text("#servers")


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (80, 50), (120, 29), (120, 40), (200, 50)])
@pytest.mark.parametrize("count", [5, 64])
async def test_whatever_the_size_nothing_is_cut_off_below(size: tuple[int, int], count: int) -> None:
    async with playing(FakeDeck(many(count)), size=size) as play:
        await play.pilot.pause()
        bottoms = [w.region.bottom for w in play.app.screen.walk_children(Widget) if w.display and w.size.area]
        assert max(bottoms) == size[1]
        assert play.app.screen.query_one(KeyLine).region.y == size[1] - 1


async def test_of_a_long_fleet_only_the_row_that_changed_is_painted() -> None:
    state = many()
    async with playing(FakeDeck(state)) as play:
        before = {pane.id: pane.painted_cells for pane in play.app.screen.query(Rows)}
        server = state.servers[3]
        await play.publish(
            fleets.with_server(state, replace(server, throughput=Throughput(901.0, "counters", 10.0, fleets.NOW)))
        )
        painted = {pane.id: pane.painted_cells - before[pane.id] for pane in play.app.screen.query(Rows)}
        assert "901" in play.text("#servers").splitlines()[4]
        assert 0 < painted.pop("servers") <= 7
        assert 0 < painted.pop("title") <= 10  # the sum
        assert not any(painted.values())


async def test_typing_filters_at_once_and_an_exclamation_mark_excludes() -> None:
    async with playing(FakeDeck(with_word(many(), "llm-gpu17", Word.CRASHED))) as play:
        await play.press("slash", *"gpu1")
        assert order_of(play)[:3] == ["llm-gpu10", "llm-gpu11", "llm-gpu12"]
        await play.press("space", *"!ready")
        assert order_of(play) == ["llm-gpu17"]
        assert play.app.screen.query_one("#log").display
        await play.press("enter", "enter")
        assert isinstance(play.app.screen, ServerScreen)
        assert "llm-gpu17" in play.text("#identity")


async def test_a_host_without_a_server_is_a_row_too_and_shows_its_gpus() -> None:
    state = many(2)
    idle = fleets.h200("idle", None, load=0.0)
    lost = replace(
        fleets.h200("lost", None, load=0.0), link="down", error="timed out (keepalive)", last_seen=fleets.NOW - 245
    )
    async with playing(FakeDeck(replace(state, hosts=(*state.hosts, idle, lost))), is_worst_first=True) as play:
        rows = play.text("#servers").splitlines()[1:]
        assert [row[1] for row in rows] == ["◌", "●", "●", "·"]
        assert rows[0].startswith("▸◌ -            lost")
        assert "unreachable 4m           timed out (keepalive)" in rows[0]
        assert "idle        no server                1 x H200, free" in rows[3]
        assert rows[3].endswith("118/140G live")
        assert rows[1].startswith("1● llm-gpu00")
        await play.press("G")
        assert "GPUs idle, 1 x H200" in str(play.app.screen.query_one("#gpus").border_title)
        assert play.deck.looked_at[-1] is None
        await play.press("enter", "v", "K")
        assert play.deck.asked == []
        assert any("No server is known" in toast for toast in play.toasts)
        await play.press("slash", *"idle")
        assert len(play.text("#servers").splitlines()) == 2


async def test_the_wheel_goes_through_the_fleet() -> None:
    async with playing(FakeDeck(many())) as play:
        table = play.app.screen.query_one("#servers")
        for _ in range(3):
            table.on_mouse_scroll_down()  # type: ignore[attr-defined]
            await play.pilot.pause()
        assert "▸● llm-gpu03" in play.text("#servers")
