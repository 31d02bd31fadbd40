"""What is found later is what `re` itself finds."""

import re

import pytest

from specdeck.late_pattern import late_pattern


def test_a_late_pattern_finds_what_its_pattern_finds() -> None:
    late, own = late_pattern(r"tp(\d+)", re.IGNORECASE), re.compile(r"tp(\d+)", re.IGNORECASE)
    for _ in range(2):  # the second time by the methods that it kept
        assert late.findall("TP0 tp12") == own.findall("TP0 tp12") == ["0", "12"]
        assert late.sub("x", "TP0!") == "x!"
        assert late.fullmatch("TP0!") is None
    assert (late.pattern, late.flags & re.IGNORECASE) == (own.pattern, re.IGNORECASE)


def test_nothing_is_compiled_before() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error, match="missing"):
        late.search("")
