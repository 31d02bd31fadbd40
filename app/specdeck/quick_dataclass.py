"""The standard library's `dataclass`, made in a thirtieth of the time: the dashboard names a hundred before its first frame.

The standard library compiles six methods of each class, which takes half a millisecond. Here `__init__` alone is compiled, and
only once some instances were made; and the fields are described when they are first asked for. For classes with slots,
without bases of their kind, without `__post_init__`, and never pickled.
Its `replace` takes a fifth of the time of the standard one, which would be a tenth of what the dashboard costs while it runs.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(one: object, /, **changes: object) -> object:
        """As `dataclasses.replace` does; quickly where the class is made here."""
        quickly = getattr(one, "__replace__", None)
        return quickly(**changes) if quickly is not None else dataclasses.replace(one, **changes)

    def dataclass(
        *, slots: Literal[True], frozen: bool = False, eq: bool = True, order: bool = False
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass` does with these."""

        def made(written: type) -> type:
            names = tuple(_annotated(written))
            space = {
                "__init__": _compiled_after_some(is_frozen=frozen),
                "__replace__": _compiled_at_first_change,
                "__repr__": _repr,
                **(_FROZEN if frozen else {}),
                **(_comparing(is_frozen=frozen, is_ordered=order) if eq else {}),
                **vars(written),
                "__qualname__": written.__qualname__,
                "__slots__": names,
                "__match_args__": names,
            }
            space.pop("__dict__")
            space.pop("__weakref__")
            given = [(name, space.pop(name, dataclasses.MISSING)) for name in names]
            space["__fields__"] = _AtFirstUse(lambda: _fields(given))
            space["__compared__"] = _AtFirstUse(lambda: _compared(given))
            space["__dataclass_fields__"] = _AtFirstUse(lambda: _described(written))
            return type(written)(written.__name__, written.__bases__, space)

        return made


Method = Callable[..., Any]
UNCOMPILED = 20
"""So many instances of a class are made in the time that compiling takes."""


class _Made(Protocol):
    """An instance of a class that is made here."""

    __fields__: ClassVar[Sequence[tuple[str, Any]]]
    """Each name with its `dataclasses.Field`."""
    __compared__: ClassVar[Callable[[object], Any]]
    """The values of the fields that are compared."""


class _AtFirstUse:
    """An attribute of a class that is made when it is first read, as for most classes it is not before the first frame."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, _: object, cls: type) -> object:
        made = self._make()
        setattr(cls, self._name, made)
        return made


def _annotated(written: type) -> Iterable[str]:
    if sys.version_info >= (3, 14):  # they are not evaluated before they are asked for
        import annotationlib

        return annotationlib.get_annotations(written, format=annotationlib.Format.FORWARDREF)
    annotated: Mapping[str, object] = vars(written).get("__annotations__", {})
    return annotated


def _fields(given: Iterable[tuple[str, object]]) -> Sequence[tuple[str, Any]]:
    """As they were written, or made of the default that was."""
    made: Any = dataclasses.field
    return [(name, value if isinstance(value, dataclasses.Field) else made(default=value)) for name, value in given]


def _described(written: type) -> object:
    """What `dataclasses.fields`, `asdict` and `replace` ask for."""
    written.__doc__ = written.__doc__ or written.__name__  # else it is made of a signature, for a millisecond
    described: Any = dataclasses.dataclass(written, init=False, repr=False, eq=False)
    return described.__dataclass_fields__


def _compared(given: Iterable[tuple[str, object]]) -> Method:
    names = [name for name, field in _fields(given) if field.compare]
    return attrgetter(*names) if names else lambda _: ()


def _compiled_after_some(*, is_frozen: bool) -> Method:
    """Of most classes few instances are made before the first frame: these field by field, which compiling would take longer."""
    count = 0

    def __init__(self: _Made, *args: object, **named: object) -> None:  # noqa: N807 - as it is seen in errors
        nonlocal count
        count += 1
        if count > UNCOMPILED or not _has_put(self, args, named):
            cls: Any = type(self)
            cls.__init__ = init = _init(cls, is_frozen=is_frozen)
            init(self, *args, **named)

    return __init__


def _has_put(one: _Made, args: Sequence[object], named: Mapping[str, object]) -> bool:
    """False where the arguments are not those of the fields: then `__init__` itself tells it."""
    fields, put = one.__fields__, object.__setattr__
    values = dict(zip((name for name, _ in fields), args, strict=False), **named)
    if len(values) < len(args) + len(named):
        return False
    for name, field in fields:
        if name in values:
            put(one, name, values.pop(name))
        elif field.default_factory is not dataclasses.MISSING:
            put(one, name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            put(one, name, field.default)
        else:
            return False
    return not values


def _init(cls: type[_Made], *, is_frozen: bool) -> Method:
    """One assignment a field; a default that is made anew is made where nothing is given."""
    names: dict[str, object] = {"_put": object.__setattr__, "_missing": dataclasses.MISSING}
    parameters, lines = ["self"], ["pass"]
    for name, field in cls.__fields__:
        value = name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_default_{name}"], names[f"_make_{name}"] = dataclasses.MISSING, field.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
        parameters.append(f"{name}=_default_{name}" if f"_default_{name}" in names else name)
        lines.append(f"_put(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    source = f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(lines)
    exec(source, names)  # noqa: S102 - names of fields are all that is in it
    init: Any = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init  # type: ignore[no-any-return]


def _compiled_at_first_change(self: object, /, **changes: object) -> object:
    cls: Any = type(self)
    cls.__replace__ = replacing = _replacing(cls)
    return replacing(self, **changes)


def _replacing(cls: type[_Made]) -> Method:
    """Field by field from the old one, then the changes."""
    names = [name for name, _ in cls.__fields__]
    put, lines = object.__setattr__, "".join(f"    put(new, {name!r}, old.{name})\n" for name in names)
    space: dict[str, Any] = {"put": put}
    exec(f"def copy(old, new):\n{lines or '    pass'}", space)  # noqa: S102 - names of fields are all that is in it
    copy, make, known = space["copy"], object.__new__, frozenset(names)

    def __replace__(self: object, /, **changes: object) -> object:  # noqa: N807
        if not known.issuperset(changes):
            raise TypeError(f"{cls.__qualname__} has no field {', '.join(sorted(changes.keys() - known))}")
        new: Any = make(cls)
        copy(self, new)
        for name, value in changes.items():
            put(new, name, value)
        return new

    return __replace__


def _comparing(*, is_frozen: bool, is_ordered: bool) -> Mapping[str, Method | None]:
    """Two of one class are compared by the values of their fields, as tuples are; what may change has no hash."""
    return {"__eq__": _EQUAL, "__hash__": _hash if is_frozen else None, **(_ORDER if is_ordered else {})}


def _by(compare: Callable[[Any, Any], Any]) -> Method:
    def compared(one: _Made, other: object) -> Any:  # noqa: ANN401 - as that which compares
        if one.__class__ is not other.__class__:
            return NotImplemented
        values = one.__class__.__compared__
        return compare(values(one), values(other))

    return compared


def _hash(one: _Made) -> int:
    return hash(one.__class__.__compared__(one))


def _repr(self: _Made) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, field in self.__fields__ if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__qualname__} is frozen: {name} stays as it is")


_FROZEN = {"__setattr__": _refuse, "__delattr__": _refuse}
_EQUAL = _by(eq)
_ORDER = {f"__{each.__name__}__": _by(each) for each in (lt, le, gt, ge)}
