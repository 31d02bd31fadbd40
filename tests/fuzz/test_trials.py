"""A short run of every trial; a long one is `python -m tests.fuzz` (CONTRIBUTING.md)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.trials import TRIALS


@pytest.mark.parametrize("name", TRIALS)
def test_nothing_that_bytes_can_say_breaks_what_must_hold(name: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.binary(max_size=200))
    def trial(raw: bytes) -> None:
        TRIALS[name](raw)

    trial()
