"""Every key, and what is hidden or dimmed when it cannot be used."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing
from tests.ui.states import STATES

from specdeck.state.snapshot import Word
from specdeck.ui.commands import COMMANDS, bindings_for, readme_table
from specdeck.ui.screens.deck_screen import DeckScreen
from specdeck.ui.screens.diagnosis import DiagnosisScreen
from specdeck.ui.screens.help import HelpScreen
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.picker import ProfilePicker
from specdeck.ui.screens.server import ServerScreen
from specdeck.ui.screens.sheet import ActSheet
from specdeck.ui.widgets.key_line import shown_keys


def footer_keys(play: Play) -> dict[str, bool]:
    """The keys of the footer, and whether each can be used."""
    return {
        active.binding.key: active.enabled for active in play.app.screen.active_bindings.values() if active.binding.show
    }


async def test_arrows_and_letters_move_enter_opens_escape_returns() -> None:
    async with playing() as play:
        await play.press("down", "j", "k")
        assert "▸● qwen " in play.text("#servers")
        await play.press("enter")
        assert isinstance(play.app.screen, ServerScreen)
        assert "qwen @ h200-a" in play.text("#identity")
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)


async def test_moving_stops_at_the_ends() -> None:
    async with playing() as play:
        await play.press("up")
        assert play.app.screen.query_one("#servers").plain.splitlines()[1].startswith("▸◐ kimi")  # type: ignore[attr-defined]
        await play.press(*["down"] * 9)
        assert "▸◌ llama" in play.text("#servers")


async def test_the_chosen_servers_log_is_followed() -> None:
    async with playing() as play:
        await play.press("j")
        assert play.deck.looked_at[-1] == "qwen"


async def test_question_mark_shows_help_and_closes_it() -> None:
    async with playing() as play:
        await play.press("question_mark")
        assert isinstance(play.app.screen, HelpScreen)
        assert "every server runs on" in play.screen_text
        await play.press("question_mark")
        assert isinstance(play.app.screen, OverviewScreen)


async def test_r_refreshes() -> None:
    async with playing() as play:
        await play.press("r")
        assert play.deck.refreshes == 1


async def test_space_freezes_the_screen_and_says_so() -> None:
    async with playing() as play:
        await play.press("space")
        play.deck.clock.at += 7
        play.app.tick()
        assert "PAUSED 7s" in play.text("#title")
        play.deck.publish(fleets.with_server(fleets.fleet(), replace(fleets.kimi(), word=Word.READY)))
        await play.pilot.pause()
        assert "starting 5/11 weights" in play.text("#servers")
        await play.press("space")
        assert "PAUSED" not in play.text("#title")
        assert "◐ kimi" not in play.text("#servers")


async def test_slash_filters_servers_and_escape_shows_all() -> None:
    async with playing() as play:
        await play.press("slash", "q", "w", "enter")
        assert "kimi" not in play.text("#servers")
        assert "qwen-spec" in play.text("#servers")
        await play.press("escape")
        assert "kimi" in play.text("#servers")


async def test_d_goes_to_the_cause_in_the_log() -> None:
    deck = FakeDeck()
    deck.logs["glm"] = lines([f"line {number}" for number in range(1, 400)])
    async with playing(deck) as play:
        await play.press("j", "j", "j", "enter", "d")
        tail = play.app.screen.log_pane.tail  # type: ignore[attr-defined]
        assert tail.marked == 34
        assert not tail.is_following
        await play.press("f")
        assert tail.is_following


async def test_d_diagnoses_on_the_host_when_the_line_of_the_cause_is_not_kept() -> None:
    async with playing() as play:
        await play.press("j", "j", "j", "d")
        await play.until(lambda: isinstance(play.app.screen, DiagnosisScreen))
        await play.until(lambda: "cause: " in play.screen_text)
        shown = play.screen_text
        assert "glm crashed  (exit 137, SIGKILL)" in shown
        assert "NCCL timeout" in shown
        assert ">     34  line 34" in shown
        assert play.deck.diagnosed == ["glm"]
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)


async def test_p_opens_the_picker_and_escape_closes_it() -> None:
    async with playing() as play:
        await play.press("p")
        assert isinstance(play.app.screen, ProfilePicker)
        await play.press("escape")
        assert isinstance(play.app.screen, OverviewScreen)
        assert play.deck.asked == []


async def test_launch_is_offered_for_a_crashed_server_instead_of_stop() -> None:
    async with playing() as play:
        await play.press("j", "j", "j")
        keys = footer_keys(play)
        assert "L" in keys
        assert "K" not in keys
        await play.press("L")
        assert isinstance(play.app.screen, ActSheet)
        assert play.deck.asked == [("launch", "glm", None)]


async def test_read_only_hides_every_acting_key() -> None:
    async with playing(FakeDeck(is_read_only=True)) as play:
        assert not {"v", "p", "R", "K", "L"} & set(footer_keys(play))
        await play.press("v", "p", "R", "K", "L")
        assert play.deck.asked == []
        assert isinstance(play.app.screen, OverviewScreen)
        assert "read-only" in play.text("#title")


async def test_acting_keys_are_dimmed_while_an_act_runs() -> None:
    state = fleets.with_server(fleets.fleet(), fleets.acting(fleets.kimi()))
    async with playing(FakeDeck(state)) as play:
        assert footer_keys(play)["v"] is False
        await play.press("v")
        assert play.deck.asked == []
        assert play.toasts == ["pivot by ana is under way: one act at a time"]
        await play.press("p", "slash", "escape")
        assert play.deck.asked == []
        assert set(play.toasts) == {"pivot by ana is under way: one act at a time"}
        assert "SIGKILL in 48 s" in play.text("#servers")


async def test_the_footer_has_at_most_eight_keys_and_they_fit_into_eighty_columns() -> None:
    async with playing() as play:
        for keys in ((), ("enter",)):
            await play.press(*keys)
            screen = play.app.screen
            assert isinstance(screen, DeckScreen)
            shown = shown_keys(list(screen.active_bindings.values()), 200, screen.key_line.instead)
            assert len(shown) <= 8
            assert shown[-1].stop <= 80


async def test_the_footer_names_the_key_that_is_wanted_now() -> None:
    async with playing(FakeDeck(STATES["ready"])) as play:
        assert "Esc Back" not in play.text("KeyLine")
        await play.press("slash", *"kimi", "enter")
        assert "Esc Back" in play.text("KeyLine")
        await play.press("escape", "enter")
        assert play.text("KeyLine").endswith("z Zoom  Esc Back  ? Help")
        assert "d Cause" not in play.text("KeyLine")
        await play.publish(STATES["crashed"])
        assert "d Cause" in play.text("KeyLine")
        assert len(play.text("KeyLine")) <= 80


async def test_ctrl_c_says_which_key_leaves() -> None:
    async with playing() as play:
        await play.press("ctrl+c")
        assert "q leaves specdeck" in play.toasts
        assert play.app.is_running


async def test_q_quits_without_asking_and_without_stopping_anything() -> None:
    async with playing() as play:
        await play.press("q")
        assert play.app.return_code == 0
        assert play.deck.asked == []


async def test_search_finds_steps_and_leaves() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines(["alpha", "Beta one", "gamma", "beta two", "delta"])
    async with playing(deck) as play:
        await play.press("enter", "slash", *"beta", "enter")
        tail = play.app.screen.log_pane.tail  # type: ignore[attr-defined]
        assert (tail.finds.matches, tail.finds.index) == ([1, 3], 1)
        await play.press("n")
        assert tail.finds.index == 0
        await play.press("N")
        assert tail.finds.index == 1
        await play.press("escape")
        assert tail.finds.pattern == ""
        assert isinstance(play.app.screen, ServerScreen)


async def test_palette_offers_acts_servers_and_themes() -> None:
    async with playing() as play:
        titles = [command.title for command in play.app.get_system_commands(play.app.screen)]
        assert {"Pivot kimi", "Stop kimi", "Open glm", "Theme"} <= set(titles)


@pytest.mark.parametrize(("keys", "place"), [((), "overview"), (("enter",), "server")])
async def test_the_help_has_every_command_of_the_present_pane_and_no_other(keys: tuple[str, ...], place: str) -> None:
    async with playing(size=(200, 200)) as play:
        await play.press(*keys, "question_mark")
        shown = " ".join(play.screen_text.split())
        for command in COMMANDS:
            here = {place, "app"} | ({"log"} if place == "server" else set())
            if not command.is_acting and set(command.places) & here:
                assert " ".join(command.tooltip.replace("`", "").split()) in shown
            elif command.places in (("server",), ("overview",), ("replay",)):
                assert f"{command.label} {command.tooltip}" not in shown


async def test_the_help_says_what_cannot_be_done_now() -> None:
    state = fleets.with_server(fleets.fleet(), fleets.acting(fleets.kimi()))
    async with playing(FakeDeck(state)) as play:
        await play.press("question_mark")
        shown = " ".join(play.screen_text.split())
        assert "Stop the server and start it again with the same profile; waits for Enter (not now)" in shown


async def test_the_help_of_a_read_only_dashboard_has_no_acting_key() -> None:
    async with playing(FakeDeck(is_read_only=True)) as play:
        await play.press("question_mark")
        assert not [
            command.id for command in COMMANDS if command.is_acting and command.tooltip[:40] in play.screen_text
        ]


def test_every_command_is_in_the_readme() -> None:
    table = readme_table()
    for command in COMMANDS:
        assert f"| `{command.label}` | {command.tooltip}" in table


@pytest.mark.parametrize("place", ["overview", "server", "log", "app"])
def test_no_key_means_two_things_in_one_place(place: str) -> None:
    keys = [key for command in COMMANDS if place in command.places for key in command.keys.split(",")]
    assert len(keys) == len(set(keys))
    assert len(bindings_for(place)) > 0  # type: ignore[arg-type]


async def test_the_palette_offers_every_act_on_every_server_and_every_key_of_the_pane() -> None:
    async with playing() as play:
        titles = [command.title for command in play.app.get_system_commands(play.app.screen)]
        assert {"Stop kimi", "Stop qwen", "Pivot qwen-spec", "Launch glm", "Pick a profile for glm"} <= set(titles)
        assert not {"Stop llama", "Launch qwen"} & set(titles)
        assert {"Mouse (M)", "Silence (!)", "Pause (Space)", "Help (?)"} <= set(titles)
        assert len(titles) == len(set(titles))


async def test_an_act_of_the_palette_on_another_server_opens_its_sheet() -> None:
    async with playing() as play:
        command = next(c for c in play.app.get_system_commands(play.app.screen) if c.title == "Stop qwen")
        await play.press("shift")
        command.callback()
        await play.until(lambda: isinstance(play.app.screen, ActSheet) and bool(play.deck.asked))
        assert play.deck.asked == [("stop", "qwen", None)]
        assert play.deck.performed == []


async def test_a_key_of_the_palette_does_what_the_key_does() -> None:
    async with playing() as play:
        command = next(c for c in play.app.get_system_commands(play.app.screen) if c.title == "Pause (Space)")
        play.app.call_later(command.callback)
        await play.until(lambda: play.app.paused_at is not None)
