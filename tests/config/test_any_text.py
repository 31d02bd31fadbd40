"""Whatever stands in a file, only ConfigError comes of it, and each of its lines has a place."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from specdeck.config import schema
from specdeck.config.problems import Problems
from specdeck.config.reader import read
from specdeck.config.yaml_source import load

_LINE = re.compile(r"[^:]+:[1-9]\d*:[1-9]\d*: .+: .+")
_PIECES = st.sampled_from(
    [
        *(
            "hosts:",
            "lab:",
            "servers:",
            "kimi:",
            "model:",
            "port:",
            "args:",
            "env:",
            "extends:",
            "engine:",
            "name:",
            "colors:",
        ),
        *(
            "\n",
            "\n  ",
            "\n    ",
            "\n      ",
            "\n        ",
            " ",
            "\t",
            ": ",
            "- ",
            "? ",
            ", ",
            "{",
            "}",
            "[",
            "]",
            "'",
            '"',
            "#",
        ),
        *(
            "&a",
            "*a",
            "<<: *a",
            "<<: ",
            "!!int ",
            "!!python/object:os.system ",
            "!x ",
            "|",
            ">",
            "%YAML 1.1",
            "---",
            "...",
            "\\",
            "\\x",
        ),
        *(
            "no",
            "0123",
            "1:30",
            "1_0",
            ".inf",
            ".nan",
            "1e5",
            "~",
            "null",
            "=",
            "2026-01-01",
            '"\\uD800"',
            '"\\UFFFFFFFF"',
            "\x85",
            "\ufeff",
        ),
    ]
)
_TEXTS = st.lists(_PIECES, max_size=25).map("".join) | st.text(max_size=60)


def problems_of(content: bytes, kind: schema.Kind) -> list[str]:
    """What is wrong with a file of these bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.yaml"
        path.write_bytes(content)
        problems = Problems()
        source, root = load(path, problems)
        if root is not None:
            read(root, kind, source)
        return [str(problem) for problem in problems.found]


@settings(max_examples=300, deadline=None)
@given(text=_TEXTS, name=st.sampled_from(sorted(schema.FILES)))
def test_any_text_gives_problems_with_places(text: str, name: str) -> None:
    for line in problems_of(text.encode("utf-8", "surrogatepass"), schema.FILES[name]):
        assert _LINE.fullmatch(line), line
        assert line.isprintable()


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=60))
def test_any_bytes_give_problems_with_places(content: bytes) -> None:
    for line in problems_of(content, schema.FLEET):
        assert _LINE.fullmatch(line), line


def test_mapping_that_contains_itself() -> None:
    assert problems_of(b"&a {hosts: *a}", schema.FLEET)
    assert problems_of(b"&a {<<: *a, hosts: {lab: }}", schema.FLEET) == []


def test_aliases_that_multiply_are_not_multiplied_out() -> None:
    levels = "".join(f"x-{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 9)}]\n" for at in range(1, 30))
    assert problems_of(f"x-0: &l0 [x]\n{levels}hosts: {{lab: }}\n".encode(), schema.FLEET) == []


def test_number_of_many_digits() -> None:
    assert problems_of(b"hosts: {a: {servers: {s: {model: m, port: " + b"9" * 5000 + b"}}}}", schema.FLEET)
