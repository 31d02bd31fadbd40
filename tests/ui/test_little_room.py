"""What must not be lost where there is little room, and what an empty fleet says."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.fleets import NOW
from tests.ui.playing import Play, playing
from tests.ui.states import STATES

from specdeck.state.snapshot import FleetState, Happening, HostState
from specdeck.ui.widgets.log_tail import LogTail

SMALL = (80, 24)
PATH = "/tmp/specdeck-demo-k3v9x0qa/fleet.yaml"


def title(play: Play) -> str:
    return play.text("#title")


async def test_the_title_gives_up_names_before_states_and_speed() -> None:
    async with playing(size=SMALL) as play:
        assert title(play).startswith(" specdeck  lab-fleet   2 ready")
        await play.press("space")
        assert title(play).startswith(" specdeck   2 ready  1 starting  2 in trouble   869 tok/s")
        assert "PAUSED" in title(play)
        await play.press("slash", "q", "enter")
        assert title(play).startswith("  2 ready  1 starting  2 in trouble   869 tok/s")
        assert "/q" in title(play)


@pytest.mark.parametrize("state", ["ready", "busy", "stalled", "unhealthy", "blocked", "stopping", "starting"])
async def test_a_server_that_holds_gpu_memory_says_how_much_in_80_columns(state: str) -> None:
    async with playing(FakeDeck(STATES[state]), size=SMALL) as play:
        assert "/765G" in play.text("#servers").splitlines()[1]


async def test_an_empty_fleet_says_what_to_do() -> None:
    nobody = FleetState(NOW, (), (), ())
    async with playing(FakeDeck(nobody), size=SMALL) as play:
        assert "no hosts yet: + adds a host or a server" in play.text("#servers")
        assert title(play).split()[:3] == ["specdeck", "lab-fleet", "0"]
        assert "tok/s" not in title(play), "nobody has a speed"
    async with playing(FakeDeck(nobody, is_read_only=True), size=SMALL) as play:
        assert "+" not in play.text("#servers")
    hosts = (HostState("gpu-a", "root@gpu-a", "connecting"),)
    async with playing(FakeDeck(FleetState(NOW, hosts, (), ())), size=SMALL) as play:
        assert "connecting" in play.text("#servers")


async def test_an_event_that_is_long_is_whole_where_there_is_room_for_it() -> None:
    told = (Happening(NOW - 9, "demo", f"other terminals: specdeck --fleet {PATH} status"),)
    many = tuple(Happening(NOW - 8, "kimi", f"run 00{number} started") for number in range(10, 30))
    async with playing(FakeDeck(replace(fleets.fleet(), happenings=told)), size=SMALL) as play:
        assert PATH in play.text("#events")
    async with playing(FakeDeck(replace(fleets.fleet(), happenings=(*told, *many[:3]))), size=SMALL) as play:
        assert PATH not in play.text("#events"), "four have four rows"
        play.app.screen.query_one("#events").focus()
        await play.press("z")
        await play.pilot.pause()
        assert PATH in play.text("#events")


async def test_what_is_known_of_a_lost_host_has_its_age() -> None:
    async with playing(FakeDeck(STATES["unreachable"])) as play:
        await play.press("1")
        assert play.app.screen.query_one("#evidence").border_title == "evidence, 4m old"


async def test_the_sign_of_what_is_asked_stands_apart_from_the_answer() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines(["[2026-11-29 14:02:04] one"])
    async with playing(deck, size=SMALL) as play:
        await play.press("1", "T")
        seen = [strip.text for strip in play.app.screen._compositor.render_strips()]
        assert [row for row in seen if row.startswith(" T 14:32 or 14:32:05")]


async def test_a_log_line_that_goes_on_ends_in_an_ellipsis_left_of_the_scroll_bar() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines([f"{number:03} {'x' * 100} end of {number:03}" for number in range(50)])
    async with playing(deck, size=SMALL) as play:
        await play.press("1")
        tail = play.app.screen.query_one(LogTail)
        width = tail.scrollable_content_region.width
        assert width == 79, "and the bar"
        assert tail.render_line(0).text.endswith("x…")
        assert tail.render_line(0).cell_length == width
        tail.scroll_to(x=tail.max_scroll_x, animate=False, force=True, immediate=True)
        assert tail.render_line(0).text.rstrip().endswith(" end of 036")


async def test_an_empty_log_says_why_it_is() -> None:
    deck = FakeDeck()
    async with playing(deck, size=SMALL) as play:
        await play.press("1")
        tail = play.app.screen.query_one(LogTail)
        assert tail.render_line(0).text.strip() == "no line yet"
        deck.logs["kimi"] = lines(["one", "two"])
        play.app.tick()
        assert tail.render_line(0).text.strip() == "one"
        await play.press("ampersand", "q", "enter")
        assert tail.render_line(0).text.strip() == "no line with this: q; Esc shows all"
    async with playing(FakeDeck(FleetState(NOW, (), (), ()))) as play:
        assert (
            play.app.screen.query_one(LogTail).render_line(0).text.strip() == "the log of the chosen server stands here"
        )


async def test_the_line_of_servers_gives_up_units_before_servers() -> None:
    async with playing(size=SMALL) as play:
        await play.press("1")
        assert play.text("#fleet") == " 1 ◐ kimi 5/11  2 ● qwen 773  3 ● qwen-spec 96.1  4 ✖ glm  5 ◌ llama"


async def test_a_key_of_the_plot_says_how_it_is_seen_in_80_columns() -> None:
    async with playing(FakeDeck(STATES["busy"]), size=SMALL) as play:
        await play.press("1", "c")
        assert "z, then Tab shows it alone" in play.toasts[-1]
    async with playing(FakeDeck(STATES["stopped"])) as play:
        await play.press("1", "c")
        assert "there is one of a server that serves" in play.toasts[-1]
