"""Puts entries into the text of a YAML file, found by the marks of its nodes: comments, order and formatting stay as they are."""

from collections.abc import Mapping, Sequence

import yaml

from specdeck.config.yaml_text import Tree, block, entries
from specdeck.errors import ConfigError
from specdeck.quick_dataclass import dataclass

_STEP = 2


class CannotEdit(ConfigError):
    """The file says it in a way that cannot be added to without changing something else; says where and why."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A mapping in the text, and what a block entry in it looks like."""

    node: yaml.MappingNode
    names: str
    """The keys above it, for a sentence."""
    least_indent: int
    """Where its keys would begin if it had none."""


def with_entry(text: str, path: Sequence[str], tree: Mapping[str, Tree]) -> str:
    """The text with these entries in the mapping at `path`, whose missing keys are made. Raises CannotEdit."""
    end = "\r\n" if "\r\n" in text else "\n"
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CannotEdit("the file is not YAML: mend it first") from error
    if root is None:
        return _appended(text, _nested(path, tree), end)
    if not isinstance(root, yaml.MappingNode):
        raise CannotEdit("the file is no mapping (key: value)")
    return _into(text, _Place(root, "", 0), path, tree, end)


def _into(text: str, place: _Place, path: Sequence[str], tree: Mapping[str, Tree], end: str) -> str:
    if not path:
        clash = next((key for key in tree if _pair(place.node, key)), None)
        if clash is not None:
            raise CannotEdit(f"{_joined(place.names, clash)} is there already")
        return _inserted(text, place, tree, end)
    pair = _pair(place.node, path[0])
    if pair is None:
        return _inserted(text, place, _nested(path, tree), end)
    key, value = pair
    names = _joined(place.names, path[0])
    if value.start_mark.index < key.end_mark.index:
        raise CannotEdit(
            f"{names} is an alias of something else (line {value.start_mark.line + 1}): write it out first"
        )
    if isinstance(value, yaml.MappingNode) and value.value:
        return _into(text, _Place(value, names, key.start_mark.column + _STEP), path[1:], tree, end)
    if isinstance(value, yaml.MappingNode) or (isinstance(value, yaml.ScalarNode) and value.tag.endswith(":null")):
        return _filled(text, place, key, value, _nested(path[1:], tree), end)
    raise CannotEdit(f"{names} (line {value.start_mark.line + 1}) is no mapping")


def _pair(node: yaml.MappingNode, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next(
        ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value == name), None
    )


def _nested(path: Sequence[str], tree: Mapping[str, Tree]) -> Mapping[str, Tree]:
    for key in reversed(path):
        tree = {key: tree}
    return tree


def _joined(names: str, key: str) -> str:
    return f"{names}.{key}" if names else key


def _inserted(text: str, place: _Place, tree: Mapping[str, Tree], end: str) -> str:
    """Behind the last entry of a mapping that has some, in its own style."""
    if place.node.flow_style:
        return _inserted_in_braces(text, place.node, tree)
    indent = place.node.value[0][0].start_mark.column
    return _with_lines(text, _end_of(text, place.node), list(block(tree, indent)), indent, end)


def _inserted_in_braces(text: str, node: yaml.MappingNode, tree: Mapping[str, Tree]) -> str:
    """Right behind the last word within the braces, which may be a comma."""
    at, comma = node.start_mark.index + 1, ""
    for token in yaml.scan(text):
        if token.start_mark.index >= node.end_mark.index - 1:
            break
        if token.start_mark.index > node.start_mark.index:
            at, comma = token.end_mark.index, "" if isinstance(token, yaml.FlowEntryToken) else ","
    space = " " if node.value else ""
    return f"{text[:at]}{comma}{space}{entries(tree)}{text[at:]}"


def _filled(text: str, place: _Place, key: yaml.Node, value: yaml.Node, tree: Mapping[str, Tree], end: str) -> str:
    """Into a key without a value: nothing, `null` or `{}`."""
    if place.node.flow_style:
        return f"{text[: key.end_mark.index]}: {{{entries(tree)}}}{text[value.end_mark.index :]}"
    indent = key.start_mark.column + _STEP
    before = text[: value.start_mark.index]
    if value.end_mark.index > value.start_mark.index:
        before = before.rstrip(" ")
    shortened = before + text[value.end_mark.index :]
    return _with_lines(shortened, key.end_mark.index, list(block(tree, indent)), indent, end)


def _end_of(text: str, node: yaml.Node) -> int:
    """Behind the last character of a node that is no comment."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        key, value = node.value[-1]
        own = int(key.end_mark.index)
        return max(own, _end_of(text, value)) if value.start_mark.index >= own else own
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(text, last) if last.start_mark.index >= node.start_mark.index else int(node.end_mark.index)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    return start + len(text[start:end].rstrip())


def _with_lines(text: str, at: int, lines: Sequence[str], indent: int, end: str) -> str:
    """Behind the line of `at` and the comments that belong to what ends there: those that stand deeper than `indent`."""
    place = text.find("\n", at) + 1 or len(text)
    behind = place
    while behind < len(text):
        line = text[behind : text.find("\n", behind) + 1 or len(text)]
        if line.strip() and not (line.lstrip(" ").startswith("#") and len(line) - len(line.lstrip(" ")) > indent):
            break
        behind += len(line)
        place = behind if line.strip() else place
    before = text[:place]
    return (
        before
        + ("" if before.endswith("\n") or not before else end)
        + "".join(f"{line}{end}" for line in lines)
        + text[place:]
    )


def _appended(text: str, tree: Mapping[str, Tree], end: str) -> str:
    """To a file that holds nothing, or comments only."""
    body = "".join(f"{line}{end}" for line in block(tree))
    return f"{text}{'' if not text or text.endswith(chr(10)) else end}{body}"
