"""The log tail: bars in place, following, wrapping, bounded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.ui.fake_deck import lines
from tests.waiting import until
from textual._wait import wait_for_idle
from textual.app import App, ComposeResult
from textual.screen import Screen

from specdeck.parsing.lines import Line
from specdeck.ui.drawing.log_look import looks_like
from specdeck.ui.widgets import log_tail
from specdeck.ui.widgets.log_tail import LogTail


class TailApp(App[None]):
    """Just a tail."""

    def compose(self) -> ComposeResult:
        """One widget."""
        yield LogTail()


def fails(*_: object, **__: object) -> None:
    raise AssertionError("the screen was laid out")


@asynccontextmanager
async def tail_of(size: tuple[int, int] = (40, 10)) -> AsyncIterator[LogTail]:
    """A tail in a small terminal."""
    app = TailApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app.query_one(LogTail)


async def test_a_bar_takes_the_place_of_its_older_state() -> None:
    async with tail_of() as tail:
        tail.add([Line("start", 1, 0), Line("10%|█ ", 2, 6, is_overwritten=True)])
        tail.add([Line("20%|██ ", 3, 12, is_overwritten=True), Line("", 4, 20, is_overwritten=True)])
        tail.add([Line("done", 5, 21)])
        assert tail.plain == "start\ndone"


async def test_scrolling_up_stops_following_and_counts_new_lines() -> None:
    async with tail_of() as tail:
        tail.add(lines([f"line {n}" for n in range(50)]))
        assert tail.scroll_offset.y == 40
        tail.scroll_to(y=10, animate=False, force=True, immediate=True)
        assert not tail.is_following
        tail.add(lines(["more", "and more"], start=51))
        assert (tail.news, tail.scroll_offset.y) == (2, 10)
        tail.action_follow()
        assert (tail.news, tail.scroll_offset.y) == (0, 42)


async def test_long_lines_wrap_on_demand() -> None:
    async with tail_of(size=(20, 10)) as tail:
        tail.add(lines(["x" * 45]))
        assert tail.virtual_size.height == 1
        tail.is_wrapped = True
        assert tail.virtual_size.height == 3
        assert tail.plain.replace("\n", "") == "x" * 45


async def test_a_wrapped_line_is_whole_beside_a_scroll_bar_that_comes_with_it_and_behind_a_mark() -> None:
    async with tail_of(size=(20, 10)) as tail:
        texts = ["".join(chr(97 + (start + n) % 26) for n in range(45)) for start in range(5)]
        tail.add(lines(texts))
        has_bar = [tail.show_vertical_scrollbar]
        tail.is_wrapped = True
        await until(lambda: tail.show_vertical_scrollbar, "the scroll bar comes")
        assert has_bar == [False]
        tail.search(texts[0])
        tail.scroll_to(y=0, animate=False, force=True, immediate=True)
        drawn = [tail.render_line(y).text.rstrip() for y in range(9)]
        assert "".join(drawn).replace("▶ ", "").replace(" ", "") == "".join(texts[:3])


async def test_a_line_that_was_searched_for_is_pointed_at_and_looks_like_what_it_is() -> None:
    async with tail_of() as tail:
        tail.add(lines(["all is well", "RuntimeError: it is not"]))
        tail.search("all")
        assert tail._drawn(0) == (("▶ ", "key"), ("all", "found"), (" is well", "strong"))
        tail.search("it is")
        assert tail._drawn(1) == (
            ("▶ ", "key"),
            ("RuntimeError: ", "error-strong"),
            ("it is", "found"),
            (" not", "error-strong"),
        )


async def test_polls_of_watchers_are_left_out_until_they_are_asked_for() -> None:
    texts = [
        '[2026-11-29 16:36:03] INFO:     127.0.0.1:59058 - "GET /v1/loads HTTP/1.1" 200 OK',
        '[2026-11-29 16:36:03] INFO:     127.0.0.1:59080 - "GET /metrics HTTP/1.1" 200 OK',
        '[2026-11-29 16:36:03] INFO:     127.0.0.1:59080 - "GET /health HTTP/1.1" 503 Service Unavailable',
        '[2026-11-29 16:36:04] INFO:     127.0.0.1:45924 - "POST /v1/completions HTTP/1.1" 200 OK',
    ]
    async with tail_of((100, 10)) as tail:
        tail.add(lines(texts))
        assert tail.plain == "\n".join(texts[2:])
        assert tail.last_number == 4
        tail.hides_polls = False
        assert tail.plain == "\n".join(texts)


async def test_it_keeps_a_bounded_number_of_lines() -> None:
    async with tail_of() as tail:
        tail.add(lines([f"line {n}" for n in range(log_tail.MAX_ROWS + 900)]))
        assert tail.virtual_size.height <= log_tail.MAX_ROWS + 900
        tail.add(lines(["one"], start=log_tail.MAX_ROWS + 901))
        tail.add(lines(["two"], start=log_tail.MAX_ROWS + 902))
        assert tail.virtual_size.height <= log_tail.MAX_ROWS
        assert tail.plain.endswith("one\ntwo")


async def test_a_log_that_grows_lays_nothing_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with tail_of() as tail:
        tail.add(lines([f"line {n}" for n in range(100)]))
        await tail.app.workers.wait_for_complete()
        await wait_for_idle()
        await until(lambda: not tail.screen._layout_required, "the scroll bar that came is laid out")
        monkeypatch.setattr(Screen, "_refresh_layout", fails)
        tail.add(lines([f"line {n}" for n in range(100, 400)], start=101))
        await wait_for_idle()
        assert (tail.scroll_offset.y, tail.vertical_scrollbar.window_virtual_size) == (390, 400)


async def test_matches_stay_right_while_lines_come_and_go() -> None:
    async with tail_of() as tail:
        tail.add(lines([f"line {n}" for n in range(100)], start=101))
        assert tail.search("line 7") == 11  # 7 and 70 to 79
        tail.step_match(-1)
        tail.prepend([Line("line 7 of old", 100, 0)])
        assert (len(tail.finds.matches), tail.finds.index) == (12, 10)
        tail.add([Line("10%| line 7", 201, 900, is_overwritten=True)])
        tail.add([Line("20%| line 7", 202, 910, is_overwritten=True)])
        assert len(tail.finds.matches) == 13
        tail.add([Line("done", 203, 920)])
        assert [tail.log_lines.rows[row].text for row in tail.finds.matches][-1] == "line 79"


async def test_a_jump_marks_the_line_and_says_when_it_is_gone() -> None:
    async with tail_of() as tail:
        tail.add(lines([f"line {n}" for n in range(100)], start=1_000))
        assert tail.go_to_line(1_050)
        assert tail.marked == 1_050
        assert not tail.go_to_line(12)
        assert not tail.go_to_line(5_000)


def test_levels_have_looks() -> None:
    assert looks_like("RuntimeError: CUDA out of memory") == "error"
    assert looks_like("[2026-01-05] WARNING: x") == "warning"
    assert looks_like("The server is fired up and ready to roll!") == "ready-strong"
    assert looks_like("Capturing batches:  70%|███ | 19/27") == "accent"
    assert looks_like("[TP0] Load weight begin") == ""


def row_on_screen(tail: LogTail, row: int) -> str:
    """What the terminal has in one row of the log."""
    return tail.render_line(row - tail.scroll_offset.y).text


async def test_a_match_right_of_the_edge_comes_into_sight_and_its_line_is_marked() -> None:
    async with tail_of(size=(40, 10)) as tail:
        tail.add(lines(["needle first", "-" * 90 + " needle last", *["short"] * 20]))
        assert tail.search("needle") == 2
        assert tail.marked == 2
        assert "- needle last" in row_on_screen(tail, 1)
        tail.step_match(-1)
        assert tail.scroll_offset.x == 0
        assert row_on_screen(tail, 0).startswith("▶ needle first")
        tail.step_match(-1)
        assert "- needle last" in row_on_screen(tail, 1)
        tail.action_follow()
        assert tail.scroll_offset.x == 0
        assert "▶" not in row_on_screen(tail, 1)
