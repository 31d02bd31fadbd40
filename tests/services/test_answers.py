"""Tagged lines of the monitor into values, by eye from the lines."""

import pytest

from specdeck.services.answers import AnswerReader, Answers, Listening, RunFiles, loopback_of


def read(*lines: str) -> Answers:
    reader = AnswerReader()
    for line in lines:
        reader.read(line)
    return reader.answers


def test_a_run_is_collected_from_its_items_and_its_journal() -> None:
    answers = read(
        "@run 3 0007", "@item 3 profile eagle3-v2", "@item 3 pid 10 20", "@act 3 5\tstop\tasked\tann", "@actor 3 8 9"
    )
    assert answers.runs == {
        "3": RunFiles("0007", {"profile": "eagle3-v2", "pid": "10 20"}, ("5\tstop\tasked\tann",), "8 9")
    }


def test_two_sockets_on_one_port_are_both_kept() -> None:
    answers = read("@listen 7530 11 00000000", "@listen 7530 12 00000000000000000000000000000000")
    assert answers.listening == {30000: (Listening("11", "00000000"), Listening("12", "0" * 32))}


@pytest.mark.parametrize("line", ["@", "@pid x y", "@listen zz 1 0", "@nothing 1 2", "@item", "@run"])
def test_lines_that_make_no_sense_raise_nothing(line: str) -> None:
    read(line)


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("0100007F", "127.0.0.1"),
        ("00000000", "127.0.0.1"),
        ("0201A8C0", "192.168.1.2"),
        ("0" * 32, "[::1]"),
        ("00000000000000000000000001000000", "[0000:0000:0000:0000:0000:0000:0000:0001]"),
        ("0000000000000000FFFF00000100007F", "127.0.0.1"),
        ("not hexadecimal", "127.0.0.1"),
    ],
)
def test_a_listening_address_is_asked_where_it_listens_and_any_address_on_loopback(address: str, asked: str) -> None:
    assert loopback_of(address) == asked
