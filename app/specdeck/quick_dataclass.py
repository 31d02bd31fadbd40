"""The standard library's `dataclass`, made in a tenth of the time: the dashboard names a hundred classes before its first frame.

The standard library compiles six methods of each class, which takes half a millisecond. Here `__init__` alone is compiled, and
only once some instances were made. For classes without bases of their kind, without `__post_init__`, and never pickled.
Its `replace` takes a fifth of the time of the standard one, which would be a tenth of what the dashboard costs while it runs.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(one: object, /, **changes: object) -> object:
        """As `dataclasses.replace` does; quickly where the class is made here."""
        quickly = getattr(one, "__replace__", None)
        return quickly(**changes) if quickly is not None else dataclasses.replace(one, **changes)

    def dataclass(
        *, slots: bool = False, frozen: bool = False, eq: bool = True, order: bool = False
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass` does with these."""

        def made(written: type) -> type:
            written.__doc__ = written.__doc__ or written.__name__  # else it is made of a signature, for a millisecond
            cls = dataclasses.dataclass(written, init=False, repr=False, eq=False, slots=slots)
            shared = {
                "__init__": _compiled_after_some(cls, is_frozen=frozen),
                "__replace__": _compiled_at_first_change,
                "__repr__": _repr,
                **(_FROZEN if frozen else {}),
                **(_comparing(cls, is_frozen=frozen, is_ordered=order) if eq else {}),
            }
            for name, method in shared.items():
                if name not in vars(written):
                    setattr(cls, name, method)
            return cls

        return made


Method = Callable[..., Any]
UNCOMPILED = 20
"""So many instances of a class are made in the time that compiling takes."""


def _compiled_after_some(cls: type, *, is_frozen: bool) -> Method:
    """Of most classes few instances are made before the first frame: these field by field, which compiling would take longer."""
    count = 0

    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807 - as it is seen in errors
        nonlocal count
        count += 1
        if count > UNCOMPILED or not _has_put(self, args, named):
            cls.__init__ = init = _init(cls, is_frozen=is_frozen)  # type: ignore[misc]
            init(self, *args, **named)

    return __init__


def _has_put(one: object, args: Sequence[object], named: Mapping[str, object]) -> bool:
    """False where the arguments are not those of the fields: then `__init__` itself tells it."""
    fields, put = _fields(type(one)), object.__setattr__
    values = dict(zip((field.name for field in fields), args, strict=False), **named)
    if len(values) < len(args) + len(named):
        return False
    for field in fields:
        if field.name in values:
            put(one, field.name, values.pop(field.name))
        elif field.default_factory is not dataclasses.MISSING:
            put(one, field.name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            put(one, field.name, field.default)
        else:
            return False
    return not values


def _init(cls: type, *, is_frozen: bool) -> Method:
    """One assignment a field; a default that is made anew is made where nothing is given."""
    names: dict[str, object] = {"_put": object.__setattr__, "_missing": dataclasses.MISSING}
    parameters, lines = ["self"], ["pass"]
    for field in _fields(cls):
        name, value = field.name, field.name
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


def _replacing(cls: type) -> Method:
    """Field by field from the old one, then the changes."""
    names = [field.name for field in _fields(cls)]
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


def _comparing(cls: type, *, is_frozen: bool, is_ordered: bool) -> Mapping[str, Method | None]:
    """Two of one class are compared by the values of their fields, as tuples are; what may change has no hash."""
    names = [field.name for field in _fields(cls) if field.compare]
    values: Method = attrgetter(*names) if names else lambda _: ()

    def by(compare: Callable[[Any, Any], bool]) -> Method:
        return lambda one, other: compare(values(one), values(other)) if other.__class__ is cls else NotImplemented

    ordering = {f"__{each.__name__}__": by(each) for each in (lt, le, gt, ge)} if is_ordered else {}
    return {"__eq__": by(eq), "__hash__": (lambda one: hash(values(one))) if is_frozen else None, **ordering}


def _repr(self: object) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in _fields(type(self)) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__qualname__} is frozen: {name} stays as it is")


def _fields(cls: type) -> Sequence["dataclasses.Field[Any]"]:
    return dataclasses.fields(cls)


_FROZEN = {"__setattr__": _refuse, "__delattr__": _refuse}
