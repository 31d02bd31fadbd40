"""Lines of container runtimes, as their documentation shows them: the program's own text comes out, at the file's own place."""

import json

import pytest

from specdeck.engines.reader import LogReader
from specdeck.parsing.container_log import UnwrappingSplitter, unwrapped

OWN = (
    "[2026-11-29 15:00:00 TP0] Load weight begin. avail mem=139.29 GB",
    "[2026-11-29 15:00:01] The server is fired up and ready to roll!",
)


def docker(text: str) -> str:
    return json.dumps(
        {"log": f"{text}\n", "stream": "stderr", "time": "2026-11-29T15:00:00.123456789Z"}, separators=(",", ":")
    )


def cri(text: str) -> str:
    return f"2026-11-29T15:00:00.123456789+00:00 stderr F {text}"


@pytest.mark.parametrize("wrap", [docker, cri])
def test_the_story_of_a_wrapped_log_is_that_of_the_program(wrap: object) -> None:
    assert callable(wrap)
    reader = LogReader()
    content = "".join(f"{wrap(line)}\n" for line in OWN).encode()
    lines = [line for place in range(0, len(content), 7) for line in reader.feed(content[place : place + 7], 0.0)]
    assert [line.text for line in lines] == list(OWN)
    assert [line.number for line in lines] == [1, 2]
    assert lines[1].offset == len(wrap(OWN[0])) + 1
    assert (reader.story.engine, reader.story.word) == ("sglang", "ready")


def test_a_log_that_only_holds_json_is_left_as_it_is() -> None:
    splitter = UnwrappingSplitter()
    text = f"plain words\n{docker('not wrapped: the first line tells')}\n"
    assert [line.text for line in splitter.feed(text.encode())] == text.splitlines()


def test_control_characters_do_not_come_back_out_of_their_escapes() -> None:
    assert unwrapped('{"log":"\\u001b[31mred\\u001b[0m\\u0007 sk\\n","stream":"stdout"}') == "red sk"


def test_secrets_do_not_come_back_out_of_their_escapes() -> None:
    assert unwrapped('{"log":"--api\\u002dkey sk-12345678\\n"}') == "--api-key ***"


def test_of_a_bar_that_was_drawn_over_the_last_drawing_counts() -> None:
    assert unwrapped('{"log":"10%|#\\r20%|##\\r30%|###\\n"}') == "30%|###"


@pytest.mark.parametrize(
    "text", ["", "{", '{"log":', '{"log":7}', '{"log":"x"', "2026-11-29T15:00:00Z stdout X no tag", "a b c"]
)
def test_anything_else_is_no_line_of_a_runtime(text: str) -> None:
    assert unwrapped(text) is None


def test_an_empty_line_of_the_program_is_empty() -> None:
    assert unwrapped("2026-11-29T15:00:00Z stdout F") == ""
    assert unwrapped('{"log":"\\n"}') == ""
