"""The JSON schema of the settings, made from `structure`, and shipped as `settings.schema.json`.

Files are checked against the shipped copy: making it takes longer than reading it, and settings are read on the way to
the first prompt. `make settings` writes the copies; a test compares them with what `generated` gives.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import orjson

from assent.types.blocks import Json
from assent.types.hooks import EVENTS

FILE = Path(__file__).with_name("settings.schema.json")


@cache
def schema() -> Json:
    """The shipped schema."""
    return cast("Json", orjson.loads(FILE.read_bytes()))


def generated() -> Json:
    """The schema as the structures say it now."""
    import msgspec

    from assent.storage.settings.structure import OWN_ONLY, SettingsFile

    made = msgspec.json.schema(SettingsFile)
    definitions = cast("dict[str, Json]", made["$defs"])
    top = definitions.pop("SettingsFile")
    properties = cast("dict[str, Json]", top["properties"])
    group: Json = {"type": "array", "items": {"$ref": "#/$defs/HookGroup"}}
    hooks = {event: {**group, "description": words} for event, words in EVENTS.items()}
    properties["hooks"] = {
        "type": "object",
        "description": properties["hooks"]["description"],
        "properties": hooks,
        "additionalProperties": False,
    }
    for key in OWN_ONLY:
        properties[key]["description"] += " Never read from project files."
    for definition in definitions.values():
        _close(definition)
    orders = _choices(SettingsFile, {})
    for rule in _rules([*properties.values(), *definitions.values()]):
        if "enum" in rule:  # msgspec sorts them; people want them as they were written
            rule["enum"] = list(orders[frozenset(rule["enum"])])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Assent settings",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **properties},
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def rendered() -> bytes:
    return orjson.dumps(generated(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _choices(kind: Any, found: dict[frozenset[Any], tuple[Any, ...]]) -> dict[frozenset[Any], tuple[Any, ...]]:
    """The values of every Literal below a type, in their order."""
    if get_origin(kind) is Literal:
        found[frozenset(get_args(kind))] = get_args(kind)
    for inner in get_args(kind):
        _choices(inner, found)
    if isinstance(kind, type) and hasattr(kind, "__struct_fields__"):
        for inner in get_type_hints(kind, include_extras=True).values():
            _choices(inner, found)
    return found


def _rules(rules: Iterable[Json]) -> Iterator[Json]:
    for rule in rules:
        yield rule
        inner = [*cast("dict[str, Json]", rule.get("properties", {})).values(), rule.get("items")]
        inner += [rule.get("additionalProperties"), *cast("list[Json]", rule.get("anyOf", []))]
        yield from _rules(cast("Json", each) for each in inner if isinstance(each, dict))


def _close(definition: Json) -> None:
    """Keys that no structure has are mistakes."""
    definition.pop("title", None)
    definition.pop("required", None)
    definition["additionalProperties"] = False
    properties: Any = definition.get("properties", {})
    for name, value in cast("dict[str, Json]", properties).items():
        if name in ("hooks", "args", "env") and value.get("default") in ([], {}):
            value.pop("default")
