"""Alerts at the dashboard: told once, in words of the host that stay words, and silenced by key."""

from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing

from specdeck.config.settings import AlertSettings
from specdeck.state.alert_book import Alert, AlertBook, Silence, Track
from specdeck.state.snapshot import FleetState
from specdeck.ui.notices import Notices
from specdeck.ui.ringing import Ringing
from specdeck.ui.screens.silence import SilenceScreen

CRASH = Alert(1, "crashed", "glm", "crashed (exit 137): [/x] NCCL\x1b]0;title\x07", "error", fleets.NOW)


def alarmed(*alerts: Alert, silence: Silence | None = None) -> FleetState:
    tracks = {(alert.kind, alert.subject): Track(not alert.is_over) for alert in alerts}
    book = AlertBook(tracks=tracks, recent=alerts, told=max((a.number for a in alerts), default=0))
    return replace(fleets.fleet(), alerts=replace(book, silence=silence or Silence()))


async def arrives(play: Play, state: FleetState, toasts: int) -> None:
    play.deck.publish(state)
    await play.until(lambda: len(play.toasts) == toasts)


def heard(settings: AlertSettings, *states: FleetState) -> list[str]:
    """What reaches terminal (and `toast`) while these states come in turn."""
    said: list[str] = []
    ringing = Ringing(settings, Notices(said.append, {}), lambda alert: said.append(f"toast {alert.sentence}"))
    for state in states:
        ringing.look(state)
    return said


async def test_an_alert_is_a_toast_once_and_markup_stays_text() -> None:
    async with playing() as play:
        await arrives(play, alarmed(CRASH), 1)
        await play.publish(alarmed(CRASH))
        assert play.toasts == ["crashed (exit 137): [/x] NCCL·]0;title·"]


async def test_of_a_long_cause_a_toast_has_the_sentences_that_fit_into_four_lines() -> None:
    memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB."
    cause = replace(
        CRASH,
        text=f"crashed: {memory} GPU 3 has a total capacity of 139.81 GiB of which 0.42 GiB is free. See documentation",
    )
    flag = replace(CRASH, number=CRASH.number + 1, text=f"crashed: {'unrecognized arguments ' * 20}")
    async with playing() as play:
        await arrives(play, alarmed(cause, flag), 2)
        assert play.toasts[0] == "crashed: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. …"
        assert play.toasts[1].endswith(" unrecognized …"), "no word is cut in its middle"
        assert len(play.toasts[1]) <= 120


async def test_an_alert_comes_while_the_screen_is_frozen() -> None:
    async with playing() as play:
        await play.press("space")
        await arrives(play, alarmed(CRASH), 1)


def test_bell_and_desktop_once_each() -> None:
    said = heard(AlertSettings(), alarmed(), alarmed(CRASH), alarmed(CRASH))
    assert said[1] == "\a"
    assert said[2].startswith("\x1b]9;specdeck: glm crashed (exit 137): [/x] NCCL·")
    assert len(said) == 3


def lost(first: int, last: int, *, at: float = fleets.NOW) -> FleetState:
    """Hosts whose loss was told."""
    alerts = (Alert(n, "lost", f"gpu-{n}", "is lost: no route", "error", at) for n in range(first, last + 1))
    return replace(alarmed(*alerts), at=at)


def test_of_sixty_four_hosts_that_are_lost_at_once_two_are_named_and_the_rest_counted() -> None:
    settings = AlertSettings(bell=False, desktop=False)
    later = [lost(1, 63, at=fleets.NOW + 1), lost(1, 64, at=fleets.NOW + 4), lost(1, 64, at=fleets.NOW + 5)]
    assert heard(settings, lost(1, 0), lost(1, 62), *later) == [
        "toast gpu-1 is lost: no route",
        "toast gpu-2 is lost: no route",
        "toast 60 more alerts: 60 lost (all in the events)",
        "toast gpu-63 is lost: no route",
        "toast gpu-64 is lost: no route",
    ]


def test_few_alerts_one_after_the_other_are_each_told_at_once() -> None:
    settings = AlertSettings(bell=False, desktop=False)
    states = [lost(1, n, at=fleets.NOW + 2 * n) for n in range(5)]
    assert heard(settings, *states) == [f"toast gpu-{n} is lost: no route" for n in range(1, 5)]


def test_what_was_there_before_does_not_ring() -> None:
    assert heard(AlertSettings(), alarmed(CRASH), alarmed(CRASH)) == []


def test_what_has_cleared_makes_no_noise() -> None:
    over = replace(CRASH, number=2, is_over=True, text="is well again", severity="info")
    assert heard(AlertSettings(), alarmed(), alarmed(over)) == ["toast glm is well again"]


@pytest.mark.parametrize(
    ("settings", "alert"),
    [(AlertSettings(), replace(CRASH, is_silenced=True)), (AlertSettings(kinds=("ready",)), CRASH)],
)
def test_silenced_alerts_and_kinds_that_are_not_wanted_do_not_ring(settings: AlertSettings, alert: Alert) -> None:
    assert heard(settings, alarmed(), alarmed(alert)) == []


def test_bell_and_desktop_can_be_turned_off() -> None:
    said = heard(AlertSettings(bell=False, desktop=False), alarmed(), alarmed(CRASH))
    assert [line.startswith("toast ") for line in said] == [True]


async def test_the_key_silences_for_a_time_until_it_clears_and_not_any_more() -> None:
    async with playing(FakeDeck(alarmed(CRASH))) as play:

        def silence() -> Silence:
            return play.deck.store.state.alerts.silence

        await play.press("exclamation_mark")
        assert isinstance(play.app.screen, SilenceScreen)
        await play.press("enter")
        assert silence() == Silence(until=fleets.NOW + 15 * 60)
        await play.until(lambda: "silent 15m" in play.text("#title"))
        play.deck.clock.at += 20
        await play.press("enter")
        assert play.text("#fleet").endswith("  silent 15m")
        await play.press("escape", "exclamation_mark", "j", "j", "j", "enter")
        assert silence().keys == {("crashed", "glm")}
        await play.press("exclamation_mark", "j", "j", "j", "j", "enter")
        assert silence() == Silence()
        await play.until(lambda: "silent" not in play.text("#title"))


async def test_escape_leaves_the_alerts_as_they_are() -> None:
    async with playing() as play:
        await play.press("exclamation_mark", "escape")
        assert play.deck.store.state.alerts.silence == Silence()


async def test_a_burst_of_keys_silences_nothing() -> None:
    async with playing(FakeDeck(alarmed(CRASH))) as play:
        play.hand.gap = 0.001
        await play.press("exclamation_mark", "enter")
        assert play.deck.store.state.alerts.silence == Silence()
        assert list(play.toasts)[-1] == "Keys came too fast: nothing was silenced."
