"""Checks a settings file against the schema and names every key that is wrong.

One bad value never takes the good ones with it. The checker covers the part of JSON schema that `schema` uses; it is
ours because a schema library's import would be felt on the way to the first prompt, and none of them suggests a key.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, cast

from assent.storage.settings.schema import schema
from assent.types.blocks import Json

UNKNOWN = "is not a setting"


def problems(value: object, *, unknown: bool = True) -> list[tuple[str, str]]:
    """(key, what is wrong) for each wrong part; keys are dotted, the innermost wrong one is named.

    `unknown=False` passes keys that the schema does not have: files of other programs hold more than we read.
    """
    return list(_problems(value, schema(), "", unknown))


def _problems(value: object, rule: Json, path: str, unknown: bool) -> Iterator[tuple[str, str]]:
    rule = _resolved(rule)
    kinds = _kinds(rule)
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield path, f"must be {_words(kinds)}, not {_name(value)}"
        return
    if "enum" in rule and value not in rule["enum"]:
        yield path, f"must be one of {', '.join(map(str, rule['enum']))}"
    if isinstance(value, str) and len(value) < rule.get("minLength", 0):
        yield path, "must not be empty"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < rule.get("minimum", value):
            yield path, f"must be at least {rule['minimum']:g}"
        if "exclusiveMinimum" in rule and value <= rule["exclusiveMinimum"]:
            yield path, f"must be more than {rule['exclusiveMinimum']:g}"
    if isinstance(value, list) and "items" in rule:
        for index, item in enumerate(cast("list[object]", value)):
            yield from _problems(item, rule["items"], f"{path}[{index}]", unknown)
    if isinstance(value, dict):
        known = cast("dict[str, Json]", rule.get("properties", {}))
        rest: Any = rule.get("additionalProperties")
        for key, item in cast("dict[str, object]", value).items():
            name = f"{path}.{key}" if path else key
            if key in known:
                yield from _problems(item, known[key], name, unknown)
            elif isinstance(rest, dict):
                yield from _problems(item, cast("Json", rest), name, unknown)
            elif rest is False and unknown:
                yield name, _unknown(key, path, known)


def _unknown(key: str, path: str, known: dict[str, Json]) -> str:
    """What to write instead: a similar key here, the same key elsewhere, or the few keys there are."""
    names = [name for name in known if name != "$schema"]
    what = "is not a hook event" if path == "hooks" else UNKNOWN
    by_small_letters = {name.casefold(): name for name in names}
    near = get_close_matches(key.casefold(), by_small_letters, n=1, cutoff=0.6)
    if near:
        return f"{what}; did you mean `{by_small_letters[near[0]]}`?"
    if not path and (place := _elsewhere(key)):
        return f"{what}; did you mean `{place}`?"
    if path and len(names) <= 8:
        return f"{what}; `{path}` has {', '.join(f'`{name}`' for name in names)}"
    return what


def _elsewhere(key: str) -> str | None:
    """`allow` at the top of a file is meant as `permissions.allow`."""
    for parent in ("permissions", "sandbox", "backgroundCalls", "retention"):
        inner = _resolved(schema()["properties"][parent])
        if key in inner.get("properties", {}):
            return f"{parent}.{key}"
    return None


def _resolved(rule: Json) -> Json:
    """The definition that a `$ref` names; msgspec writes `allOf` around one that has a description."""
    for part in (rule, *cast("list[Json]", rule.get("allOf", []))):
        if "$ref" in part:
            return cast("Json", schema()["$defs"][part["$ref"].rpartition("/")[2]])
    return rule


def _kinds(rule: Json) -> list[str]:
    kinds = rule.get("type")
    if kinds is None and "anyOf" in rule:
        return [kind for part in cast("list[Json]", rule["anyOf"]) for kind in _kinds(_resolved(part))]
    return [kinds] if isinstance(kinds, str) else list(cast("list[str]", kinds or []))


def _is(value: object, kind: str) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
        case _:
            return True


def _words(kinds: list[str]) -> str:
    spoken = {"object": "an object", "array": "a list", "null": "null", "integer": "a whole number"}
    return " or ".join(spoken.get(kind, f"a {kind}") for kind in kinds)


def _name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
