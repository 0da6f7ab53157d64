"""docs/protocol.md: the wire as a document one can implement a client from. Prose here, shapes from the structs."""

import json
from collections.abc import Iterable
from types import ModuleType
from typing import Any, cast

from msgspec import inspect as shape

from assent.types.errors import ERROR_CODES
from assent.wire import events, methods
from assent.wire.generate.examples import EXAMPLES
from assent.wire.generate.prose import DIAGRAMS, INTRODUCTION
from assent.wire.generate.structs import MODULES, Described, described, structs_of, without_null
from assent.wire.generate.typescript import type_name
from assent.wire.shapes import Wire

_WIDTH = 110
_TITLES: list[tuple[methods.Direction, str]] = [
    ("clientRequest", "Requests of the client"),
    ("serverRequest", "Requests of the server"),
    ("serverNotification", "Notifications of the server"),
]


def reference() -> str:
    parts = [INTRODUCTION, DIAGRAMS, _errors()]
    for direction, title in _TITLES:
        parts += [f"## {title}\n", *(_method(row) for row in methods.METHODS if row.direction == direction)]
    parts += ["## Events\n", _EVENTS, *(_struct(described(event), heading="###") for event in events.EVENTS)]
    parts += ["## Shapes\n", *(_struct(each, heading="###") for each in _shapes())]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


_EVENTS = """Each is the `event` of one `assent/session/event`, told apart by its `type`."""


def _method(row: methods.Method) -> str:
    params, result = EXAMPLES[row.name]
    lines = [f"### {row.name}", "", row.purpose + (" *Not served yet.*" if row.planned else ""), ""]
    lines += [f"Parameters: `{row.params.__name__}`", "", *_fields(described(row.params)), ""]
    if row.result is not None:
        lines += [f"Result: `{row.result.__name__}`", "", *_fields(described(row.result)), ""]
    if row.errors:
        lines += ["Errors: " + ", ".join(f"`{kind}`" for kind in row.errors), ""]
    lines += ["```json", _json(params), "```", ""]
    if row.result is not None:
        lines += ["answers", "", "```json", _json(result or {}), "```", ""]
    return "\n".join(lines)


def _struct(struct: Described, *, heading: str) -> str:
    name = struct.tag or struct.name
    lines = [f"{heading} {name}", ""]
    if struct.doc:
        lines += [" ".join(struct.doc.split()), ""]
    return "\n".join([*lines, *_fields(struct), ""])


def _fields(struct: Described) -> list[str]:
    if not struct.fields:
        return ["No fields."]
    rows = ["| field | type | |", "|---|---|---|"]
    for field in struct.fields:
        type = without_null(field.type) if field.optional else field.type
        name = f"`{field.name}`" + ("?" if field.optional else "")
        rows.append(f"| {name} | {_type(type)} | {field.comment.replace('|', chr(92) + '|')} |")
    return rows


def _type(type: shape.Type) -> str:
    return "`" + type_name(type).replace("|", "\\|") + "`"


def _shapes() -> Iterable[Described]:
    """Structs that are no method's own parameters or result, and no event."""
    named: set[type[Wire]] = {row.params for row in methods.METHODS}
    named |= {row.result for row in methods.METHODS if row.result is not None}
    return [described(struct) for module in MODULES for struct in _others(module, named)]


def _others(module: ModuleType, named: set[type[Wire]]) -> list[type[Wire]]:
    return [struct for struct in structs_of(module) if struct not in named and struct not in events.EVENTS]


def _errors() -> str:
    rows = "\n".join(f"| `{kind}` | {code} |" for kind, code in ERROR_CODES.items())
    words = "Every error has `data: {kind, hint}`; invalidParams adds the `path` of the wrong field."
    return f"## Errors\n\n{words}\n\n| kind | code |\n|---|---|\n{rows}\n"


def _json(value: Any, indent: int = 0) -> str:
    """JSON with what fits on one line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= _WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        rows = [f"{inner}{json.dumps(key)}: {_json(item, indent + 2)}" for key, item in items]
        return "{\n" + ",\n".join(rows) + f"\n{' ' * indent}}}"
    rows = [f"{inner}{_json(item, indent + 2)}" for item in cast("list[Any]", value)]
    return "[\n" + ",\n".join(rows) + f"\n{' ' * indent}]"
