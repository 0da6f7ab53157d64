"""Which forms of servers are shown to a person: flat ones of a size that a person can fill in."""

from typing import cast

import orjson

from assent.types.blocks import Json

MOST_FIELDS = 50
LARGEST_FORM = 64 * 1024  # bytes of JSON
LONGEST_QUESTION = 4000
_KINDS = frozenset({"string", "number", "integer", "boolean"})


def flat(schema: object) -> Json | None:
    """The schema of a form, or None when it is none that editors can show: its fields hold text, numbers, yes or no, or
    a choice."""
    if not isinstance(schema, dict):
        return None
    form = cast("Json", schema)
    fields = form.get("properties")
    if form.get("type", "object") != "object" or not isinstance(fields, dict):
        return None
    fields = cast("Json", fields)
    if len(fields) > MOST_FIELDS or len(orjson.dumps(form)) > LARGEST_FORM:
        return None
    required = form.get("required", [])
    if not isinstance(required, list):
        return None
    if not all(isinstance(name, str) and name in fields for name in cast("list[object]", required)):
        return None
    return form if all(_simple(field) for field in fields.values()) else None


def _simple(field: object) -> bool:
    if not isinstance(field, dict):
        return False
    field = cast("Json", field)
    if field.get("type") == "array":
        items = field.get("items")
        return isinstance(items, dict) and any(key in items for key in ("enum", "anyOf", "oneOf"))
    kind: object = field.get("type")
    if kind is not None and not isinstance(kind, str):
        return False  # several types at once
    return kind in _KINDS or any(key in field for key in ("enum", "oneOf"))
