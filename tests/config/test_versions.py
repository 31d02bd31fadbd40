"""Versions are ordered as Python's packages order them, and compared with what a profile requires."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.config.versions import key_of, problem_of, satisfies

IN_ORDER = [
    "0.5.4",
    "0.5.5.dev1",
    "0.5.5a1",
    "0.5.5b2",
    "0.5.5rc1.dev3",
    "0.5.5rc1",
    "0.5.5rc2",
    "0.5.5",
    "0.5.5.post1",
    "0.5.6.post2",
    "0.5.9",
    "0.5.10",
    "0.5.12",
    "0.5.13",
    "0.32.0",
    "1.0",
]


@pytest.mark.parametrize(("older", "newer"), list(pairwise(IN_ORDER)))
def test_order(older: str, newer: str) -> None:
    assert satisfies(newer, f">{older}")
    assert satisfies(older, f"<{newer}")
    assert satisfies(older, f"!={newer}")
    assert not satisfies(older, f">={newer}")


@pytest.mark.parametrize(
    ("one", "other"), [("0.32.0+cpu", "0.32.0"), ("0.5", "0.5.0"), ("v0.5.5", "0.5.5"), ("0.5.5-rc.1", "0.5.5rc1")]
)
def test_same_version_written_differently(one: str, other: str) -> None:
    assert satisfies(one, f"=={other}")


@pytest.mark.parametrize(
    ("version", "is_met"),
    [
        ("0.5.4", False),
        ("0.5.5", True),
        ("0.5.6.post2", True),
        ("0.5.12rc1", True),
        ("0.5.12", True),
        ("0.5.13", False),
        ("0.5.23", False),
    ],
)
def test_requirement_of_the_shipped_pair(version: str, is_met: bool) -> None:
    assert satisfies(version, ">=0.5.5, <0.5.13") is is_met


def test_nothing_required_is_met_by_everything() -> None:
    assert satisfies("whatever", "")


def test_version_that_cannot_be_read_meets_no_requirement() -> None:
    assert not satisfies("main-abc123", ">=0")
    assert not satisfies("main-abc123", "!=1")


@pytest.mark.parametrize("requires", ["", ">=0.5.5", ">=0.5.5,<0.5.13", " == 1.0 , != 1.0.post1 "])
def test_requirement_that_can_be_read(requires: str) -> None:
    assert problem_of(requires) is None


@pytest.mark.parametrize("requires", ["0.5", "~=0.5", ">=", ">=0.5,", ">=0.5 <1", "=>1"])
def test_requirement_that_cannot_be_read(requires: str) -> None:
    assert problem_of(requires)
    assert not satisfies("0.5", requires) or requires == ">=0.5,"


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_has_an_answer(version: str, requires: str) -> None:
    key_of(version)
    satisfies(version, requires)
    problem_of(requires)
