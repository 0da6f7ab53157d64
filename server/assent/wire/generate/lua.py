"""The wire for Neovim: the names as a Lua table, and the shapes as LuaCATS annotations for the language server."""

from types import ModuleType

from msgspec import inspect as shape

from assent.wire import events, methods, shapes
from assent.wire.generate.structs import MODULES, Described, described, is_any_event, structs_of, without_null
from assent.wire.generate.typescript import key_of

HEAD = "-- Written by `make protocol` from server/assent/wire. Do not edit.\n"


def names() -> str:
    """lua/assent/protocol.lua: methods, events and modes by name."""
    tables = [
        ("requests", "clientRequest", "What a client may request; `initialize` lists those the server serves."),
        ("server_requests", "serverRequest", "What the server requests of the editor."),
        ("server_notifications", "serverNotification", "What the server tells the editor."),
    ]
    body = "".join(_table(*each) for each in tables)
    tags = "".join(f'  "{event.__struct_config__.tag}",\n' for event in events.EVENTS)
    modes = ", ".join(f'"{mode}"' for mode in shapes.Mode.__args__)
    return (
        f"{HEAD}local M = {{}}\n\nM.version = {methods.PROTOCOL_VERSION}\n{body}\n"
        f"--- The `type` of every event.\nM.events = {{\n{tags}}}\n\nM.modes = {{ {modes} }}\n\nreturn M\n"
    )


def annotations() -> str:
    """lua/assent/wire.lua: every shape as `assent.wire.Name`; nothing in it runs."""
    return f"{HEAD}---@meta\n" + "".join(_module(module) for module in MODULES)


def _module(module: ModuleType) -> str:
    text = "".join(_class(described(struct)) for struct in structs_of(module))
    if module is events:
        union = "|".join(f"assent.wire.{event.__name__}" for event in events.EVENTS)
        text += f"\n---@alias assent.wire.AnyEvent {union}\n"
    return text


def _class(struct: Described) -> str:
    lines = ["", *(f"--- {line}".rstrip() for line in struct.doc.splitlines()), f"---@class assent.wire.{struct.name}"]
    if struct.tag is not None:
        lines.append(f'---@field type "{struct.tag}"')
    for field in struct.fields:
        type = without_null(field.type) if field.optional else field.type
        comment = f" {field.comment}" if field.comment else ""
        lines.append(f"---@field {field.name}{'?' if field.optional else ''} {type_name(type)}{comment}")
    return "\n".join([*lines, ""])


def type_name(type: shape.Type) -> str:
    match type:
        case shape.StrType():
            return "string"
        case shape.BoolType():
            return "boolean"
        case shape.IntType():
            return "integer"
        case shape.FloatType():
            return "number"
        case shape.NoneType():
            return "vim.NIL"
        case shape.LiteralType():
            return "|".join(f'"{value}"' for value in type.values)
        case shape.StructType():
            return f"assent.wire.{type.cls.__name__}"
        case shape.ListType():
            inner = type_name(type.item_type)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case shape.TupleType():
            return f"{type_name(type.item_types[0])}[]"
        case shape.DictType():
            return f"table<string, {type_name(type.value_type)}>"
        case shape.UnionType():
            return "assent.wire.AnyEvent" if is_any_event(type) else "|".join(type_name(each) for each in type.types)
        case _:
            return "any"


def _table(name: str, direction: str, doc: str) -> str:
    rows = "".join(
        f'  {_snake(key_of(row.name))} = "{row.name}",\n' for row in methods.METHODS if row.direction == direction
    )
    return f"\n--- {doc}\nM.{name} = {{\n{rows}}}\n"


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
