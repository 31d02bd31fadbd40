"""Keys and tokens in a log never reach a screen, a cause or a clipboard."""

import pytest
from tests.parsing.test_lines import texts_of

from specdeck.parsing.lines import LineSplitter

KEY = "sk-verysecret123"
TOKEN = "hf_" + "abcdefghijklmnopqrstuv"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            f"server_args=ServerArgs(host='::', api_key='{KEY}', port=1)",
            "server_args=ServerArgs(host='::', api_key='***', port=1)",
        ),
        (f"server_args={{'admin_api_key': '{KEY}', 'port': 1}}", "server_args={'admin_api_key': '***', 'port': 1}"),
        (
            f"non-default args: {{'api_key': ['{KEY}', 'b'], 'port': 8000}}",
            "non-default args: {'api_key': [***], 'port': 8000}",
        ),
        (f"launch_server --api-key {KEY} --port 1", "launch_server --api-key *** --port 1"),
        (f"['python', '--api-key', '{KEY}', '--port']", "['python', '--api-key', '***', '--port']"),
        (f"Authorization: Bearer {KEY}", "Authorization: Bearer ***"),
        (f"token {TOKEN} is not valid", "token hf_*** is not valid"),
    ],
)
def test_a_secret_is_hidden_whatever_the_line_looks_like(written: str, shown: str) -> None:
    assert texts_of(written.encode() + b"\n") == [shown]
    assert texts_of(b"\x1b[1m" + written.encode() + b"\r", b"next") == [shown, "next"]


@pytest.mark.parametrize(
    "harmless",
    ["api_key=None", "hf_config = get_config(", "The api_key option is deprecated", "from hf_transfer import x"],
)
def test_words_that_only_name_a_secret_stay(harmless: str) -> None:
    assert texts_of(harmless.encode() + b"\n") == [harmless]


def test_a_secret_that_came_in_two_pieces_is_hidden() -> None:
    assert texts_of(b"api_key='sk-very", b"secret123'\n") == ["api_key='***'"]


def test_a_secret_in_a_line_that_is_still_open_is_hidden() -> None:
    splitter = LineSplitter()
    splitter.feed(b"api_key='sk-very")
    assert splitter.open_line is not None
    assert "sk-" not in splitter.open_line.text
