"""The wire described as plain data, so that other languages and documents can be held against it."""

from typing import Any

import msgspec

from assent.types.errors import ERROR_CODES
from assent.wire import methods
from assent.wire.events import EVENTS
from assent.wire.shapes import Wire

Fields = dict[str, dict[str, Any]]


def schema() -> dict[str, Any]:
    """Methods, events and error kinds; each field as `{optional, schema}`, where schema is JSON Schema."""
    return {
        "protocol": methods.PROTOCOL_VERSION,
        "requests": _methods("clientRequest"),
        "serverRequests": _methods("serverRequest"),
        "serverNotifications": _methods("serverNotification"),
        "events": {_tag(event): _fields(event) for event in EVENTS},
        "errors": dict(ERROR_CODES),
    }


def _methods(direction: methods.Direction) -> dict[str, Any]:
    return {row.name: _described(row) for row in methods.METHODS if row.direction == direction}


def _described(row: methods.Method) -> dict[str, Any]:
    described: dict[str, Any] = {"params": _fields(row.params), "errors": list(row.errors), "planned": row.planned}
    return described if row.result is None else {**described, "result": _fields(row.result)}


def _fields(struct: type[Wire]) -> Fields:
    (_,), components = msgspec.json.schema_components([struct], ref_template="#/{name}")
    described = components[struct.__name__]
    required = set(described.get("required", ()))
    return {
        name: {"optional": name not in required, "schema": _inline(field, components, frozenset({struct.__name__}))}
        for name, field in described.get("properties", {}).items()
        if name != "type" or not _is_event(struct)
    }


def _inline(value: Any, components: dict[str, Any], seen: frozenset[str]) -> Any:
    """Field schemas with their references written out: each stands on its own, whoever reads it."""
    if isinstance(value, dict):
        reference: Any = value.get("$ref")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] -- JSON
        if isinstance(reference, str):
            name = reference.removeprefix("#/")
            return {} if name in seen else _inline(components[name], components, seen | {name})
        # A schema's own title is a text; a property of that name has a schema.
        return {
            key: _inline(item, components, seen)
            for key, item in value.items()  # pyright: ignore[reportUnknownVariableType] -- JSON
            if key != "title" or not isinstance(item, str)
        }
    if isinstance(value, list):
        return [_inline(item, components, seen) for item in value]  # pyright: ignore[reportUnknownVariableType] -- JSON
    return value


def _is_event(struct: type[Wire]) -> bool:
    return struct in EVENTS


def _tag(event: type[Wire]) -> str:
    return str(event.__struct_config__.tag)
