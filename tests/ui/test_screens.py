"""What the screens tell, in every size, and how little is painted."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import playing
from tests.ui.states import STATES

from specdeck.state.log_story import Cause, LogStory, Phase, PhaseSpan, Progress
from specdeck.state.snapshot import FleetState, ProcessWitness, Word
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.server import ServerScreen
from specdeck.ui.widgets.chart import Chart
from specdeck.ui.widgets.rows import Rows


async def test_overview_tells_every_server_in_one_row() -> None:
    async with playing() as play:
        rows = play.text("#servers").splitlines()
        assert "◐ kimi" in rows[1]
        assert "starting 5/11 weights" in rows[1]
        assert " in 7m43s ▉░" in rows[1]
        assert "ready 3h12" in rows[2]
        assert "31/4" in rows[2]
        assert "NCCL timeout after 600 s" in rows[4]
        assert "timed out (keepalive); retry in 12 s" in rows[5]
        assert "2 ready  1 starting  ✖ 1 crashed  ◌ 1 unreachable   869 tok/s" in play.text("#title")
        assert "sglang" not in play.text("#gpus")
        assert "kimi TP7" in play.text("#gpus")


async def test_server_view_tells_phases_bar_and_evidence() -> None:
    async with playing() as play:
        await play.press("enter")
        hero = play.text("#hero").splitlines()
        assert hero[0].startswith(
            " ready in about 7m43s, at 14:09:54   42 s so far   last three starts 8m25s 8m18s 8m30s"
        )
        assert hero[1].split()[:3] == ["the", "whole", "start"]
        assert hero[1].endswith(" 8%")
        names = "import arguments processes distributed weights kv graphs draft draft graphs http warm-up"
        assert " ".join(hero[2].split()) == names
        assert " ".join(hero[3].split()) == "now ✓ 9 s ✓ 2 s ✓ 14 s ✓ 3.2 s ▶ 14 s · · · · · ·"
        assert " ".join(hero[4].split()) == "usually 9 s 2 s 14 s 3 s 25 s 4 s 5m02s 9 s 2m00s 1 s 15 s"
        assert hero[5].split()[:2] == ["target", "weights"]
        assert hero[5].endswith("22/64   3.3/s  12 s left of this bar")
        assert "process  alive (41233 + 9 in its family)" in play.text("#evidence")
        assert "engine says: speculation v2" in play.text("#evidence")


async def test_a_small_screen_tells_the_start_in_five_lines() -> None:
    async with playing(size=(80, 24)) as play:
        await play.press("enter")
        hero = play.text("#hero").splitlines()
        assert hero[0] == " ready in about 7m43s, at 14:09:54   42 s so far"
        assert hero[1].endswith(" 8%")
        assert hero[2] == " ✓✓✓✓▶······  weights 14 s, usually 25 s; then graphs 5m02s, draft graphs 2m00s"
        assert hero[3].endswith("22/64   3.3/s 12 s")


async def test_a_start_without_an_earlier_one_says_that_nobody_knows_how_long() -> None:
    async with playing(FakeDeck(fleets.only(replace(fleets.kimi(), past_starts=())))) as play:
        hero = play.text("#hero").splitlines()
        assert hero[0].startswith(" starting   42 s so far   no earlier start of its kind is known")
        assert " ".join(hero[2].split()) == "now ✓ 9 s ✓ 2 s ✓ 14 s ✓ 3.2 s ▶ 14 s · · · · · ·"
        assert "usually" not in play.text("#hero")


async def test_a_phase_that_takes_far_longer_than_usual_is_marked() -> None:
    async with playing() as play:
        await play.press("enter")
        play.deck.clock.at += 60
        play.app.tick()
        hero = play.app.screen.query_one("#hero", Rows)
        assert ("1m13s", "warning") in [span for row in hero.rows_shown for span in row]


async def test_the_draft_has_its_own_bar() -> None:
    kimi = fleets.kimi()
    assert kimi.story is not None
    spans = (*fleets.ready_story().phases[:7], PhaseSpan("draft_weights", 359.0))
    bar = Progress("draft weights", 1, 2, 50.0)
    story = replace(kimi.story, phase=Phase("draft_weights", 8, 11), phases=spans, progress=bar)
    draft = replace(kimi, evidence=replace(kimi.evidence, story=story))
    async with playing(FakeDeck(fleets.only(draft))) as play:
        assert "STARTING  8/11 draft" in play.text("#identity")
        assert play.text("#hero").splitlines()[5].split()[:2] == ["draft", "weights"]


async def test_a_start_that_crashed_shows_in_which_phase() -> None:
    kimi = fleets.kimi()
    story = replace(kimi.evidence.story or LogStory(), cause=Cause("out-of-memory", "CUDA out of memory", 212, "TP3"))
    dead = ProcessWitness("gone", 41_233, exit_status=1)
    crashed = replace(kimi, word=Word.CRASHED, evidence=replace(kimi.evidence, story=story, process=dead))
    for size, row in (
        ((120, 40), "now ✓ 9 s ✓ 2 s ✓ 14 s ✓ 3.2 s ✖ 14 s · · · · · ·"),
        ((80, 24), "✓✓✓✓✖······ weights 14 s"),
    ):
        async with playing(FakeDeck(fleets.only(crashed)), size=size) as play:
            assert row in " ".join(play.text("#hero").split())


async def test_a_tall_screen_keeps_the_phases_of_the_start_in_sight() -> None:
    async with playing(FakeDeck(STATES["busy"]), size=(200, 50)) as play:
        await play.press("enter")
        rows = [" ".join(row.split()) for row in play.text("#hero").splitlines()]
        assert "now ✓ 9 s ✓ 2 s ✓ 14 s ✓ 3 s ✓ 25 s ✓ 4 s ✓ 5m02s ✓ 9 s ✓ 2m01s ✓ 1 s ✓ 15 s" in rows
        assert "usually 9 s 2 s 14 s 3 s 25 s 4 s 5m02s 9 s 2m00s 1 s 15 s" in rows


async def test_what_was_last_known_of_an_unreachable_server_stays_with_its_age() -> None:
    async with playing(FakeDeck(STATES["unreachable"])) as play:
        assert "timed out (keepalive); retry in 12 s; was ready" in play.text("#servers")
        await play.press("enter")
        assert "when last heard of, 4m ago: ready, 1,213 tok/s, 31 running" in play.text("#hero")


@pytest.mark.parametrize(("width", "told"), [(80, "eagle3-v2 in 7m43s "), (120, "in 7m43s ▉░░"), (200, "22/64 ██▊")])
async def test_the_overview_says_at_every_width_when_a_server_is_ready(width: int, told: str) -> None:
    async with playing(size=(width, 24)) as play:
        row = play.text("#servers").splitlines()[1]
        assert told in row
        assert row.count("7m43s") == 1


async def test_where_no_earlier_start_is_known_the_overview_counts_shards() -> None:
    state = fleets.with_server(fleets.fleet(), replace(fleets.kimi(), past_starts=()))
    async with playing(FakeDeck(state)) as play:
        assert " 22/64 " in play.text("#servers").splitlines()[1]


async def test_a_wide_overview_tells_latency_and_load_as_well() -> None:
    async with playing(FakeDeck(STATES["busy"]), size=(200, 50)) as play:
        head, kimi = play.text("#servers").splitlines()[:2]
        assert head.endswith("KV ACCEPT TTFT p95  GPU   GPU mem  AGE")
        assert kimi.endswith("62%   2.41    1.2 s  12%  598/765G live")


async def test_ready_server_shows_rate_source_and_plot() -> None:
    async with playing() as play:
        await play.press("j", "enter")
        assert "773 tok/s (10 s, counters)" in play.text("#hero")
        assert "ready after 8m25s (graphs 5m02s, draft graphs 2m01s, weights 25 s)" in play.text("#hero")
        assert "now" in play.text("#throughput")


async def test_of_several_hosts_the_first_server_that_is_found_does_not_open_by_itself() -> None:
    fleet = fleets.only(fleets.kimi(), fleets.blackwell(), fleets.h200("h200-a", None, load=0.0))
    async with playing(FakeDeck(fleet)) as play:
        assert isinstance(play.app.screen, OverviewScreen)


async def test_a_single_server_opens_by_itself() -> None:
    async with playing(FakeDeck(fleets.only(fleets.kimi()))) as play:
        assert isinstance(play.app.screen, ServerScreen)
        await play.press("escape")
        assert "kimi" in play.text("#servers")


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 50), (20, 6)])
async def test_every_size_shows_the_state_without_a_crash(size: tuple[int, int]) -> None:
    async with playing(size=size) as play:
        if size[0] >= 60:
            assert "starting 5/11 weights" in play.text("#servers")
        await play.press("enter")
        await play.press("v", "x", "question_mark", "escape", "escape")
        assert play.app.is_running


@pytest.mark.parametrize("size", [(59, 40), (120, 14), (20, 6)])
@pytest.mark.parametrize("keys", [(), ("enter",)])
async def test_below_the_least_size_one_line_says_it_and_nobody_acts(
    size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    async with playing(size=(120, 40)) as play:
        await play.press(*keys)
        await play.pilot.resize_terminal(*size)
        await play.pilot.pause()
        play.app.tick()
        await play.pilot.pause()
        shown = [widget for widget in play.app.screen.children if widget.display and widget.id is not None]
        assert [widget.id for widget in shown] == ["size"]
        words = " ".join(play.text("#size").split())
        assert f"60x15 needed, {size[0]}x{size[1]} here" in words or "60 columns and 15 rows" in words, (
            "whole, if in two lines"
        )
        await play.press("v", "R", "K")
        assert play.deck.asked == []
        await play.pilot.resize_terminal(80, 24)
        await play.pilot.pause()
        play.app.tick()
        assert "kimi" in play.screen_text


async def test_resizing_switches_between_the_forms() -> None:
    async with playing(size=(120, 40)) as play:
        await play.press("j", "enter")
        assert "process  alive" in play.text("#evidence")
        await play.pilot.resize_terminal(80, 24)
        await play.pilot.pause()
        play.app.tick()
        await play.pilot.pause()
        assert play.text("#evidence").startswith(" proc alive")


async def test_ages_grow_without_new_events() -> None:
    async with playing() as play:
        play.deck.clock.at += 60
        play.app.tick()
        assert "crashed, 3m ago" in play.text("#servers")


async def test_news_of_a_stale_host_are_dimmed_with_their_age() -> None:
    state = fleets.fleet()
    stale = replace(state.hosts[0], link="stale", last_seen=fleets.NOW - 47)
    async with playing(FakeDeck(replace(state, hosts=(stale, *state.hosts[1:])))) as play:
        table = play.app.screen.query_one("#servers", Rows)
        assert "47s" in table.plain.splitlines()[1]
        roles = {role for text, role in table.rows_shown[1][2:] if text.strip()}
        assert roles == {"dim"}
        assert "47s old" in str(play.app.screen.query_one("#gpus").border_title)


async def test_the_same_state_paints_nothing() -> None:
    async with playing() as play:
        panes = list(play.app.screen.query(Rows))
        before = [pane.painted_cells for pane in panes]
        for _ in range(5):
            play.app.tick()
            await play.pilot.pause()
        assert [pane.painted_cells for pane in panes] == before


async def test_a_second_paints_only_the_clock_and_ages() -> None:
    async with playing() as play:
        panes = {pane.id: pane.painted_cells for pane in play.app.screen.query(Rows)}
        play.deck.clock.at += 1
        play.app.tick()
        painted = {pane.id: pane.painted_cells - panes[pane.id] for pane in play.app.screen.query(Rows)}
        assert painted["gpus"] == painted["events"] == 0
        assert sum(painted.values()) < 30


async def test_the_plot_is_drawn_at_most_every_two_seconds() -> None:
    async with playing() as play:
        await play.press("j", "enter")
        chart = play.app.screen.query_one(Chart)
        before = chart.builds
        for _ in range(8):
            play.deck.clock.at += 0.25
            play.app.tick()
        assert chart.builds - before <= 1


async def test_a_pump_that_fails_is_told_and_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdeck.ui.app.RESTART_SECONDS", 0.001)
    deck = FakeDeck()
    healthy = deck.store.changes
    starts = 0

    async def fails_first(*, at_most_every_seconds: float) -> AsyncIterator[FleetState]:
        nonlocal starts
        starts += 1
        if starts == 1:
            raise ValueError("[/x] is wrong")
        async for state in healthy(at_most_every_seconds=at_most_every_seconds):
            yield state

    monkeypatch.setattr(deck.store, "changes", fails_first)
    async with playing(deck) as play:
        await play.until(lambda: starts == 2)
        assert any("pump failed: ValueError: [/x] is wrong" in toast for toast in play.toasts)
        assert "kimi" in play.text("#servers")


async def test_a_worker_that_fails_does_not_end_the_dashboard() -> None:
    async with playing() as play:
        play.app.run_worker(broken(), name="broken", group="broken", exclusive=True, exit_on_error=False)
        await play.until(lambda: any("broken failed: ValueError: [/x] is wrong" in toast for toast in play.toasts))
        assert play.app.is_running
        assert play.deck.store.state.happenings[-1].text == "broken failed: ValueError: [/x] is wrong"


async def broken() -> None:
    """A worker that fails."""
    raise ValueError("[/x] is wrong")


async def test_a_new_run_starts_an_empty_log() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines(["of run 42"] * 5)
    async with playing(deck) as play:
        await play.press("enter")
        tail = play.app.screen.log_pane.tail  # type: ignore[attr-defined]
        assert "of run 42" in tail.plain
        deck.logs["kimi"] = lines(["of run 43"])
        await play.publish(
            fleets.with_server(fleets.fleet(), replace(fleets.kimi(), run=fleets.run("0043", 50_000, "eagle3-v1")))
        )
        assert tail.plain == "of run 43"
