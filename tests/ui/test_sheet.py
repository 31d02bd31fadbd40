"""The sheet before an act: difference, checks, countdown, and every way to cancel it."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, pivot_plan
from tests.ui.playing import Play, playing
from textual import events

from specdeck.errors import Refused, TransportError
from specdeck.services.deck import Check
from specdeck.state.snapshot import Word
from specdeck.ui.screens.sheet import ActSheet


async def open_sheet(play: Play, key: str = "v") -> ActSheet:
    """Press a key and wait for the plan."""
    await play.press(key)
    sheet = play.app.screen
    assert isinstance(sheet, ActSheet)
    await play.until(lambda: sheet.plan is not None)
    return sheet


async def test_pivot_shows_difference_family_and_checks() -> None:
    async with playing() as play:
        await open_sheet(play)
        text = play.screen_text
        assert play.deck.asked == [("pivot", "kimi", "eagle3-v1")]
        assert "Pivot kimi: eagle3-v2 → eagle3-v1" in text
        assert "--speculative-num-draft-tokens  4" in text
        assert "Ends pid 41233 and 8 more of its family on blackwell, 272 GiB" in text
        assert "/data/models/kimi-k2" in text
        assert "paths ✓" in text
        assert "starts in 3 s" in text


async def test_a_pivot_tells_the_requests_in_flight_and_how_long_earlier_starts_took() -> None:
    busy = replace(
        fleets.kimi(), word=Word.READY, profile="eagle3-v1", requests_running=3, requests_queued=1,
        past_starts=tuple(replace(start, profile="eagle3-v1") for start in fleets.past_starts()),
    )  # fmt: skip
    async with playing(FakeDeck(fleets.only(busy))) as play:
        await open_sheet(play)
        words = " ".join(play.text("#plan").split())
        assert "272 GiB of GPU memory; 3 requests run, 1 waits; model" in words
        assert "eagle3-v1 took 8m25s 8m18s 8m30s to be ready (newest first)" in words


async def test_a_stop_tells_no_time_to_ready_and_an_idle_server_no_requests() -> None:
    deck = FakeDeck(fleets.only(replace(fleets.kimi(), word=Word.READY, requests_running=0, requests_queued=0)))
    deck.next_plan = replace(pivot_plan("stop"), new_profile=None)
    async with playing(deck) as play:
        await open_sheet(play, "K")
        words = play.text("#plan")
        assert "request" not in words.replace("requests may end", "")
        assert "to be ready" not in words


async def test_countdown_starts_the_act_after_three_seconds() -> None:
    async with playing() as play:
        sheet = await open_sheet(play)
        play.stopwatch.at += 2.9
        sheet.tick()
        assert "starts in 1 s" in play.screen_text
        assert play.deck.performed == []
        play.stopwatch.at += 0.2
        sheet.tick()
        await play.pilot.pause()
        assert [plan.act for plan in play.deck.performed] == ["pivot"]


async def test_while_it_checks_enter_does_nothing_and_the_sheet_says_so() -> None:
    async with playing() as play:
        sheet = await open_sheet(play)
        sheet.plan, sheet.starts_at = None, None  # as before the answer of the host
        sheet._draw()
        assert "checking…" in play.screen_text
        assert "any key but Enter cancels" in play.screen_text
        await play.press("enter")
        assert play.app.screen is sheet
        await play.press("x")
        assert play.app.screen is not sheet
        assert play.deck.performed == []


async def test_enter_starts_at_once() -> None:
    async with playing() as play:
        await open_sheet(play)
        await play.press("enter")
        assert len(play.deck.performed) == 1


@pytest.mark.parametrize("key", ["escape", "x", "v", "space", "tab", "up", "ctrl+p", "q", "f1"])
async def test_any_other_key_cancels_and_does_nothing_else(key: str) -> None:
    async with playing() as play:
        sheet = await open_sheet(play)
        await play.press(key)
        assert play.app.screen is not sheet
        assert len(play.app.screen_stack) == 1
        play.stopwatch.at += 10
        await play.pilot.pause()
        assert play.deck.performed == []


async def test_a_click_beside_the_sheet_cancels() -> None:
    async with playing() as play:
        await open_sheet(play)
        await play.pilot.click(offset=(1, 1))
        await play.pilot.pause()
        assert len(play.app.screen_stack) == 1
        assert play.deck.performed == []


@pytest.mark.parametrize("size", [(59, 40), (120, 14)])
async def test_a_terminal_that_becomes_too_small_cancels_the_countdown(size: tuple[int, int]) -> None:
    async with playing() as play:
        sheet = await open_sheet(play)
        await play.pilot.resize_terminal(*size)
        await play.until(lambda: play.app.screen is not sheet)
        play.stopwatch.at += 10
        await play.press("shift")
        assert play.deck.performed == []


async def test_a_terminal_that_is_small_but_large_enough_keeps_the_sheet() -> None:
    async with playing() as play:
        sheet = await open_sheet(play)
        await play.pilot.resize_terminal(60, 15)
        await play.pilot.pause()
        assert play.app.screen is sheet


@pytest.mark.parametrize(
    ("key", "size", "asked"),
    [
        ("v", (60, 15), "starts in 3 s   Enter now   any other key cancels"),
        ("v", (80, 16), "starts in 3 s"),
        ("v", (80, 24), "starts in 3 s"),
        ("K", (60, 15), "Enter does it"),
    ],
)
async def test_what_is_asked_is_in_sight_at_every_size(key: str, size: tuple[int, int], asked: str) -> None:
    async with playing(size=size) as play:
        await open_sheet(play, key)
        await play.pilot.pause()
        seen = [strip.text for strip in play.app.screen._compositor.render_strips()]
        assert [row for row in seen if asked in row]
        assert [row for row in seen if "Ends pid 41233 and 8 more" in row]
        assert [row for row in seen if "paths ✓" in row]
        assert [row for row in seen if "╰─" in row]


async def test_a_sheet_without_room_for_all_says_how_much_is_left_out() -> None:
    deck, plan = FakeDeck(), pivot_plan()
    more = ("SGLANG_ENABLE_SPEC_V2 is ignored by this version of the engine.", "GPUs 0 to 7 are those of qwen too.")
    deck.next_plan = replace(plan, notes=(*plan.notes, *more))
    async with playing(deck, size=(60, 15)) as play:
        await open_sheet(play)
        assert "Pivot kimi: eagle3-v2 → eagle3-v1\n … 4 more lines; a larger terminal shows them" in play.screen_text


async def test_a_paste_into_the_sheet_cancels() -> None:
    async with playing() as play:
        await open_sheet(play)
        play.app.post_message(events.Paste("\r\n"))
        await play.pilot.pause()
        assert len(play.app.screen_stack) == 1
        assert play.deck.performed == []


async def test_enter_in_a_burst_cancels_instead_of_starting() -> None:
    async with playing() as play:
        await open_sheet(play)
        play.hand.gap = 0.005
        await play.press("enter")
        assert len(play.app.screen_stack) == 1
        assert play.deck.performed == []


async def test_a_pasted_pivot_key_opens_nothing() -> None:
    async with playing() as play:
        await play.press("j")
        play.hand.gap = 0.005
        await play.press("v")
        assert play.deck.asked == []
        assert any("too fast" in toast for toast in play.toasts)


async def test_keys_that_follow_the_pivot_key_at_once_never_arm_it() -> None:
    async with playing() as play:
        await play.pilot.press("v", "z")
        await play.pilot.pause()
        await play.pilot.pause()
        play.stopwatch.at += 10
        await play.pilot.pause()
        assert len(play.app.screen_stack) == 1
        assert play.deck.performed == []


async def test_a_failed_check_has_no_countdown_and_says_what_to_change() -> None:
    deck = FakeDeck()
    broken = Check("version", "failed", "0.5.13 has no v1 worker: pick eagle3-v2 or baseline")
    deck.next_plan = pivot_plan(checks=(Check("paths", "passed"), broken, Check("flags", "unknown", "not asked")))
    async with playing(deck) as play:
        sheet = await open_sheet(play)
        assert sheet.starts_at is None
        assert "version ✗" in play.screen_text
        assert "flags ?" in play.screen_text
        assert "pick eagle3-v2 or baseline" in play.screen_text
        await play.press("enter")
        assert deck.performed == []


@pytest.mark.parametrize(("key", "act"), [("K", "stop"), ("R", "relaunch")])
async def test_stop_and_relaunch_wait_for_enter(key: str, act: str) -> None:
    async with playing() as play:
        sheet = await open_sheet(play, key)
        assert sheet.starts_at is None
        assert "kimi on blackwell (pid 41233, model /data/models/kimi-k2)?" in " ".join(play.screen_text.split())
        play.stopwatch.at += 60
        sheet.tick()
        assert play.deck.performed == []
        await play.press("enter")
        assert [plan.act for plan in play.deck.performed] == [act]


async def test_a_plan_that_cannot_be_made_says_why() -> None:
    deck = FakeDeck()
    deck.next_plan = TransportError("blackwell: timed out [/models]")
    async with playing(deck) as play:
        await play.press("v")
        await play.pilot.pause()
        assert "blackwell: timed out [/models]" in play.screen_text
        await play.press("enter")
        assert len(play.app.screen_stack) == 1


async def test_a_refused_act_is_one_toast_and_an_event() -> None:
    deck = FakeDeck()
    deck.perform_error = Refused("locked by ana since 14:02 [pid 7]")
    async with playing(deck) as play:
        await open_sheet(play)
        await play.press("enter")
        await play.pilot.pause()
        assert [toast for toast in play.toasts if "locked by ana" in toast] == [
            "pivot not done: locked by ana since 14:02 [pid 7]"
        ]
        assert deck.store.state.happenings[-1].text == "pivot not done: locked by ana since 14:02 [pid 7]"


async def test_profile_picker_leads_to_the_sheet() -> None:
    async with playing() as play:
        await play.press("p", "down", "down", "enter")
        await play.pilot.pause()
        assert play.deck.asked == [("pivot", "kimi", "baseline")]
        assert isinstance(play.app.screen, ActSheet)
