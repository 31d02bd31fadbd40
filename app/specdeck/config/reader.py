"""YAML nodes against a table of config/schema.py: values with their places; every problem is collected, none stops the reading."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from specdeck.config import scalars, schema
from specdeck.config.problems import Place, nearest, shown
from specdeck.config.yaml_source import Source
from specdeck.quick_dataclass import dataclass

_Pairs = dict[str, tuple[yaml.Node, yaml.Node]]


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it stands: a dict or tuple of Found, or a plain scalar."""

    value: Any
    place: Place
    key: str
    """With the keys above it."""
    written: frozenset[str] = frozenset()
    """All keys of a table that are known, also those whose value is a problem."""

    def __getitem__(self, name: str) -> "Found":
        found: Found = self.value[name]
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.value

    def items(self) -> Iterator[tuple[str, "Found"]]:
        """The entries of a mapping."""
        return iter(self.value.items())

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as the YAML has it
        """The plain value of an entry."""
        return self.value[name].plain() if name in self.value else default

    def under(self, name: str) -> Mapping[str, "Found"]:
        """The entries of a mapping in this mapping; none if it is not there."""
        return self.value[name].value if name in self.value else {}

    def plain(self) -> Any:  # noqa: ANN401 - as the YAML has it
        """The value without places."""
        if isinstance(self.value, dict):
            return {name: entry.plain() for name, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return tuple(entry.plain() for entry in self.value)
        return self.value


def read(
    node: yaml.Node, kind: schema.Kind, source: Source, *, key: str = "", place: Place | None = None
) -> Found | None:
    """The value of a node; None: it is not what `kind` wants, and the problem is added."""
    return _Reading(source).read(node, kind, key, place or source.place(node))


@dataclass(frozen=True, slots=True)
class _Reading:
    source: Source

    def read(self, node: yaml.Node, kind: schema.Kind, key: str, key_place: Place) -> Found | None:
        """`key_place` is where the key stands: what is missing is missing there."""
        match kind:
            case schema.Table():
                return self._table(node, kind, key, key_place)
            case schema.MapOf():
                return self._map(node, kind, key, key_place)
            case schema.ListOf():
                return self._list(node, kind, key, key_place)
            case schema.Argument() if isinstance(node, yaml.SequenceNode):
                return self._argument_list(node, key, key_place)
            case _:
                return self._scalar(node, kind, key, key_place)

    def _problem(self, place: Place, key: str, what: str) -> None:
        self.source.problems.add(place, key or "file", what)

    def _table(self, node: yaml.Node, table: schema.Table, key: str, key_place: Place) -> Found | None:
        if (pairs := self._pairs(node, key)) is None:
            return None
        found: dict[str, Found] = {}
        for name, (name_node, value_node) in pairs.items():
            place, below = self.source.place(name_node), _joined(key, name)
            if name not in table.keys:
                if not (table.takes_extensions and name.startswith("x-")):
                    self._problem(place, below, f"unknown key{nearest(name, table.keys)}")
            elif (value := self.read(value_node, table.keys[name].kind, below, place)) is not None:
                found[name] = value
        for name, wanted in table.keys.items():
            if wanted.is_required and name not in pairs:
                self._problem(key_place, _joined(key, name), "is missing")
        return Found(found, key_place, key, frozenset(pairs) & frozenset(table.keys))

    def _map(self, node: yaml.Node, kind: schema.MapOf, key: str, key_place: Place) -> Found | None:
        if (pairs := self._pairs(node, key)) is None:
            return None
        found: dict[str, Found] = {}
        for name, (name_node, value_node) in pairs.items():
            place, below = self.source.place(name_node), _joined(key, name)
            try:
                scalars.text(yaml.ScalarNode("tag:yaml.org,2002:str", name), kind.key)
            except scalars.Wrong as wrong:
                self._problem(place, below, str(wrong))
            if (value := self.read(value_node, kind.value, below, place)) is not None:
                found[name] = value
        return Found(found, key_place, key)

    def _list(self, node: yaml.Node, kind: schema.ListOf, key: str, key_place: Place) -> Found | None:
        if scalars.is_null(node):
            return Found((), key_place, key)
        entries = node.value if isinstance(node, yaml.SequenceNode) else [node]
        read = [
            self.read(entry, kind.item, f"{key}[{at}]", self.source.place(entry)) for at, entry in enumerate(entries)
        ]
        return Found(tuple(entry for entry in read if entry is not None), self.source.place(node), key)

    def _argument_list(self, node: yaml.SequenceNode, key: str, key_place: Place) -> Found:
        read = [
            self._scalar(entry, schema.Argument(), f"{key}[{at}]", key_place) for at, entry in enumerate(node.value)
        ]
        for entry in read:
            if entry is not None and (entry.value is None or isinstance(entry.value, bool)):
                self._problem(entry.place, entry.key, "true, false and null have no meaning in a list")
        return Found(tuple(entry for entry in read if entry is not None), key_place, key)

    def _scalar(self, node: yaml.Node, kind: schema.Kind, key: str, key_place: Place) -> Found | None:
        place = key_place if node.value == "" and scalars.is_null(node) else self.source.place(node)
        if not isinstance(node, yaml.ScalarNode):
            self._problem(place, key, _not_scalar(node, kind))
            return None
        try:
            return Found(_scalar_value(node, kind), place, key)
        except scalars.Wrong as wrong:
            self._problem(place, key, str(wrong))
            return None

    def _pairs(self, node: yaml.Node, key: str) -> _Pairs | None:
        """The entries of a mapping by name; nothing at all counts as an empty mapping, `<<` brings in the entries of others."""
        if scalars.is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._problem(self.source.place(node), key, f"should be a mapping (key: value), not {_kind_of(node)}")
            return None
        own: _Pairs = {}
        merged: _Pairs = {}
        for name_node, value_node in node.value:
            if scalars.tag_of(name_node) == "merge":
                self._merge(value_node, merged, key)
            elif not isinstance(name_node, yaml.ScalarNode):
                self._problem(self.source.place(name_node), key, f"a key should be one word, not {_kind_of(name_node)}")
            elif name_node.value in own:
                first = self.source.place(own[name_node.value][0])
                what = f"is there twice, first on line {first.line}"
                self._problem(self.source.place(name_node), _joined(key, name_node.value), what)
            else:
                own[name_node.value] = (name_node, value_node)
        return merged | own

    def _merge(self, node: yaml.Node, into: _Pairs, key: str, seen: tuple[yaml.Node, ...] = ()) -> None:
        """`<<: *anchor` or a list of them; what is there already wins. An anchor that merges itself ends there."""
        for base in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(base, yaml.MappingNode):
                self._problem(
                    self.source.place(base), _joined(key, "<<"), f"should name a mapping, not {_kind_of(base)}"
                )
            elif base not in seen:
                for name_node, value_node in base.value:
                    if isinstance(name_node, yaml.ScalarNode) and scalars.tag_of(name_node) != "merge":
                        into.setdefault(name_node.value, (name_node, value_node))
                for name_node, value_node in base.value:
                    if scalars.tag_of(name_node) == "merge":
                        self._merge(value_node, into, key, (*seen, base))


def _scalar_value(node: yaml.ScalarNode, kind: schema.Kind) -> Any:  # noqa: ANN401 - as the YAML has it
    match kind:
        case schema.Text():
            return scalars.text(node, kind)
        case schema.Whole():
            return scalars.whole(node, kind)
        case schema.Number():
            return scalars.number(node, kind)
        case schema.Flag():
            return scalars.flag(node)
        case schema.EnvText():
            return scalars.env_text(node)
        case _:
            return scalars.argument(node)


def _not_scalar(node: yaml.Node, kind: schema.Kind) -> str:
    if isinstance(kind, schema.Argument):
        return f'should be one value or a list, not {_kind_of(node)}; JSON must stand in quotes: \'{{"key": "value"}}\''
    if isinstance(kind, schema.Text) and isinstance(node, yaml.MappingNode):
        return "should be text, not a mapping; a value that begins with { must stand in quotes"
    return f"should be one value, not {_kind_of(node)}"


def _kind_of(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else f"`{shown(str(node.value))}`"


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
