"""YAML scalars without YAML's surprises: what is written is what is meant, or it is a problem that says how to write it."""

import math
import re
from typing import Any

import yaml

from specdeck.config import schema
from specdeck.config.problems import nearest, shown

_TAG = "tag:yaml.org,2002:"
_PLAIN_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,15})")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_KINDS = {"bool": "true/false", "int": "a number", "float": "a number", "null": "nothing (null)", "timestamp": "a date"}
_AS_TEXT = {"str", "value", "merge"}


class Wrong(Exception):
    """What is wrong with a scalar, in words; never leaves the reader."""


def tag_of(node: yaml.Node) -> str:
    """`str`, `int`, `float`, `bool`, `null`, `timestamp`, `seq`, `map`, or the whole tag of a foreign one."""
    tag = str(node.tag)
    return tag.removeprefix(_TAG)


def is_null(node: yaml.Node) -> bool:
    """Whether nothing is written, or null."""
    return isinstance(node, yaml.ScalarNode) and tag_of(node) == "null"


def text(node: yaml.ScalarNode, kind: schema.Text) -> str:
    """A string; what YAML takes for something else must stand in quotes. Raises Wrong."""
    found = _text_as_written(node) if tag_of(node) in _AS_TEXT else _not_text(node)
    if kind.choices and found not in kind.choices:
        raise Wrong(f"`{shown(found)}` is none of {', '.join(kind.choices)}{nearest(found, kind.choices)}")
    if kind.pattern and not re.fullmatch(kind.pattern, found):
        raise Wrong(f"`{shown(found)}` should be {kind.rule}")
    return found


def _text_as_written(node: yaml.ScalarNode) -> str:
    found = str(node.value)
    if "\0" in found:
        raise Wrong("a NUL character cannot be passed to a program")
    if any("\ud800" <= char <= "\udfff" for char in found):
        raise Wrong("half of a surrogate pair is no character")
    return found


def _not_text(node: yaml.ScalarNode) -> str:
    kind = _KINDS.get(tag_of(node))
    if kind is None:
        raise Wrong(f"the tag `{shown(tag_of(node))}` means nothing here")
    if tag_of(node) == "null" and not node.value:
        raise Wrong("text is missing")
    raise Wrong(f'`{shown(node.value)}` is {kind} in YAML; text must stand in quotes: "{shown(node.value)}"')


def whole(node: yaml.ScalarNode, kind: schema.Whole) -> int:
    """A whole number in range. Raises Wrong."""
    _refuse_leading_zero(node)
    if tag_of(node) != "int" or not _PLAIN_INT.fullmatch(node.value):
        raise Wrong(f"`{shown(node.value)}` should be a whole number")
    if not kind.least <= int(node.value) <= kind.most:
        raise Wrong(f"{node.value} is out of range, {kind.least} to {kind.most}")
    return int(node.value)


def number(node: yaml.ScalarNode, kind: schema.Number) -> float:
    """A finite number. Raises Wrong."""
    _refuse_leading_zero(node)
    found = _float(node)
    if found is None:
        raise Wrong(f"`{shown(node.value)}` should be a number of seconds" if node.value else "a number is missing")
    if found < kind.least:
        raise Wrong(f"{shown(node.value)} is less than {kind.least:g}")
    return found


def _float(node: yaml.ScalarNode) -> float | None:
    if tag_of(node) not in {"int", "float"}:
        return None
    try:
        found = float(node.value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def flag(node: yaml.ScalarNode) -> bool:
    """true or false, and not yes, no, on, off. Raises Wrong."""
    if tag_of(node) != "bool":
        raise Wrong(f"`{shown(node.value)}` should be true or false")
    if node.value.lower() not in {"true", "false"}:
        raise Wrong(f'`{node.value}` is true/false in YAML; write true or false, or text in quotes: "{node.value}"')
    return bool(node.value.lower() == "true")


def env_text(node: yaml.ScalarNode) -> str:
    """The value of a variable: text, or a number as it is written. Raises Wrong."""
    _refuse_leading_zero(node)
    if tag_of(node) in {"int", "float", "timestamp"}:
        return _text_as_written(node)
    return text(node, schema.Text())


def argument(node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - str, int, float, bool or None
    """The value of a launch argument; a number that would be written differently stays as it is written. Raises Wrong."""
    _refuse_leading_zero(node)
    match tag_of(node):
        case "null":
            return None
        case "bool":
            return flag(node)
        case "int" if _PLAIN_INT.fullmatch(node.value):
            return int(node.value)
        case "float" if str(_float(node)) == node.value:
            return float(node.value)
        case "int" | "float" | "timestamp":
            return _text_as_written(node)
        case _:
            return text(node, schema.Text())


def _refuse_leading_zero(node: yaml.ScalarNode) -> None:
    """0123 is 83 for one YAML reader and 123 for another."""
    if tag_of(node) in {"int", "float"} and _LEADING_ZERO.fullmatch(node.value):
        raise Wrong(
            f'`{node.value}` with its leading zero is octal in YAML; write the number, or text in quotes: "{node.value}"'
        )
