"""Everything that is drawn, as plain ASCII of the same width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.ascii_only import ascii_only


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ready 96 tok/s", "ready 96 tok/s"),
        ("● ready ◐ starting ✖ crashed", "* ready ~ starting X crashed"),
        ("┌──┬──┐│ │└──┘", "+--+--+| |+--+"),
        ("╱╲", "//"),
        ("⠀⠁⡀⣿", " '.:"),
        ("Zoë", "Zoe"),
        ("モデル", "??????"),
        ("e\u0301\u200d", "e"),
    ],
)
def test_shapes_have_signs_of_their_own_and_letters_their_nearest(text: str, plain: str) -> None:
    assert ascii_only(text) == plain


@given(st.text())
def test_no_character_is_above_127(text: str) -> None:
    assert ascii_only(text).isascii()
