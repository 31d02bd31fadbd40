"""A long text in brief is never longer than that, and says that there is more."""

import pytest

from specdeck.state.brief import LONGEST, in_brief


def test_a_short_text_stays() -> None:
    assert in_brief("x" * LONGEST) == "x" * LONGEST


@pytest.mark.parametrize(
    ("text", "brief"),
    [
        ("CUDA out of memory. " + "Tried to allocate " * 10, "CUDA out of memory. …"),
        ("word " * 40, "word " * 23 + "…"),
        ("x" * 200, "x" * 118 + " …"),
    ],
)
def test_a_long_text_ends_at_a_sentence_or_a_word_and_says_that_there_is_more(text: str, brief: str) -> None:
    assert in_brief(text) == brief
    assert len(brief) <= LONGEST
