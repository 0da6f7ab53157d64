"""Structured output by a type: its JSON schema for the engine, and the answer as a value of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from assent.types.blocks import Json


def schema_of(output: Any) -> Json | None:
    """The JSON schema of a type, or the schema itself. Raises TypeError for what cannot be an object."""
    if output is None:
        return None
    if isinstance(output, dict):
        return cast("Json", output)
    if hasattr(output, "model_json_schema"):  # a pydantic model, without importing pydantic
        return cast("Json", output.model_json_schema())
    import msgspec

    try:
        (schema,), components = msgspec.json.schema_components([output], ref_template="#/$defs/{name}")
    except TypeError as error:
        raise TypeError(f"output: {error}") from None
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    own: Json = dict(components.pop(name)) if name in components else schema
    if own.get("type") != "object":
        raise TypeError("output must be a type with fields: a dataclass, a TypedDict or a msgspec.Struct")
    if name and f"#/$defs/{name}" in str(components) + str(own):
        components[name] = dict(own)  # it refers to itself
    return {**own, "$defs": components} if components else own


def check_for(output: Any) -> Callable[[Json], None] | None:
    """What the schema of a type cannot say: its own conversion and validation. None where a schema was given."""
    if output is None or isinstance(output, dict):
        return None

    def check(answer: Json) -> None:
        try:
            value_of(output, answer)
        except Exception as error:
            raise ValueError(str(error) or type(error).__name__) from error

    return check


def value_of(output: Any, structured: object) -> object:
    """The answer as a value of the type it was asked for; data where a schema was given."""
    if structured is None or output is None or isinstance(output, dict):
        return structured
    if hasattr(output, "model_validate"):
        return cast("object", output.model_validate(structured))
    import msgspec

    return cast("object", msgspec.convert(structured, output))
