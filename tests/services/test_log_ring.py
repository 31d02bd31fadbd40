"""The kept lines: bounded, and a bar is one line."""

from pathlib import Path

from specdeck.parsing.lines import Line, LineSplitter
from specdeck.services.log_ring import LogRing

CASES = Path(__file__).parents[1] / "cases"


def line(number: int, text: str = "x", *, is_overwritten: bool = False) -> Line:
    return Line(text, number, number * 10, is_overwritten)


def test_only_lines_after_a_number_are_given_oldest_first() -> None:
    ring = LogRing()
    ring.add([line(1), line(2), line(3)])
    assert [each.number for each in ring.after(1)] == [2, 3]
    assert ring.after(3) == ()


def test_the_oldest_lines_go_first() -> None:
    ring = LogRing(2)
    ring.add([line(1), line(2), line(3)])
    assert [each.number for each in ring.after(0)] == [2, 3]


def test_what_was_let_go_unread_is_told() -> None:
    ring = LogRing(2)
    ring.add([line(1), line(2), line(3), line(4), line(5)])
    assert [each.text for each in ring.after(1)] == ["[specdeck: 2 lines came too fast to be kept here]", "x", "x"]
    assert [each.number for each in ring.after(1)] == [3, 4, 5]
    assert [each.number for each in ring.after(3)] == [4, 5]


def test_a_bar_that_is_drawn_again_replaces_its_line() -> None:
    ring = LogRing()
    ring.add([line(1, "begin"), line(2, "10%", is_overwritten=True), line(3, "20%", is_overwritten=True)])
    ring.add([line(4, "done")])
    assert [each.text for each in ring.after(0)] == ["begin", "done"]


def test_a_writer_that_stands_alone_is_no_row_and_named_before_its_bar() -> None:
    ring = LogRing()
    ring.add(LineSplitter().feed((CASES / "B02_interleaved_workers" / "split_prefix.log").read_bytes()))
    texts = [each.text for each in ring.after(0)]
    assert len(texts) == 4
    assert texts[2].startswith("(Worker_DP0_TP0 pid=4101) Loading safetensors checkpoint shards:  40% Completed | 4/10")


def test_a_new_run_begins_empty() -> None:
    ring = LogRing()
    ring.add([line(1)])
    ring.clear()
    assert ring.after(0) == ()
