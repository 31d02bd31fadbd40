"""Panes by key: one alone, some hidden, the focus in sight; and from one server to the next by number."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing
from textual.widget import Widget

from specdeck.ui.screens.overview import OverviewScreen

SERVER_PANES = ("hero", "gpus", "throughput", "evidence", "events", "log")


def in_sight(play: Play) -> list[str]:
    """The panes that can be seen, by their ids."""
    names = {*SERVER_PANES, "servers"}
    return [str(w.id) for w in play.app.screen.walk_children(Widget) if w.id in names and w.display and w.size.area]


async def settle(play: Play) -> None:
    """Layout, then what the new sizes make of the panes."""
    await play.pilot.pause()
    play.app.tick()
    await play.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_z_shows_the_log_alone_and_again_all(size: tuple[int, int]) -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines([f"line {number}" for number in range(300)])
    async with playing(deck, size=size) as play:
        await play.press("enter")
        before = in_sight(play)
        await play.press("z")
        await settle(play)
        assert in_sight(play) == ["log"]
        assert play.app.screen.query_one("#log").size.height > size[1] - 6
        assert "STARTING  5/11 weights" in play.text("#identity")
        await play.press("z")
        await settle(play)
        assert in_sight(play) == before


async def test_tab_shows_each_pane_alone_in_turn_also_those_that_a_small_screen_leaves_out() -> None:
    async with playing(size=(80, 24)) as play:
        await play.press("j", "enter", "z")
        seen = []
        for _ in SERVER_PANES:
            await play.press("tab")
            await settle(play)
            seen += in_sight(play)
        assert seen == list(SERVER_PANES)
        await play.press("shift+tab")
        await settle(play)
        assert in_sight(play) == ["events"]
        assert "started run 0042" in play.text("#events")


async def test_a_pane_that_is_alone_in_a_small_screen_has_its_rich_form() -> None:
    async with playing(size=(80, 24)) as play:
        await play.press("enter", "z", "tab", "tab")
        await settle(play)
        assert in_sight(play) == ["gpus"]
        assert len(play.text("#gpus").splitlines()) == 8
        await play.press("z")
        await settle(play)
        assert play.text("#gpus").startswith("  GPU 0-7")


async def test_the_start_alone_is_a_row_a_phase() -> None:
    async with playing() as play:
        await play.press("enter", "z", "tab")
        await settle(play)
        assert in_sight(play) == ["hero"]
        rows = [row.split() for row in play.text("#hero").splitlines()]
        assert ["✓", "import", "9", "s", "usually", "9", "s"] in [row[:7] for row in rows]
        assert ["·", "draft", "graphs", "usually", "2m00s"] in [row[:5] for row in rows]


async def test_the_evidence_alone_tells_the_whole_command_and_its_log_file() -> None:
    started = "python3 -m sglang.launch_server \\\n  --model-path /m/[/x]kimi \\\n  --chat-template " + "t" * 90
    kimi = fleets.kimi()
    assert kimi.run is not None
    known = replace(kimi, run=replace(kimi.run, command=started))
    async with playing(FakeDeck(fleets.with_server(fleets.fleet(), known)), size=(80, 24)) as play:
        await play.press("enter", *"z", *["tab"] * 4)
        await settle(play)
        assert in_sight(play) == ["evidence"]
        words = play.text("#evidence").split()
        place = words.index("command")
        assert words[place + 1 : place + 6] == ["python3", "-m", "sglang.launch_server", "--model-path", "/m/[/x]kimi"]
        assert "".join(words[place + 6 :]) == "--chat-template" + "t" * 90
        assert words[place - 3 : place] == ["log", "file", "/root/.local/state/specdeck/x/0042/log"]


async def test_escape_leaves_the_zoom_before_the_view() -> None:
    async with playing() as play:
        await play.press("enter", "z", "escape")
        await settle(play)
        assert "gpus" in in_sight(play)
        assert "servers" not in in_sight(play)
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)


@pytest.mark.parametrize("key", ["slash", "ampersand", "T", "s", "n", "N", "e", "f", "w", "a", "m"])
async def test_a_key_for_the_log_brings_it_into_sight_where_another_pane_is_alone(key: str) -> None:
    async with playing() as play:
        await play.press("enter", "z", "tab", key)
        await settle(play)
        assert in_sight(play) == ["log"]
        assert play.app.focused is not None
        assert play.app.focused.region.area > 0


async def test_the_table_of_servers_can_be_alone() -> None:
    async with playing() as play:
        await play.press("z")
        await settle(play)
        assert in_sight(play) == ["servers"]
        assert "llama" in play.text("#servers")
        await play.press("j")
        assert "▸● qwen " in play.text("#servers")


async def test_a_pane_can_be_hidden_stays_so_and_comes_back() -> None:
    async with playing() as play:
        await play.press("enter", "tab", "tab")
        assert play.app.screen.focused is play.app.screen.query_one("#gpus")
        await play.press("x")
        await settle(play)
        assert "gpus" not in in_sight(play)
        await play.press("escape", "j", "enter")
        await settle(play)
        assert "gpus" not in in_sight(play)
        await play.press("X")
        await settle(play)
        assert "gpus" in in_sight(play)


async def test_a_column_whose_panes_are_hidden_gives_its_width_to_the_other() -> None:
    async with playing(size=(120, 40)) as play:
        await play.press("tab", "tab", "x")
        await settle(play)
        assert in_sight(play) == ["servers", "events", "log"]
        assert play.app.screen.query_one("#events").outer_size.width == 120
        await play.press("tab", "tab", "x")
        await settle(play)
        assert in_sight(play) == ["servers", "log"]
        assert play.deck.looked_at[-1] == "kimi"
        await play.press("tab", "tab", "x")
        await settle(play)
        assert in_sight(play) == ["servers"]
        assert play.deck.looked_at[-1] is None


async def test_what_must_be_seen_can_not_be_hidden() -> None:
    async with playing() as play:
        await play.press("x")
        await play.press("enter", "x")
        await settle(play)
        assert "log" in in_sight(play)
        assert any("Tab goes to a pane" in toast for toast in play.toasts)


async def test_the_focus_is_in_sight() -> None:
    async with playing() as play:
        await play.press("enter")
        gpus = play.app.screen.query_one("#gpus")
        before = gpus.styles.border
        await play.press("tab", "tab")
        assert gpus.has_focus
        assert gpus.styles.border != before


async def test_numbers_open_servers_as_they_stand_also_from_another_one() -> None:
    async with playing(is_worst_first=True) as play:
        assert play.text("#servers").splitlines()[3].startswith("3◐ kimi")
        await play.press("3")
        assert "kimi @ blackwell" in play.text("#identity")
        assert play.text("#fleet") == " 1 ✖ glm  2 ◌ llama  3 ◐ kimi 5/11  4 ● qwen 773 tok/s  5 ● qwen-spec 96.1 tok/s"
        await play.press("4")
        assert "qwen @ h200-a" in play.text("#identity")
        await play.press("9")
        assert "qwen @ h200-a" in play.text("#identity")
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)
        assert "▸● qwen " in play.text("#servers")


async def test_a_click_into_the_line_of_servers_opens_one() -> None:
    async with playing() as play:
        await play.press("enter")
        await play.pilot.click("#fleet", offset=(22, 0))
        await settle(play)
        assert "qwen @ h200-a" in play.text("#identity")


async def test_a_fleet_of_one_has_no_line_of_servers() -> None:
    async with playing(FakeDeck(fleets.only(fleets.kimi()))) as play:
        assert not play.app.screen.query_one("#fleet").display


async def test_a_terminal_that_becomes_tiny_shows_the_needed_size_also_while_a_pane_is_alone() -> None:
    async with playing() as play:
        await play.press("enter", "z")
        await play.pilot.resize_terminal(50, 12)
        await settle(play)
        assert in_sight(play) == []
        await play.pilot.resize_terminal(120, 40)
        await settle(play)
        assert in_sight(play) == ["log"]
