"""Entries put into YAML text: everything else stays byte for byte, and the text reads back as what was meant."""

import re
from typing import Any

import pytest
import yaml

from specdeck.config.yaml_edit import CannotEdit, with_entry
from specdeck.config.yaml_text import Number, flow, scalar

SERVERS = ("hosts", "lab", "servers")
NEW: dict[str, Any] = {"new": {"model": "/m/new", "port": 30001}}
PLAIN = "{model: /m/new, port: 30001}"
"""Within braces; else a line each."""


def put(text: str, path: tuple[str, ...] = SERVERS) -> str:
    """The text with the new server; it says the same as before but for that."""
    result = with_entry(text, path, NEW)
    wanted = yaml.safe_load(text) or {}
    inner = wanted
    for key in path:
        inner[key] = inner.get(key) or {}
        inner = inner[key]
    inner |= NEW
    assert yaml.safe_load(result) == wanted
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "hosts:\n  lab:\n    servers:\n      new: PLAIN\n", id="an empty file"),
        pytest.param("# mine\n", "# mine\nhosts:\n  lab:\n    servers:\n      new: PLAIN\n", id="comments only"),
        pytest.param("hosts: {}\n", "hosts:\n  lab:\n    servers:\n      new: PLAIN\n", id="empty braces"),
        pytest.param(
            "hosts:\n  lab:\nx-note: 1\n", "hosts:\n  lab:\n    servers:\n      new: PLAIN\nx-note: 1\n", id="a host without keys"
        ),
        pytest.param(
            "hosts:\n    lab:\n        ssh: x # why",
            "hosts:\n    lab:\n        ssh: x # why\n        servers:\n          new: PLAIN\n",
            id="no end of line, wide steps",
        ),
        pytest.param(
            "hosts:\n  lab:\n    servers: null  # none yet\n    ssh: x\n",
            "hosts:\n  lab:\n    servers:  # none yet\n      new: PLAIN\n    ssh: x\n",
            id="null with a comment",
        ),
        pytest.param(
            "hosts:\n  lab:\n    servers:\n      a: {port: 1}\n        # of a\n      # b: {port: 2}\n\n  # end of lab\nx-y: 1\n",
            "hosts:\n  lab:\n    servers:\n      a: {port: 1}\n        # of a\n      new: PLAIN\n      # b: {port: 2}\n\n"
            "  # end of lab\nx-y: 1\n",
            id="comments that belong to the last entry, and others",
        ),
        pytest.param(
            "hosts: {lab: {ssh: x, servers: {a: {port: 1}, }}}\n",
            "hosts: {lab: {ssh: x, servers: {a: {port: 1}, new: PLAIN }}}\n",
            id="braces with a last comma",
        ),
        pytest.param(
            "hosts: {lab: {servers: }}\n", "hosts: {lab: {servers: {new: PLAIN} }}\n", id="nothing within braces"
        ),
        pytest.param(
            "hosts:\r\n  lab:\r\n    servers:\r\n      a:\r\n        setup:\r\n        - x\r\n# bye\r\n",
            "hosts:\r\n  lab:\r\n    servers:\r\n      a:\r\n        setup:\r\n        - x\r\n      new: PLAIN\r\n# bye\r\n",
            id="other line ends",
        ),
        pytest.param(
            "hosts:\n  lab:\n    servers:\n      a:\n        setup:\n        - |\n          one\n          two\n# bye\n",
            "hosts:\n  lab:\n    servers:\n      a:\n        setup:\n        - |\n          one\n          two\n"
            "      new: PLAIN\n# bye\n",
            id="behind a text of several lines",
        ),
        pytest.param(
            "hosts:\n  b: &b\n    servers: {}\n  lab:\n    servers:\n      a: {port: 1}\n      c: *b\n",
            "hosts:\n  b: &b\n    servers: {}\n  lab:\n    servers:\n      a: {port: 1}\n      c: *b\n      new: PLAIN\n",
            id="behind an alias",
        ),
    ],
)  # fmt: skip
def test_an_entry_stands_behind_the_last_one_in_the_style_of_its_neighbours(before: str, after: str) -> None:
    assert put(before) == re.sub(
        r"( *)(new:) PLAIN(\r?\n)", r"\1\2\3\1  model: /m/new\3\1  port: 30001\3", after
    ).replace("PLAIN", PLAIN)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hosts:\n  a: &a {ssh: x}\n  lab: *a\n", "hosts.lab is an alias of something else (line 2)"),
        ("hosts:\n  lab: [1]\n", "hosts.lab (line 2) is no mapping"),
        ("hosts:\n  lab:\n    servers:\n      new: {}\n", "hosts.lab.servers.new is there already"),
        ("- 1\n", "the file is no mapping"),
        ("a: [\n", "the file is not YAML"),
    ],
)
def test_what_cannot_be_added_to_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(CannotEdit) as refused:
        with_entry(text, SERVERS, NEW)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "a b", "true", "null", "~", "~/x", "12", "1:30", "0x10", "1e3", "-", "- a", "a: b", "a #b", "#a", "{a}", "[a]",
        "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "'", '"', "a\nb", "\x1b[31m", "\x7f", "é", "日本", "\U0001f600", "=", "<<",
        "a:", ":a",
        "2026-11-29", "/m/a-b_c.d", "http://x:1/y", "--flag", "a,b", '{"method": "eagle3", "n": 5}', "\u2028", "\ufeff",
    ],
)  # fmt: skip
def test_every_text_reads_back_as_it_is(value: str) -> None:
    assert yaml.safe_load(f"a: {scalar(value)}\n") == {"a": value}
    assert yaml.safe_load(f"a: {flow({'k': value, 'l': [value]})}\n") == {"a": {"k": value, "l": [value]}}


@pytest.mark.parametrize(
    ("word", "text"), [("8", "8"), ("0.9", "0.9"), ("0.90", "0.90"), ("007", '"007"'), ("1_0", '"1_0"')]
)
def test_a_number_of_a_command_line_has_no_quotes_where_it_stays_the_same_word(word: str, text: str) -> None:
    assert scalar(Number(word)) == text
