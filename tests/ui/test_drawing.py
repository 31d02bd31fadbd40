"""Words, meters, columns and rows: pure functions, tested by eye-read values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from tests.ui import fleets

from specdeck.state.log_story import LogStory
from specdeck.state.serving import Quantiles, Serving
from specdeck.state.snapshot import Act
from specdeck.state.timeline import Step
from specdeck.ui.drawing import words
from specdeck.ui.drawing.columns import Column, shared_out
from specdeck.ui.drawing.meters import bar, over_time, sparkline
from specdeck.ui.drawing.phases import ready_line, start_bar, waterfall
from specdeck.ui.drawing.server_table import server_row, window
from specdeck.ui.drawing.serving import serving_row
from specdeck.ui.drawing.spans import Row, clean, ends, fit_row, width_of, wrapped
from specdeck.ui.drawing.state_words import act_in_short, act_line
from specdeck.ui.view import View
from specdeck.ui.widgets.chart import chart_rows, thinned, unbroken
from specdeck.ui.widgets.rows import changed, paint


@pytest.mark.parametrize(
    ("seconds", "word"),
    [(None, "-"), (0.4, "0s"), (59, "59s"), (60, "1m"), (3_599, "59m"), (11_560, "3h12"), (200_000, "2d"), (-3, "0s")],
)
def test_age(seconds: float | None, word: str) -> None:
    assert words.age(seconds) == word


@pytest.mark.parametrize(
    ("seconds", "word"),
    [(None, "-"), (0.004, "4 ms"), (3.2, "3.2 s"), (9, "9 s"), (25, "25 s"), (505, "8m25s"), (3_720, "1h02m")],
)
def test_how_long_it_lasted(seconds: float | None, word: str) -> None:
    assert words.lasted(seconds) == word


@pytest.mark.parametrize(
    ("value", "word"), [(None, "-"), (0.0, "0.0"), (96.1, "96.1"), (773.4, "773"), (12_345.0, "12,345")]
)
def test_rates(value: float | None, word: str) -> None:
    assert words.rate(value) == word


@pytest.mark.parametrize(
    ("used", "total", "word"),
    [
        (None, None, "-"),
        (34_816, 98_304, "34/96G"),
        (0, 143_771, "0/140G"),
        (None, 98_304, "-/96G"),
        (700, 8_192, "0.7/8.0G"),
    ],
)
def test_memory(used: int | None, total: int | None, word: str) -> None:
    assert words.memory(used, total) == word


def test_what_requests_saw_is_one_row_and_what_is_not_told_is_not_there() -> None:
    told = Serving(60.0, Quantiles(0.31, 1.2), Quantiles(0.024, 0.031), Quantiles(1, 2), 0.25, 2.5, (0.9, 0.6))
    row = serving_row(told)
    assert row is not None
    assert "".join(text for text, _ in row).split("   ") == [
        " TTFT p50 310 ms p95 1.2 s",
        "TPOT p50 24 ms p95 31 ms",
        "prefix hits 25 %",
        "accepted by position 90 60 %",
        "(60 s)",
    ]
    small = serving_row(told, 80)
    assert small is not None
    assert "".join(text for text, _ in small) == " TTFT p50 310 ms p95 1.2 s   TPOT p50 24 ms p95 31 ms   (60 s)"
    assert serving_row(Serving(60.0)) is None
    assert serving_row(None) is None


def test_sparkline_starts_at_zero_and_fills_from_the_right() -> None:
    assert sparkline((0, 50, 100), 5, top=100.0) == "  ▁▅█"
    assert sparkline((), 3) == "   "


def test_sparkline_over_time_shows_gaps_as_gaps() -> None:
    points = ((902.0, 10.0), (904.0, 10.0), (996.0, 10.0), (999.0, 5.0))
    assert over_time(points, 1000.0, width=10, seconds=100.0) == "█        ▆"


def test_bar_has_always_the_same_width() -> None:
    for percent in range(0, 101, 7):
        assert width_of(bar(percent / 100, 20)) == 20
    assert "".join(text for text, _ in bar(0.5, 10)) == "█████░░░░░"


def test_the_least_important_columns_give_way_first() -> None:
    columns = (Column("a", "A", 10, most=20), Column("b", "B", 10, rank=1), Column("c", "C", 10, rank=2))
    assert shared_out(columns, 32) == {"a": 10, "b": 10, "c": 10}
    assert shared_out(columns, 31) == {"a": 20, "b": 10}
    assert shared_out(columns, 12) == {"a": 12}


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 100, 120, 160, 200, 300])
def test_a_server_row_is_never_wider_than_the_screen(width: int) -> None:
    view = View(fleets.fleet(), fleets.NOW, "kimi")
    for server in (*fleets.fleet().servers, fleets.acting(fleets.kimi())):
        assert width_of(fit_row(server_row(server, view, width), width)) == width
        if width >= 60:
            assert width_of(server_row(server, view, width)) <= width


def test_numbers_do_not_jump() -> None:
    view = View(fleets.fleet(), fleets.NOW)
    slow, fast = fleets.qwen(level=9.5), fleets.qwen(level=12_345.0)
    texts = ["".join(text for text, _ in server_row(server, view, 120)) for server in (slow, fast)]
    assert [text.index("31/4") for text in texts] == [texts[0].index("31/4")] * 2


def test_only_changed_cells_are_named() -> None:
    before, after = ((("clock ", ""), ("14:02:11", "dim"))), ((("clock ", ""), ("14:02:12", "dim")))
    assert changed(before, after, 40) == (13, 1)
    assert changed(before, before, 40) is None


def test_changes_far_apart_are_one_region() -> None:
    before = (("a" + " " * 20 + "b", ""),)
    after = (("x" + " " * 20 + "y", ""),)
    assert changed(before, after, 30) == (0, 22)


def test_a_wide_character_is_repainted_whole() -> None:
    assert changed((("東a", ""),), (("京a", ""),), 10) == (0, 2)


SPANS = st.tuples(
    st.sampled_from(["", "a", "ab", "b ", "東", "e\u0301x", "ex", "e\u0300x"]), st.sampled_from(["", "dim"])
)
ROWS = st.lists(SPANS, max_size=5).map(tuple)


@given(ROWS, ROWS, st.integers(1, 8))
def test_the_named_cells_are_those_that_differ(before: Row, after: Row, width: int) -> None:
    old, new = cells(before, width), cells(after, width)
    differing = [x for x, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    assert changed(before, after, width) == ((differing[0], differing[-1] + 1 - differing[0]) if differing else None)


def cells(row: Row, width: int) -> list[tuple[str, str]]:
    """What stands in each cell: a letter with its marks."""
    found: list[tuple[str, str]] = []
    for char, role in ((char, role) for text, role in fit_row(row, width) for char in text):
        if cell_len(char) or not found:
            found += [(char, role)] * cell_len(char)
        else:
            found[-1] = (found[-1][0] + char, found[-1][1])
    return found


def test_ends_keeps_the_right_side() -> None:
    row = ends((("a long start of the line", ""),), (("14:02", ""),), 12)
    assert "".join(text for text, _ in row) == "a long…14:02"


def test_wrapped_text_breaks_at_spaces_and_says_when_more_follows() -> None:
    assert wrapped("one two three four", 9) == ["one two", "three", "four"]
    assert wrapped("one two three four five", 9, most=2) == ["one two", "three fo…"]


def test_the_window_keeps_the_chosen_row_in_sight() -> None:
    names = [str(number) for number in range(50)]
    assert window(names, "30", 10) == slice(21, 31)
    assert window(names, "49", 10) == slice(40, 50)


def test_the_window_moves_no_further_than_it_must() -> None:
    names = [str(number) for number in range(50)]
    assert window(names, "24", 10, 20) == slice(20, 30)
    assert window(names, "30", 10, 20) == slice(21, 31)
    assert window(names, "19", 10, 20) == slice(19, 29)
    assert window(names[:12], "3", 10, 20) == slice(2, 12)
    assert window(names[:8], "3", 10, 20) == slice(0, 8)


def test_an_act_tells_its_step_and_the_countdown() -> None:
    act = Act("pivot", "memory-back", "3 GPUs", 100.0, 160.0, "eagle3-v2", "ana")
    assert act_line(act, 112.0) == "pivot to eagle3-v2 by ana: memory back, 3 GPUs, SIGKILL in 48 s, for 12 s"
    assert act_in_short(act, 112.0) == "pivot: memory back, SIGKILL in 48 s → eagle3-v2"


@pytest.mark.parametrize(
    ("step", "detail", "sentence"),
    [
        ("asked", "ana eagle3-v2", "begins"),
        ("identified", "pid=41240 held=909128 41240 python3 (S)", "its processes are known"),
        ("term", "kill_at=1795971941", "SIGTERM"),
        ("term", "kill_at=1795971941 asked again: it came up after the first SIGTERM", "asked again: it came up"),
        ("waiting", "left=13", "waiting for 13 processes to end"),
        ("waiting", "left=1", "waiting for 1 process to end"),
        (
            "orphans",
            "kill_at=1795971941 41250 python3 (S, 101014 MiB)",
            "ending what was left, 41250 python3 (S, 99 GiB)",
        ),
        ("port-free", "30412", "port 30412 is free"),
        ("launched", "run=0002 pid=19055", "launched as run 0002, pid 19055"),
        ("locked", "1795971941-4711 until=1795972001", "waiting until every node has begun"),
    ],
)
def test_a_step_is_told_in_words_not_as_the_journal_writes_it(step: str, detail: str, sentence: str) -> None:
    line = act_line(Act("pivot", step, detail, 100.0, None, "eagle3-v2", "ana"), 112.0)
    assert sentence in line
    assert "=" not in line


def test_a_plot_starts_at_zero_and_fills_its_box() -> None:
    rows = chart_rows([(1000.0 - ago, 700.0) for ago in range(60, 0, -2)], 1000.0, 70, 9, seconds=60.0)
    texts = ["".join(text for text, _ in row) for row in rows]
    assert len(texts) == 9
    assert {len(text) for text in texts} == {70}
    assert texts[0].lstrip().startswith("800")
    assert texts[-2].strip().startswith("0")
    assert "now" in texts[-1]


def test_a_gap_is_not_joined() -> None:
    assert list(unbroken([(0, 1), (2, 1), (40, 1)])) == [[(0, 1), (2, 1)], [(40, 1)]]


def test_a_plot_takes_means_of_neighbours() -> None:
    assert thinned([(0, 1), (1, 3), (2, 5), (3, 7)], 2) == [(0.5, 2), (2.5, 6)]


def test_cleaning_keeps_plain_text_as_it_is() -> None:
    assert clean("plain text") == "plain text"


def test_blanks_between_two_looks_cost_no_segment_of_their_own() -> None:
    looks = {"dim": Style(dim=True), "strong": Style(bold=True)}
    strip = paint((("a", "dim"), (" ", ""), ("b", "strong"), ("  ", ""), ("c", "strong")), 10, Style(), looks)
    assert strip.text == "a b  c    "
    assert [segment.text for segment in strip] == ["a ", "b  c    "]


def test_a_phase_without_a_length_is_not_among_the_longest() -> None:
    steps = (Step("arguments", "past", 0.0), Step("weights", "past", 10.0), Step("warm_up", "past", 1.0))
    assert ready_line(LogStory(), steps) == "ready after 11 s (weights 10 s, warm-up 1 s)"


def test_the_record_of_a_start_stands_beside_the_usual_one() -> None:
    steps = (Step("weights", "past", 25.0, 24.0), Step("graphs", "past", 302.0, 290.0))
    assert ready_line(LogStory(speculation="v2"), steps) == (
        "ready after 5m27s, usually 5m14s (graphs 5m02s, weights 25 s), speculation v2"
    )
    assert (
        ready_line(LogStory(speculation="v2"), steps, 60)
        == "ready after 5m27s, usually 5m14s (graphs 5m02s), speculation v2"
    )
    assert ready_line(LogStory(), ()) == ""


def test_the_bar_of_a_start_marks_where_longer_phases_begin() -> None:
    steps = (Step("weights", "past", 10.0, 12.0), Step("graphs", "now", 10.0, 50.0), Step("http", "next", None, 1.0),
             Step("warm_up", "next", None, 39.0))  # fmt: skip
    drawn = "".join(text for text, _ in start_bar(steps, 0.2, 20))
    assert drawn == "████░░░░░░░░┊░░░░░░░"  # 10 + 50 + 1 of 100 s: warm-up begins at 61 %, in the 13th cell


def test_the_waterfall_shows_each_phase_where_it_was() -> None:
    steps = (Step("weights", "past", 25.0), Step("graphs", "now", 25.0, 50.0), Step("warm_up", "next", None, 25.0))
    rows = ["".join(text for text, _ in row) for row in waterfall(steps, 83)]
    assert {len(row) for row in rows} == {83}
    assert rows[0] == " ✓ weights          25 s                   " + "█" * 10 + " " * 30
    assert rows[1] == " ▶ graphs           25 s  usually 50 s     " + " " * 10 + "█" * 20 + " " * 10
    assert rows[2] == " · warm-up                usually 25 s     " + " " * 30 + "░" * 10


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SIGKILL in 48 s, for 12 s", ["SIGKILL in", "48 s, for", "12 s"]),
        ("holds 94 GiB here", ["holds", "94 GiB", "here"]),
        ("pid 41236 stays", ["pid 41236", "stays"]),
    ],
)
def test_a_number_stays_with_its_unit(text: str, lines: list[str]) -> None:
    width = 12 if text.startswith("SIG") else 9
    assert wrapped(text, width) == lines
