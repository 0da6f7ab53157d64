"""What a tool takes, as an endpoint accepts it. One schema that is none makes the endpoint refuse every request of a
session, so what is wrong in it is left out; the tool stays, and its server checks what it is sent."""

from functools import cache
from typing import Any, cast

Json = dict[str, Any]
_TABLES = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))


def mended(schema: Json) -> Json:
    """The schema itself when it is one (JSON Schema 2020-12), else what of it is. Slow: a few milliseconds."""
    if _valid(schema):
        return schema
    kept: Json = {}
    for key, value in schema.items():
        name = "prefixItems" if key == "items" and isinstance(value, list) else key  # as older drafts say it
        part = _part(name, value)
        if _valid({name: part}):
            kept[name] = part
    return kept if _valid(kept) else {}


def _part(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        parts = cast("Json", value)
        return {name: _schema(each) for name, each in parts.items()} if key in _TABLES else mended(parts)
    if isinstance(value, list) and any(isinstance(each, dict) for each in cast("list[Any]", value)):
        return [_schema(each) for each in cast("list[Any]", value)]
    return cast("Any", value)


def _schema(value: Any) -> Any:
    if isinstance(value, dict):
        return mended(cast("Json", value))
    return value if isinstance(value, bool) else {}


def _valid(schema: Json) -> bool:
    return _validator().is_valid(schema)


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # only where a server lists tools

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)
