"""`dataclass` and `field` for many small frozen classes, of which a program uses few.

The decorator of the standard library compiles six functions for every class and imports `inspect`: for the thirty
messages that is four fifths of what `from assent.types import *` costs. Here a class gets its slots at once and its
methods when the first instance is made or somebody asks for its fields. What it then has is what
`dataclasses.dataclass(frozen=True, slots=True, kw_only=True)` makes; type checkers are shown that one.
"""

from collections.abc import Callable
from typing import Any

_FACTS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_METHODS = ("__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__", "__init__")
_FIRST = ("__init__", "__setstate__")  # one of them is called before anything else of an instance; the latter by pickle
_SIGNATURE = "__signature__"


class _Made:
    """The default of a field that is made anew for every instance."""

    def __init__(self, factory: Callable[[], object]) -> None:
        self.factory = factory


def field(*, default_factory: Callable[[], object]) -> Any:
    return _Made(default_factory)


def dataclass(*, frozen: bool, slots: bool, kw_only: bool) -> Callable[[type], type]:
    if not (frozen and slots and kw_only):
        raise TypeError("these classes are frozen, with slots and keywords only; others use dataclasses.dataclass")
    return _with_slots


def _with_slots(cls: type) -> type:
    fields = dict(cls.__annotations__)
    body = dict(cls.__dict__)
    defaults = {name: body.pop(name) for name in fields if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    slotted: type = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": tuple(fields)})
    later = _Later(slotted, fields, defaults)
    for name in (*_FACTS, _SIGNATURE):
        setattr(slotted, name, _Fact(later, name))
    for name in _FIRST:
        setattr(slotted, name, later.stand_in(name))
    return slotted


class _Later:
    """The methods of one class, to be made."""

    def __init__(self, cls: type, fields: dict[str, Any], defaults: dict[str, Any]) -> None:
        self.cls = cls
        self.fields = fields
        self.defaults = defaults

    def make(self) -> None:
        """Threads may come here together: what the second one sets is equal to what the first one set."""
        import dataclasses

        body: dict[str, Any] = {
            name: dataclasses.field(default_factory=value.factory) if isinstance(value, _Made) else value
            for name, value in self.defaults.items()
        }
        body |= {
            "__annotations__": self.fields,
            "__doc__": self.cls.__doc__ or "",
            "__qualname__": self.cls.__qualname__,
        }
        made = dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(type(self.cls.__name__, (), body))
        for name in (*_FACTS, *_METHODS):
            setattr(self.cls, name, made.__dict__[name])
        setattr(self.cls, _SIGNATURE, None)  # that of `__init__` counts from now on

    def stand_in(self, name: str) -> Callable[..., None]:
        def first(instance: object, *args: Any, **values: Any) -> None:
            self.make()
            getattr(self.cls, name)(instance, *args, **values)

        return first


class _Fact:
    """A class attribute that is made with the methods."""

    def __init__(self, later: _Later, name: str) -> None:
        self.later = later
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self.later.make()
        return self.later.cls.__dict__[self.name]
