"""What each captured log says, against what a person read in it."""

import json

import pytest
from tests.engines.reading import CAPTURES, stories, story_of

EXPECTED = {name: told for name, told in json.loads((CAPTURES / "expected.json").read_text()).items() if name != "_"}


@pytest.fixture(params=list(EXPECTED))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_engine_state_and_cause_are_those_that_a_person_reads(name: str) -> None:
    told = EXPECTED[name]
    story = story_of(CAPTURES / name)
    assert story.engine == told["engine"]
    assert told.get("state") in (None, story.word)
    if "cause" in told:
        assert (told["cause"] is None) == (story.cause is None)
        assert (told["cause"] or "") in (story.cause.message if story.cause else "")


def test_warning_speculation_and_shards_are_those_that_a_person_reads(name: str) -> None:
    told = EXPECTED[name]
    story = story_of(CAPTURES / name)
    assert told.get("warning", "") in " / ".join(story.warnings)
    assert told.get("speculation", story.speculation) == story.speculation
    assert told.get("loading_total", story.loading_total) == story.loading_total


@pytest.mark.parametrize("name", [name for name, told in EXPECTED.items() if "never" in told])
def test_a_server_whose_port_was_taken_is_never_ready(name: str) -> None:
    words = {story.word for _, story in stories((CAPTURES / name).read_bytes(), 199)}
    assert EXPECTED[name]["never"] not in words


def test_the_cause_names_its_line() -> None:
    path = CAPTURES / "sglang_h200/fail_mem_fraction/server.log"
    cause = story_of(path).cause
    assert cause is not None
    assert cause.line is not None
    lines = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode().split("\n")
    assert lines[cause.line - 1].startswith("RuntimeError: Not enough memory.")
