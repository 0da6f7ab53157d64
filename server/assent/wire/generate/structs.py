"""The structs of the wire as generators see them: per module, in the order of the source, with types and comments."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, cast

import msgspec
from msgspec import inspect as shape

from assent.wire import asks, events, extensions, requests, results, roster, rules, shapes
from assent.wire.shapes import Wire

MODULES: tuple[ModuleType, ...] = (shapes, requests, asks, events, extensions, rules, roster, results)
ALIASES: dict[str, Any] = {
    "Mode": shapes.Mode,
    "Review": shapes.Review,
    "Effort": shapes.Effort,
    "Level": shapes.Level,
    "Behaviour": rules.Behaviour,
    "Scope": rules.Scope,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    type: shape.Type
    optional: bool  # may be left out
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    name: str
    doc: str
    tag: str | None  # an event's `type`
    fields: tuple[Field, ...]


def structs_of(module: ModuleType) -> list[type[Wire]]:
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Wire)]
    own = [struct for struct in found if struct.__module__ == module.__name__]
    return [struct for struct in own if struct not in (Wire, events.Event)]


def described(struct: type[Wire]) -> Described:
    info = cast("shape.StructType", shape.type_info(struct))
    comments = _comments(struct)
    own_fields = msgspec.structs.fields(struct)
    return Described(
        name=struct.__name__,
        doc=_doc(struct),
        tag=None if info.tag is None else str(info.tag),
        fields=tuple(
            Field(
                name=field.encode_name,
                type=field.type,
                optional=not field.required,
                comment=comments.get(own.name, ""),
            )
            for field, own in zip(info.fields, own_fields, strict=True)
        ),
    )


def without_null(type: shape.Type) -> shape.Type:
    """The type of a field that is simply left out when it has no value."""
    if not isinstance(type, shape.UnionType):
        return type
    kept = tuple(each for each in type.types if not isinstance(each, shape.NoneType))
    return kept[0] if len(kept) == 1 else shape.UnionType(types=kept)


def alias_of(literals: tuple[Any, ...]) -> str | None:
    """The name that the source gives this set of literals, if it has one."""
    for name, alias in ALIASES.items():
        if set(cast("shape.LiteralType", shape.type_info(alias)).values) == set(literals):
            return name
    return None


def is_any_event(type: shape.UnionType) -> bool:
    return len(type.types) == len(events.EVENTS)


def _doc(struct: type[Wire]) -> str:
    return inspect.cleandoc(struct.__doc__) if "__doc__" in vars(struct) and struct.__doc__ else ""


def _comments(struct: type[Wire]) -> dict[str, str]:
    """The comment behind each field, inherited fields included."""
    found: dict[str, str] = {}
    for cls in reversed(struct.__mro__):
        if cls.__module__.startswith("assent.wire"):
            found |= _module_comments(cls.__module__).get(cls.__name__, {})
    return found


@cache
def _module_comments(name: str) -> dict[str, dict[str, str]]:
    module = next(module for module in MODULES if module.__name__ == name)
    source = inspect.getsource(module)
    lines = source.splitlines()
    return {
        node.name: {field: comment for field, comment in _field_comments(node, lines) if comment}
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    }


def _field_comments(node: ast.ClassDef, lines: list[str]) -> Iterator[tuple[str, str]]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.end_lineno:
            rest = lines[statement.end_lineno - 1][statement.end_col_offset or 0 :]
            yield statement.target.id, rest.partition("#")[2].strip()
