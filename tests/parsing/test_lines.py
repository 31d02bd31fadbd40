"""Bytes into lines: whatever pieces they come in, the lines are the same."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specdeck.parsing.lines import LINE_LIMIT_BYTES, Line, LineSplitter

TROUBLE = st.sampled_from(
    [
        b"\n",
        b"\r",
        b"\r\n",
        b"\x1b[32m",
        b"\x1b[A",
        b"\x1b]0;title\x07",
        b"\xe2\x96\x88",
        b"\xff",
        b"\x00",
        b"a",
        b"50%|",
        b" ",
    ]
)
PIECES = st.lists(st.one_of(TROUBLE, st.binary(max_size=6)), max_size=30)


def lines_of(*chunks: bytes) -> tuple[Line, ...]:
    """All lines of a stream that came in these pieces."""
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return (*lines, *splitter.end())


def texts_of(*chunks: bytes) -> list[str]:
    return [line.text for line in lines_of(*chunks)]


def test_newline_carriage_return_and_both_end_a_line() -> None:
    assert texts_of(b"one\ntwo\rthree\r\nfour") == ["one", "two", "three", "four"]


def test_every_end_counts_for_the_line_number() -> None:
    assert [line.number for line in lines_of(b"a\n\nb\r\rc\r\nd")] == [1, 2, 3, 4, 5, 6]


def test_only_a_carriage_return_makes_a_line_overwritten() -> None:
    assert [line.is_overwritten for line in lines_of(b"a\rb\r\nc\nd")] == [True, False, False, False]


def test_carriage_return_at_the_end_of_a_piece_may_be_half_of_both() -> None:
    assert lines_of(b"a\r", b"\nb\n") == lines_of(b"a\r\nb\n")
    assert lines_of(b"a\r", b"b\n") == lines_of(b"a\rb\n")


def test_offsets_are_those_of_the_bytes() -> None:
    stream = "█\nxy\r\nz".encode()
    assert [(line.text, line.offset) for line in lines_of(stream)] == [("█", 0), ("xy", 4), ("z", 8)]


def test_a_character_split_between_pieces_is_whole() -> None:
    assert texts_of(b"\xe2", b"\x96", b"\x88\n") == ["█"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert texts_of(b"a\xffb\n") == ["a\ufffdb"]


@pytest.mark.parametrize(
    "raw",
    [
        b"\x1b[1;36mred\x1b[0m",
        b"\x1b[Ared\x1b[K",
        b"\x1b]0;own the title\x07red",
        b"r\x00e\x08d",
        b"\x9b31mred".replace(b"\x9b", b"\xc2\x9b"),
    ],
)
def test_escape_sequences_and_control_characters_are_dropped(raw: bytes) -> None:
    assert texts_of(raw + b"\n") == ["red"]


def test_characters_that_reorder_text_are_dropped() -> None:
    assert texts_of("a\u202eb\u200bc\n".encode()) == ["abc"]


def test_a_tab_becomes_a_space() -> None:
    assert texts_of(b"a\tb\n") == ["a b"]


def test_the_open_line_can_be_looked_at_before_it_ends() -> None:
    splitter = LineSplitter()
    splitter.feed(b"done\nhalf")
    assert splitter.open_line == Line("half", 2, 5)
    splitter.feed(b" a line\n")
    assert splitter.open_line is None


def test_a_line_that_never_ends_is_cut_and_takes_bounded_memory() -> None:
    splitter = LineSplitter()
    for _ in range(300):
        assert not splitter.feed(b"x" * 1000)
    (line,) = splitter.feed(b"\n")
    assert line.is_cut
    assert len(line.text) == LINE_LIMIT_BYTES
    assert tuple(splitter.feed(b"next\n")) == (Line("next", 2, 300_001),)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\rx\n"])
def test_a_long_line_is_cut_the_same_in_one_piece_and_in_many(end: bytes) -> None:
    stream = b"x" * (LINE_LIMIT_BYTES + 5) + end + b"after\n"
    assert lines_of(*(stream[i : i + 7] for i in range(0, len(stream), 7))) == lines_of(stream)


@given(PIECES)
@example([b"a\r", b"\r\n"])
@example([b"\x1b", b"[3", b"1ma\n"])
def test_pieces_and_the_whole_give_the_same_lines(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert lines_of(*pieces) == lines_of(whole)
    assert lines_of(*(whole[i : i + 1] for i in range(len(whole)))) == lines_of(whole)


@given(PIECES)
def test_no_line_holds_anything_that_a_terminal_obeys(pieces: list[bytes]) -> None:
    for line in lines_of(*pieces):
        assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in line.text)


def test_what_comes_after_a_jump_has_the_number_and_place_that_are_told() -> None:
    splitter = LineSplitter()
    splitter.feed(b"first\nhalf of a line")
    splitter.jump(5_000, 900_000)
    assert tuple(splitter.feed(b"far\n")) == (Line("far", 5_000, 900_000),)
