"""The cutter takes a script's output out of any noise, in any chunking."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from specdeck.transport.marks import Leader, MarkCutter, new_mark

MARK = "specdeck-0123"


def cut(*chunks: bytes) -> tuple[bytes, MarkCutter]:
    cutter = MarkCutter(MARK)
    return b"".join(cutter.feed(chunk) for chunk in chunks), cutter


def test_output_between_the_marks_is_passed_on_with_the_status() -> None:
    output, cutter = cut(b"motd\n\x1especdeck-0123 77 4711\nrow 1\nrow 2\n\x1especdeck-0123 3\nbye\n")
    assert output == b"row 1\nrow 2\n"
    assert cutter.exit_status == 3
    assert cutter.has_ended
    assert cutter.leader == Leader(77, 4711)


def test_output_without_a_final_newline_gains_none() -> None:
    assert cut(b"\x1especdeck-0123 77 4711\nrow\x1especdeck-0123 0\n")[0] == b"row"


def test_noise_without_a_final_newline_is_dropped() -> None:
    assert cut(b"activating env ...\x1especdeck-0123 77 4711\n0, GPU\n\x1especdeck-0123 0\n")[0] == b"0, GPU\n"


def test_the_mark_alone_is_output() -> None:
    output, cutter = cut(b"\x1especdeck-0123 77 4711\nsaid specdeck-0123 5\n\x1especdeck-01234 5\n")
    assert output == b"said specdeck-0123 5\n\x1especdeck-01234 5\n"
    assert not cutter.has_ended


def test_a_complete_line_is_passed_on_at_once() -> None:
    assert cut(b"\x1especdeck-0123 77 4711\n", b"42 ok\n")[0] == b"42 ok\n"


@settings(deadline=None)
@given(
    noise=st.binary(max_size=60),
    output=st.binary(max_size=200),
    status=st.integers(0, 255),
    after=st.binary(max_size=20),
    cuts=st.lists(st.integers(0, 400), max_size=30),
)
def test_any_chunking_gives_the_same_output(
    noise: bytes, output: bytes, status: int, after: bytes, cuts: list[int]
) -> None:
    stream = noise + b"\x1especdeck-0123 77 4711\n" + output + b"\x1especdeck-0123 %d\n" % status + after
    edges = [0, *sorted(min(at, len(stream)) for at in cuts), len(stream)]
    found, cutter = cut(*(stream[a:b] for a, b in pairwise(edges)))
    assert found == output
    assert cutter.exit_status == status


@settings(deadline=None)
@given(output=st.text(alphabet="\n\x1especdk-0123 ", max_size=80))
def test_never_holds_back_more_than_a_mark(output: str) -> None:
    cutter = MarkCutter(MARK)
    cutter.feed(b"\x1especdeck-0123 77 4711\n")
    given_so_far = b""
    for byte in output.encode():
        given_so_far += cutter.feed(bytes([byte]))
        if cutter.has_ended or b"\x1especdeck-0123 " in output.encode():
            return
    assert len(given_so_far) >= len(output.encode()) - len(f"\x1e{MARK}")
    assert given_so_far + cutter.rest() == output.encode()


def test_endless_noise_is_bounded() -> None:
    cutter = MarkCutter(MARK)
    for _ in range(1000):
        cutter.feed(b"spam " * 1000)
    assert len(cutter.noise) <= 2000
    assert b"spam spam" in cutter.noise


def test_marks_differ_each_time() -> None:
    assert new_mark() != new_mark()
