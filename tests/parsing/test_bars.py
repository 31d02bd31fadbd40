"""Bars are known by the shape of their counter, not by their words."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.bars import find_bars, lone_writer
from specdeck.parsing.lines import LineSplitter

SHAPES = Path(__file__).parents[1] / "cases" / "B04_bar_shapes"
LINES = tuple(LineSplitter().feed((SHAPES / "shapes.log").read_bytes()))
EXPECTED = json.loads((SHAPES / "shapes.json").read_text())


@pytest.mark.parametrize(
    "shape", [shape for shape in EXPECTED if shape["kind"] == "count"], ids=lambda shape: shape["line"]
)
def test_each_shape_of_a_count_gives_exactly_its_numbers(shape: dict[str, int]) -> None:
    (bar,) = find_bars(LINES[shape["line"] - 1].text)
    assert (bar.done, bar.total, bar.kind) == (shape["n"], shape["total"], "count")


def test_a_download_counts_bytes_and_is_no_shard() -> None:
    (bar,) = find_bars(LINES[8].text)
    assert bar.kind == "bytes"
    assert int(bar.percent) == 12


@pytest.mark.parametrize("number", [11, 12])
def test_request_lines_and_ratios_are_no_bars(number: int) -> None:
    assert find_bars(LINES[number - 1].text) == ()


def test_label_stands_without_writer_stamp_and_colon() -> None:
    text = "[2026-01-05 10:00:00 TP0] (Worker_TP0 pid=7) Loading pt checkpoint shards:  50% Completed | 1/2 [00:01<00:01,  1.5s/it]"
    (bar,) = find_bars(text)
    assert (bar.label, bar.writer) == ("Loading pt checkpoint shards", "Worker_TP0")


def test_seconds_a_step_become_steps_a_second() -> None:
    (bar,) = find_bars("x:  50%|##   | 2/4 [00:08<00:08,  4.00s/it]")
    assert bar.rate == 0.25
    assert bar.eta_seconds == 8


def test_a_bar_that_just_began_knows_neither_rate_nor_end() -> None:
    (bar,) = find_bars("  0%|          | 0/58 [00:00<?, ?it/s][2026-11-29 15:02:03] Compiling a graph takes 0.53 s")
    assert (bar.rate, bar.eta_seconds, bar.label) == (None, None, "")


def test_hours_in_the_estimate() -> None:
    (bar,) = find_bars("x:  50%|##   | 2/4 [1:00:00<1:02:03,  4.00s/it]")
    assert bar.eta_seconds == 3723


def test_glued_bars_are_all_found_in_order() -> None:
    text = "a:  50% Completed | 5/10 [00:05<00:05,  1.01s/it]b:  30% Completed | 3/10 [00:05<00:12,  1.75s/it]"
    assert [(bar.label, bar.done) for bar in find_bars(text)] == [("a", 5), ("b", 3)]


@pytest.mark.parametrize(
    "text",
    ["Loading shards:  50% Completed | 1", "x:  50%|##   | 2/4 [00:08<00:08", "x: 50%|## | 2/0 [00:08<00:08, 1it/s]"],
)
def test_half_a_bar_and_a_bar_of_nothing_are_none(text: str) -> None:
    assert find_bars(text) == ()


def test_a_writer_alone_on_its_line_is_told_apart() -> None:
    assert lone_writer("(Worker_DP0_TP0 pid=4101) ") == "Worker_DP0_TP0"
    assert lone_writer("(Worker_DP0_TP0 pid=4101) words") is None


@given(st.text(alphabet="0123456789%|/[]<?,.: itsMGB(pid=)W", max_size=120))
def test_nothing_raises_and_every_bar_is_within_its_bounds(text: str) -> None:
    for bar in find_bars(text):
        assert 0 <= bar.percent <= 100
        assert bar.total >= 1
