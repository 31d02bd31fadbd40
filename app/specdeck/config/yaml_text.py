"""YAML text of what specdeck writes into files, in blocks or in one line within braces; it reads back as what was given."""

import re
from collections.abc import Iterator, Mapping, Sequence

import yaml

from specdeck.config import scalars
from specdeck.errors import ConfigError

Value = str | int | float | bool | None
Tree = Value | Sequence[Value] | Mapping[str, "Tree"]
"""What can be written; a mapping keeps its order."""

_BARE = re.compile(r"[A-Za-z0-9_./~+-][A-Za-z0-9_./~+@%=-]*(?::[A-Za-z0-9_./~+@%=-]+)*")
_LONGEST_LINE = 72
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Short(dict[str, Tree]):
    """A mapping that stands in one line where it is short, as arguments and variables do."""


class Number(str):
    """A word of a command line that is a number there: written without quotes where it reads back as the same word."""

    __slots__ = ()


def block(tree: Mapping[str, Tree], indent: int = 0) -> Iterator[str]:
    """Lines, without their ends."""
    margin = " " * indent
    for key, value in tree.items():
        if isinstance(value, Mapping) and value and not _is_short(value):
            yield f"{margin}{scalar(key)}:"
            yield from block(value, indent + 2)
        else:
            yield f"{margin}{scalar(key)}: {flow(value)}"


def flow(tree: Tree) -> str:
    """The same in one line: `{a: 1, b: [x, y]}`."""
    if isinstance(tree, Mapping):
        return "{" + entries(tree) + "}"
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return f"[{', '.join(map(scalar, tree))}]"
    return scalar(tree)


def entries(tree: Mapping[str, Tree]) -> str:
    """`a: 1, b: 2`, to stand within braces."""
    return ", ".join(f"{scalar(key)}: {flow(value)}" for key, value in tree.items())


def scalar(value: Value) -> str:
    """One value; text that YAML would take for something else stands in quotes. Raises ConfigError for what is no text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Number) and _reads_as_number(value):
        return str(value)
    return str(value) if _reads_as_text(value) else _quoted(value)


def _is_short(tree: Mapping[str, Tree]) -> bool:
    """It may stand in one line, and fits there."""
    return isinstance(tree, Short) and len(flow(tree)) <= _LONGEST_LINE


def _reads_as_text(text: str) -> bool:
    return _BARE.fullmatch(text) is not None and _node(text).tag.endswith(":str") and not text.startswith("-")


def _reads_as_number(text: str) -> bool:
    if not re.fullmatch(r"[0-9.eE+-]{1,40}", text):
        return False
    node = _node(text)
    try:
        return scalars.tag_of(node) in ("int", "float") and str(scalars.argument(node)) == text
    except scalars.Wrong:
        return False


def _node(text: str) -> yaml.ScalarNode:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        node = None
    return node if isinstance(node, yaml.ScalarNode) else yaml.ScalarNode("tag:yaml.org,2002:null", "")


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escape(char)) for char in text) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    if 0xD800 <= code < 0xE000:
        raise ConfigError("a value with bytes that are no UTF-8 cannot be written into a file of YAML")
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
