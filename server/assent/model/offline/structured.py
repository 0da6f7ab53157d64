"""A value that fits a JSON schema, for when the answer must be data: the words go where text is wanted."""

from typing import Any, cast

from assent.types.blocks import Json


def instance(schema: Json, words: str) -> Any:
    return _value(schema, words, cast("Json", schema.get("$defs") or {}), 0)


def _value(schema: Json, words: str, definitions: Json, depth: int) -> Any:
    if depth > 20:
        return None
    if "$ref" in schema:
        return _value(
            cast("Json", definitions.get(str(schema["$ref"]).split("/")[-1]) or {}), words, definitions, depth + 1
        )
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return cast("list[Any]", schema["enum"])[0]
    if "default" in schema:
        return schema["default"]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return _value(cast("list[Json]", schema[key])[0], words, definitions, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match cast("list[str]", kind)[0] if isinstance(kind, list) else kind:
        case "object":
            wanted = cast("list[str]", schema.get("required") or [])
            fields = cast("dict[str, Json]", schema.get("properties") or {})
            return {name: _value(fields.get(name, {}), words, definitions, depth + 1) for name in wanted}
        case "array":
            least = int(schema.get("minItems") or 0)
            inner = cast("Json", schema.get("items") or {})
            return [_value(inner, words, definitions, depth + 1) for _ in range(least)]
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            longest = schema.get("maxLength")
            return words[: int(longest)] if longest is not None else words
