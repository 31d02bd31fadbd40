"""Questions of logins on the screen: one at a time, secrets unseen, and gone when nobody waits for them."""

from dataclasses import replace

import pytest
from tests.ui.fake_deck import FakeDeck
from tests.ui.fleets import fleet
from tests.ui.playing import Play, playing
from textual.widgets import Input

from specdeck.state.snapshot import FleetState, Question
from specdeck.ui.screens.deck_screen import DeckScreen
from specdeck.ui.screens.question import QuestionScreen
from specdeck.ui.screens.sheet import ActSheet

KEY = Question("host-key", "gpu-a (192.0.2.7:22)", "fingerprint SHA256:abcdefgh", is_secret=False)
PASSWORD = Question("password", "gpu-b (192.0.2.8:22)", "password of ann")


def asking(*questions: Question | None) -> FleetState:
    """The fleet, whose first hosts ask."""
    state = fleet()
    more = (*questions, *(None for _ in state.hosts))
    hosts = tuple(replace(host, question=question) for host, question in zip(state.hosts, more, strict=False))
    return replace(state, hosts=hosts)


def asked(play: Play) -> Question | None:
    """What the screen asks now."""
    screen = play.app.screen
    return screen.question if isinstance(screen, QuestionScreen) else None


async def test_yes_and_enter_accept_a_new_host_key() -> None:
    async with playing() as play:
        await play.publish(asking(KEY))
        await play.until(lambda: asked(play) is KEY)
        await play.until(lambda: "SHA256:abcdefgh" in play.screen_text)
        assert "gpu-a (192.0.2.7:22)" in play.screen_text
        await play.press("y", "e", "s", "enter")
        await play.until(lambda: isinstance(play.app.screen, DeckScreen))
        assert play.deck.answers == [(KEY, "yes")]
        await play.publish(asking(KEY))
        assert asked(play) is None, "it was answered; its host has not said so yet"


async def test_what_is_typed_is_seen_and_a_fingerprint_is_whole() -> None:
    fingerprint = "SHA256:u3JrT0zq8m0mX3yqkX2mXv5R1s9f0H1yq7o2m3n4o5p"
    key = replace(KEY, text=f"its host key is in no known_hosts file; fingerprint {fingerprint}")
    async with playing(size=(80, 24)) as play:
        await play.publish(asking(key))
        await play.until(lambda: fingerprint in play.screen_text)
        await play.press("y", "e", "s")
        seen = [strip.text for strip in play.app.screen._compositor.render_strips()]
        assert [row for row in seen if "│  yes " in row]


async def test_a_password_is_not_seen_while_it_is_typed() -> None:
    async with playing() as play:
        await play.publish(asking(PASSWORD))
        await play.until(lambda: asked(play) is PASSWORD)
        await play.press(*"hunter2")
        line = play.app.screen.query_one(Input)
        assert (line.value, line.password) == ("hunter2", True)
        assert "hunter2" not in str(line.render_line(0).text)
        await play.press("enter")
        assert play.deck.answers == [(PASSWORD, "hunter2")]
        assert not [each for each in play.deck.store.state.happenings if "hunter2" in each.text]


async def test_escape_declines_and_enter_alone_says_nothing() -> None:
    async with playing() as play:
        await play.publish(asking(PASSWORD))
        await play.until(lambda: asked(play) is PASSWORD)
        await play.press("enter")
        assert (play.deck.answers, asked(play)) == ([], PASSWORD)
        await play.press("escape")
        assert play.deck.answers == [(PASSWORD, None)]


async def test_two_hosts_ask_one_after_the_other() -> None:
    async with playing() as play:
        await play.publish(asking(KEY, PASSWORD))
        await play.until(lambda: asked(play) is not None)
        first = asked(play)
        await play.press("escape")
        await play.until(lambda: asked(play) not in (None, first))
        await play.press("escape")
        await play.until(lambda: asked(play) is None)
        assert {question for question, _ in play.deck.answers} == {KEY, PASSWORD}


async def test_a_question_that_nobody_waits_for_goes_away_by_itself() -> None:
    async with playing() as play:
        await play.publish(asking(PASSWORD))
        await play.until(lambda: asked(play) is PASSWORD)
        await play.publish(asking(None))
        await play.until(lambda: asked(play) is None)


@pytest.mark.parametrize("pause", [False, True])
async def test_keys_that_were_meant_for_a_sheet_do_not_go_into_a_question(pause: bool) -> None:
    async with playing() as play:
        if pause:
            await play.press("space")
            await play.publish(asking(PASSWORD))
            await play.until(lambda: asked(play) is PASSWORD)
            return
        await play.press("v")
        await play.until(lambda: isinstance(play.app.screen, ActSheet))
        await play.publish(asking(PASSWORD))
        assert isinstance(play.app.screen, ActSheet)
        await play.press("escape")
        await play.until(lambda: asked(play) is PASSWORD)


async def test_text_of_a_host_is_no_markup_and_no_escape() -> None:
    hostile = Question("second-factor", "gpu-a", "[/x] [@click=app.quit]code[/]\x1b[2J", is_secret=True)
    async with playing(FakeDeck(asking(hostile))) as play:
        await play.until(lambda: asked(play) is hostile)
        await play.until(lambda: "[/x] [@click=app.quit]code[/]" in play.screen_text)
        assert "\x1b" not in play.screen_text
