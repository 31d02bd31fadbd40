"""What is made quickly is what the standard library makes of the same class."""

import copy
import dataclasses
import sys
from dataclasses import FrozenInstanceError, asdict, field, fields
from typing import Any

import pytest

from specdeck.quick_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Gpu:
    """Frozen."""

    index: int
    name: str = "H200"
    marks: list[str] = field(default_factory=list)
    hidden: str = field(default="", repr=False, compare=False)


@dataclass(slots=True)
class Count:
    """May change."""

    of: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Has an order."""

    line: int
    column: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Is itself alone."""

    at: float


@dataclass(frozen=True, slots=True)
class Late:
    """Made often."""

    a: int
    b: list[int] = field(default_factory=list)
    c: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Has no fields."""


@dataclasses.dataclass(frozen=True)
class Theirs:
    """Made by the standard library, as a theme of textual's is."""

    of: int


def test_fields_are_given_by_place_or_by_name_and_have_their_defaults() -> None:
    assert asdict(Gpu(3)) == {"index": 3, "name": "H200", "marks": [], "hidden": ""}
    assert asdict(Gpu(1, marks=["a"], name="B200")) == {"index": 1, "name": "B200", "marks": ["a"], "hidden": ""}
    assert [each.name for each in fields(Gpu)] == ["index", "name", "marks", "hidden"]
    assert Gpu(1).marks is not Gpu(1).marks


@pytest.mark.parametrize("arguments", [{}, {"index": 1, "colour": 2}])
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, int]) -> None:
    for _ in range(30):  # before and after it is compiled
        with pytest.raises(TypeError, match=r"Gpu\.__init__\(\) .*'(index|colour)'"):
            Gpu(**arguments)  # type: ignore[arg-type]


def test_an_instance_is_the_same_before_and_after_it_is_compiled() -> None:
    made = [Late(1, c="c") for _ in range(30)]
    assert {repr(each) for each in made} == {"Late(a=1, b=[], c='c')"}
    assert len({id(each.b) for each in made}) == 30
    assert [Late(2, [3]).b for _ in range(3)] == [[3]] * 3
    for wrong in ((), (1, 2, "c", 4)):
        with pytest.raises(TypeError, match=r"Late\.__init__\(\)"):
            Late(*wrong)


@pytest.mark.parametrize("wrong", [((), {"a": 1, "d": 2}), ((1,), {"a": 1}), ((), {}), ((1, [], "c", 4), {})])
def test_the_first_instance_is_refused_as_any_other_is(wrong: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        """Never made before."""

        a: int
        b: list[int] = field(default_factory=list)
        c: str = ""

    with pytest.raises(TypeError, match=r"Fresh\.__init__\(\)"):
        Fresh(*wrong[0], **wrong[1])


def test_what_is_frozen_stays_and_is_replaced() -> None:
    gpu = Gpu(0)
    with pytest.raises(FrozenInstanceError):
        gpu.name = "B200"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del gpu.name
    for _ in range(2):  # before and after it is compiled
        assert replace(gpu, name="B200").name == "B200"
    assert gpu.name == "H200"


def test_a_replaced_one_has_all_else_of_the_old_one() -> None:
    gpu = Gpu(3, marks=["a"], hidden="b")
    assert replace(gpu) == gpu
    assert replace(gpu) is not gpu
    other = replace(gpu, name="B200", index=4)
    assert asdict(other) == asdict(dataclasses.replace(gpu, name="B200", index=4))
    assert (other.marks, other.hidden) == (["a"], "b")
    assert other.marks is gpu.marks
    assert replace(Nothing()) == Nothing()
    assert replace(Count(1), of=2) == Count(2)
    assert replace(Theirs(1), of=2) == Theirs(2)
    if sys.version_info >= (3, 13):
        assert copy.replace(gpu, index=5).index == 5


def test_only_fields_are_replaced() -> None:
    with pytest.raises(TypeError, match="Gpu has no field colour, size"):
        replace(Gpu(0), colour=1, size=2)  # type: ignore[call-arg]


def test_what_is_not_frozen_changes_and_has_no_hash() -> None:
    count = Count()
    count.of += 1
    assert count == Count(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)


def test_equal_are_those_of_one_class_with_equal_fields() -> None:
    assert Place(1, 2) == Place(1, 2) != Place(1, 3)
    assert hash(Place(1, 2)) == hash(Place(1, 2))
    assert Gpu(1, hidden="a") == Gpu(1, hidden="b")
    assert Nothing() == Nothing()
    others: list[object] = [Gpu(1), Nothing(), Count(), 1]
    assert Place(1) not in others
    assert Moment(1) != Moment(1)
    assert len({Moment(1), Moment(1)}) == 2


def test_order_is_that_of_the_fields() -> None:
    assert sorted([Place(2, 1), Place(1, 9), Place(1, 2)]) == [Place(1, 2), Place(1, 9), Place(2, 1)]
    assert Place(1, 1) < Place(1, 2) <= Place(1, 2)
    assert Place(3) > Place(2) >= Place(2)


def test_it_shows_its_fields_but_for_the_hidden_ones() -> None:
    assert repr(Gpu(1, hidden="word")) == "Gpu(index=1, name='H200', marks=[])"


def test_it_is_matched_by_place_and_has_no_other_attributes() -> None:
    match Place(4, 2):
        case Place(line, column):
            assert (line, column) == (4, 2)
    assert not hasattr(Place(1), "__dict__")
