"""The wire as TypeScript: one file per module of `assent.wire`, and the names of all methods."""

import re
from types import ModuleType
from typing import Any, cast

from msgspec import inspect as shape

from assent.wire import events, methods
from assent.wire.generate.structs import (
    ALIASES,
    MODULES,
    Described,
    alias_of,
    described,
    is_any_event,
    structs_of,
    without_null,
)

HEAD = "// Written by `make protocol` from server/assent/wire. Do not edit.\n"
_HOMES = {
    "Json": "shapes",
    "Mode": "shapes",
    "Review": "shapes",
    "Effort": "shapes",
    "Level": "shapes",
    "AnyEvent": "events",
}


def files() -> dict[str, str]:
    """Name and text of every file, for vscode-extension/src/protocol."""
    return {f"{_name(module)}.ts": _module(module) for module in MODULES} | {"methods.ts": _methods()}


def index() -> str:
    exports = sorted(["methods", *(_name(module) for module in MODULES)])
    return f"{HEAD}\n/** The wire, as TypeScript. */\n" + "".join(
        f'export * from "./protocol/{name}";\n' for name in exports
    )


def _module(module: ModuleType) -> str:
    own = [described(struct) for struct in structs_of(module)]
    aliases = "".join(_alias(name) for name in ALIASES if _home(name) == _name(module))
    if _name(module) == "shapes":
        aliases = f"export type Json = Record<string, unknown>;\n{aliases}"
    body = "\n".join(_interface(struct) for struct in own)
    if module is events:
        names = "".join(f"\n  | {event.__name__}" for event in events.EVENTS)
        body += f"\nexport type AnyEvent ={names};\n"
    doc = (module.__doc__ or "").strip().splitlines()[0]
    imports = _imports(module, aliases + body)
    return f"{HEAD}\n/** {doc} */\n{imports}\n{aliases}{chr(10) if aliases else ''}{body}"


def _alias(name: str) -> str:
    values = cast("shape.LiteralType", shape.type_info(ALIASES[name])).values
    ordered = [value for value in ALIASES[name].__args__ if value in values]
    return f"export type {name} = {_literals(ordered)};\n"


def _interface(struct: Described) -> str:
    lines = [f"export interface {struct.name} {{"]
    if struct.doc:
        lines.insert(0, f"/** {' '.join(struct.doc.split())} */")
    if struct.tag is not None:
        lines.append(f'  type: "{struct.tag}";')
    for field in struct.fields:
        if field.comment:
            lines.append(f"  /** {field.comment} */")
        type = without_null(field.type) if field.optional else field.type
        lines.append(f"  {field.name}{'?' if field.optional else ''}: {type_name(type)};")
    return "\n".join([*lines, "}", ""])


def type_name(type: shape.Type) -> str:
    match type:
        case shape.StrType():
            return "string"
        case shape.BoolType():
            return "boolean"
        case shape.IntType() | shape.FloatType():
            return "number"
        case shape.NoneType():
            return "null"
        case shape.LiteralType():
            return alias_of(type.values) or _literals(type.values)
        case shape.StructType():
            return type.cls.__name__
        case shape.ListType():
            inner = type_name(type.item_type)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case shape.TupleType():
            return f"[{', '.join(type_name(item) for item in type.item_types)}]"
        case shape.DictType():
            value = type_name(type.value_type)
            return "Json" if value == "unknown" else f"Record<string, {value}>"
        case shape.UnionType():
            return "AnyEvent" if is_any_event(type) else " | ".join(type_name(each) for each in type.types)
        case _:
            return "unknown"


def _literals(values: Any) -> str:
    return " | ".join(f'"{value}"' for value in values)


def _imports(module: ModuleType, body: str) -> str:
    homes = {struct.__name__: _name(other) for other in MODULES for struct in structs_of(other)}
    homes |= {name: _home(name) for name in (*ALIASES, "Json", "AnyEvent")}
    used = set(re.findall(r"\b[A-Z]\w+", re.sub(r'/\*\*.*?\*/|"[^"]*"', "", body)))
    wanted: dict[str, list[str]] = {}
    for name in sorted(used):
        home = homes.get(name)
        if home is not None and home != _name(module):
            wanted.setdefault(home, []).append(name)
    return "".join(f'import type {{ {", ".join(names)} }} from "./{home}";\n' for home, names in sorted(wanted.items()))


def _methods() -> str:
    tables = [
        ("METHODS", "clientRequest", "What a client may request; `initialize` lists those the server serves."),
        ("SERVER_REQUESTS", "serverRequest", "What the server requests of the editor."),
        ("NOTIFICATIONS", "serverNotification", "What the server tells the editor."),
    ]
    return HEAD + "".join(_table(*each) for each in tables)


def _table(name: str, direction: str, doc: str) -> str:
    rows = "".join(f'  {key_of(row.name)}: "{row.name}",\n' for row in methods.METHODS if row.direction == direction)
    return f"\n/** {doc} */\nexport const {name} = {{\n{rows}}} as const;\n"


def key_of(method: str) -> str:
    first, *rest = method.removeprefix("assent/").split("/")
    return first + "".join(part[0].upper() + part[1:] for part in rest)


def _home(name: str) -> str:
    return _HOMES.get(name, "rules")


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
