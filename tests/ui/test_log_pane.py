"""What can be done with the log in the server view: filter, errors, times, marks, copies, files, older lines."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing
from tests.ui.test_hostile_text import NASTY

from specdeck.parsing.lines import Line, visible_text
from specdeck.services.log_older import OlderLines
from specdeck.ui.panes.log import LogPane
from specdeck.ui.widgets import log_tail
from specdeck.ui.widgets.log_tail import LogTail

TRACEBACK = [
    "[2026-11-29 14:00:01] ERROR: first trouble",
    "[2026-11-29 14:00:02] all well again",
    "[2026-11-29 14:00:03] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "scheduler.py", line 1, in run',
    "RuntimeError: second trouble",
    "[2026-11-29 14:00:04] INFO: the end",
]


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def pane(play: Play) -> LogPane:
    return play.app.screen.query_one(LogPane)


def tail(play: Play) -> LogTail:
    return pane(play).tail


def says(play: Play) -> str:
    """What the border of the log says."""
    return f"{pane(play).border_title} {pane(play).border_subtitle}"


async def later(play: Play) -> None:
    """The next state, three seconds on."""
    play.deck.clock.at += 3
    await play.publish(replace(play.deck.store.state, at=play.deck.clock.at))


def kimi(texts: list[str]) -> FakeDeck:
    deck = FakeDeck()
    deck.logs["kimi"] = lines(texts)
    return deck


def stamped(count: int, *, begin: int = 0) -> list[str]:
    """A line a minute from 13:00 on."""
    return [f"[2026-11-29 {13 + m // 60}:{m % 60:02}:00] minute {m}" for m in range(begin, begin + count)]


async def test_each_question_has_its_own_sign() -> None:
    async with playing(kimi(["alpha"])) as play:
        for key, asked in (("slash", " /search the log"), ("ampersand", " &only lines"), ("T", " T 14:32")):
            await play.press("enter" if key == "slash" else "shift", key)
            rows = [strip.text for strip in play.app.screen._compositor.render_strips()]
            assert any(asked in row for row in rows), key
            await play.press("escape")


async def test_a_filter_shows_only_its_lines_and_says_how_many() -> None:
    async with playing(kimi(["alpha", "Beta one", "gamma", "beta two"])) as play:
        await play.press("enter", "ampersand", *"beta", "enter")
        assert tail(play).plain == "Beta one\nbeta two"
        assert "&beta: 2 of 4 lines" in says(play)
        await play.press("escape")
        assert tail(play).plain == "alpha\nBeta one\ngamma\nbeta two"


async def test_a_filter_with_an_exclamation_mark_leaves_its_lines_out() -> None:
    async with playing(kimi(["alpha", "Beta one", "gamma"])) as play:
        await play.press("enter", "ampersand", "exclamation_mark", *"beta", "enter")
        assert tail(play).plain == "alpha\ngamma"


async def test_lines_that_come_later_are_filtered_too() -> None:
    deck = kimi(["alpha"])
    async with playing(deck) as play:
        await play.press("enter", "ampersand", *"beta", "enter")
        deck.logs["kimi"] += lines(["gamma", "beta"], start=2)
        await later(play)
        assert tail(play).plain == "beta"


async def test_the_search_counts_and_steps() -> None:
    async with playing(kimi(["alpha", "Beta one", "gamma", "beta two"])) as play:
        await play.press("enter", "slash", *"beta", "enter")
        assert "/beta 2 of 2" in says(play)
        await play.press("n")
        assert "/beta 1 of 2" in says(play)
        await play.press("escape", "slash", *"[/b]", "enter")
        assert "not found" in says(play)


async def test_e_goes_from_error_to_error_and_begins_again() -> None:
    async with playing(kimi(TRACEBACK)) as play:
        await play.press("enter", "e")
        assert (tail(play).marked, "error 1 of 2" in says(play)) == (1, True)
        await play.press("e")
        assert (tail(play).marked, "error 2 of 2" in says(play)) == (3, True)
        await play.press("e")
        assert tail(play).marked == 1


async def test_without_an_error_e_says_so() -> None:
    async with playing(kimi(["all well"])) as play:
        await play.press("enter", "e")
        assert "no error in the 1 line kept here" in play.toasts


async def test_without_an_error_among_the_filtered_lines_e_says_that_a_filter_is_on() -> None:
    async with playing(kimi(TRACEBACK)) as play:
        await play.press("enter", "ampersand", *"well", "enter", "e")
        assert "no error in the 1 line that the filter shows" in play.toasts


@pytest.mark.parametrize(("typed", "number"), [("14:30", 91), ("-10m", 110), ("-1h30m", 30), ("11-29 13:05:30", 7)])
async def test_a_time_is_found(typed: str, number: int) -> None:
    async with playing(kimi(stamped(120))) as play:
        await play.press("enter", "T")
        pane(play).line.query_one("Input").value = typed  # type: ignore[attr-defined]
        await play.press("enter")
        await play.until(lambda: tail(play).marked is not None)
        assert tail(play).marked == number
        assert not tail(play).is_following


async def test_what_is_no_time_is_said() -> None:
    async with playing(kimi(stamped(3))) as play:
        await play.press("enter", "T", *"noon", "enter")
        assert "not a time: noon; as in 14:32, 11-29 14:32:05 or -10m" in play.toasts


async def test_a_mark_stands_where_the_log_was() -> None:
    deck = kimi(["before"])
    async with playing(deck) as play:
        await play.press("enter", "m")
        deck.logs["kimi"] += lines(["after"], start=2)
        await later(play)
        first, mark, last = tail(play).plain.split("\n")
        assert (first, last) == ("before", "after")
        assert mark.startswith("──── mark ")


async def test_y_copies_the_line_that_was_jumped_to() -> None:
    async with playing(kimi(TRACEBACK)) as play:
        await play.press("enter", "e", "y")
        assert play.app.clipboard == "[2026-11-29 14:00:01] ERROR: first trouble"


async def test_y_copies_the_lines_in_sight_without_what_a_terminal_obeys() -> None:
    deck = kimi(["one\x1b]0;title\a", "two"])
    async with playing(deck) as play:
        await play.press("enter", "y")
        assert play.app.clipboard == "one·]0;title·\ntwo"


async def test_the_shown_lines_are_saved_where_it_says(state_home: Path) -> None:
    async with playing(kimi(["alpha", "beta", "gamma"])) as play:
        await play.press("enter", "ampersand", *"a", "enter", "s", "enter")
        (saved,) = (state_home / "specdeck" / "logs").iterdir()
        assert saved.read_text() == "alpha\nbeta\ngamma\n"
        assert saved.name.startswith("kimi-0042-")
        assert saved.stat().st_mode & 0o777 == 0o600
        assert f"saved 3 lines to {saved}" in play.toasts


async def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("mine")
    async with playing(kimi(["alpha"])) as play:
        await play.press("enter", "s")
        pane(play).line.query_one("Input").value = str(known)  # type: ignore[attr-defined]
        await play.press("enter")
        assert known.read_text() == "mine"
        assert any("was not written: File exists" in toast for toast in play.toasts)


async def test_scrolling_up_beyond_the_kept_lines_fetches_older_ones_and_stays_where_it_was() -> None:
    texts = stamped(100)
    numbered = [Line(text, number, number * 10) for number, text in enumerate(texts)]
    deck = FakeDeck()
    deck.logs["kimi"], deck.older["kimi"] = numbered[40:], numbered[:40]
    async with playing(deck) as play:
        await play.press("enter")
        await play.press("g")
        await play.until(lambda: len(tail(play).log_lines.lines) == 62)
        assert tail(play).log_lines.rows[tail(play).scroll_offset.y].text == texts[40]
        for _ in range(30):
            await play.press("g")
        await play.until(lambda: "the log begins here" in says(play))
        assert tail(play).plain == "\n".join(texts)


async def test_a_time_before_the_kept_lines_is_fetched() -> None:
    numbered = [Line(text, number, number * 10) for number, text in enumerate(stamped(100))]
    deck = FakeDeck()
    deck.logs["kimi"], deck.older["kimi"] = numbered[60:], numbered[:60]
    async with playing(deck) as play:
        await play.press("enter", "T", "1", "3", "colon", "3", "0", "enter")
        await play.until(lambda: tail(play).marked == 30)


async def test_lines_that_rush_by_do_not_push_out_what_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "MAX_ROWS", 50)
    monkeypatch.setattr(log_tail, "SPARE_ROWS", 5)
    numbered = [Line(text, number, number * 10) for number, text in enumerate(stamped(100))]
    deck = FakeDeck()
    deck.logs["kimi"], deck.older["kimi"] = numbered[60:], numbered[:60]
    async with playing(deck) as play:
        await play.press("enter")
        fetch, new = deck.older_lines, iter(range(100, 10_000))

        async def busy(server: str, before: Line) -> OlderLines:
            tail(play).add([Line("rushes by", next(new), 10_000) for _ in range(10)])
            return await fetch(server, before)

        monkeypatch.setattr(deck, "older_lines", busy)
        await play.press("T", "1", "3", "colon", "3", "0", "enter")
        await play.until(lambda: tail(play).marked == 30)
        assert tail(play).log_lines.last_number > 200


async def test_a_time_is_gone_to_although_older_lines_are_just_being_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    numbered = [Line(text, number, number * 10) for number, text in enumerate(stamped(100))]
    deck = FakeDeck()
    deck.logs["kimi"], deck.older["kimi"] = numbered[40:], numbered[:40]
    async with playing(deck) as play:
        await play.press("enter")
        asked, fetch = asyncio.Event(), deck.older_lines

        async def hangs(server: str, before: Line) -> OlderLines:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

        monkeypatch.setattr(deck, "older_lines", hangs)
        await play.press("g")
        await play.until(asked.is_set)
        assert "fetching older lines" in says(play)
        monkeypatch.setattr(deck, "older_lines", fetch)
        await play.press("T", "1", "3", "colon", "3", "0", "enter")
        await play.until(lambda: tail(play).marked == 30)


async def test_a_time_that_is_still_to_come_is_said_and_the_log_goes_on() -> None:
    async with playing(kimi(stamped(120))) as play:
        await play.press("enter", "T", *"11", "minus", *"30", "space", "1", "3", "colon", "0", "0", "enter")
        await play.until(lambda: bool(play.toasts))
        assert play.toasts == ["nothing at 30 Nov 13:00:00 or later: the newest line is of 29 Nov 14:59:00"]
        assert tail(play).is_following


async def test_d_fetches_the_line_of_the_cause_where_it_is_not_far() -> None:
    numbered = [Line(f"line {number}", number, number * 10) for number in range(20, 120)]
    deck = FakeDeck()
    deck.logs["glm"], deck.older["glm"] = numbered[40:], numbered[:40]
    async with playing(deck) as play:
        await play.press("j", "j", "j", "enter", "d")
        await play.until(lambda: tail(play).marked == 34)
        assert deck.diagnosed == []


async def test_a_bar_is_one_line_that_says_how_much_it_stands_for() -> None:
    deck = kimi(["begin"])
    deck.logs["kimi"].append(Line("Loading shards: 100% Completed | 8/8", 24, 300))
    async with playing(deck) as play:
        await play.press("enter")
        drawn = tail(play).render_line(1).text.rstrip()
        assert drawn == "Loading shards: 100% Completed | 8/8  (bar, 22 updates folded)"


async def test_what_the_mouse_selects_is_copied() -> None:
    async with playing(kimi(["first line", "second line", "third line"])) as play:
        await play.press("enter")
        await play.pilot.mouse_down(LogTail, offset=(6, 0))
        await play.pilot.hover(LogTail, offset=(6, 1))
        await play.pilot.mouse_up(LogTail, offset=(6, 1))
        await play.press("y")
        assert play.app.clipboard in ("line\nsecond", "line\nsecond ")


async def test_a_burst_between_two_looks_is_shown_in_one_piece_or_told() -> None:
    deck = kimi(["one", "two"])
    async with playing(deck) as play:
        await play.press("enter")
        gap = Line("[specdeck: 7 lines came too fast to be kept here]", 9, -1)
        deck.logs["kimi"] += [gap, Line("ten", 10, 100)]
        await later(play)
        assert tail(play).plain == "ten"  # what is before it comes from the host on scrolling up
        tail(play).go_to_line(10)
        deck.logs["kimi"] += [gap._replace(number=19), Line("twenty", 20, 200)]
        await later(play)
        assert tail(play).plain == f"ten\n{gap.text}\ntwenty"  # who reads keeps what he reads


async def test_in_the_compact_form_the_counter_is_in_the_title() -> None:
    async with playing(kimi(["alpha", "beta"]), size=(80, 24)) as play:
        await play.press("enter", "slash", *"beta", "enter")
        assert "/beta 1 of 1" in str(pane(play).border_title)


async def test_a_log_that_is_behind_its_server_says_how_far() -> None:
    async with playing(kimi(["alpha"])) as play:
        await play.press("enter")
        state = play.deck.store.state
        first, *others = state.servers
        assert first.name == "kimi"
        behind = replace(first, evidence=replace(first.evidence, log_behind_bytes=12_300_000))
        await play.publish(replace(state, servers=(behind, *others)))
        assert str(pane(play).border_subtitle) == "12 MB behind  following"


async def test_lines_that_look_like_markup_or_orders_are_searched_filtered_copied_and_saved_as_text(
    state_home: Path,
) -> None:
    async with playing(kimi([visible_text(text.encode()) for text in NASTY])) as play:
        await play.press("enter", "slash", *"[/bold]", "enter")
        assert len(tail(play).finds.matches) == 1
        await play.press("ampersand", *"[@click=app.quit]", "enter")
        assert tail(play).plain == "[@click=app.quit]press me[/]"
        await play.pilot.click(LogTail, offset=(20, 0))
        await play.press("y", "escape", "escape")
        assert "@click" in play.app.clipboard
        await play.press("s", "enter")
        (saved,) = (state_home / "specdeck" / "logs").iterdir()
        lines_saved = saved.read_text().split("\n")[:-1]
        assert len(lines_saved) == len(NASTY)
        assert all(line.isprintable() for line in lines_saved)
        assert "[Not Supported] [Insufficient Permissions] [N/A]" in lines_saved
        assert play.app.is_running
