"""A form of an MCP server, filled in at the terminal: field by field, each asked for until its answer fits."""

from typing import cast

from assent.cli.chat import render
from assent.cli.chat.terminal import Terminal
from assent.extensions.mcp.form_answers import choices, field_value
from assent.types.blocks import Json

_YES_NO = {"y": True, "yes": True, "true": True, "1": True, "n": False, "no": False, "false": False, "0": False}


async def fill(terminal: Terminal, schema: Json, problems: Json) -> Json:
    """`problems` are those of an answer that did not fit. No more input is a cancel."""
    content: Json = {}
    required = cast("list[str]", schema.get("required", []))
    for name, field in cast("dict[str, Json]", schema.get("properties", {})).items():
        if problem := problems.get(name):
            terminal.line(terminal.palette.paint("red", f"  {render.visible(f'{name}: {problem}')}"))
        while True:
            typed = await _typed(terminal, name, field, required=name in required)
            if typed is None:
                return {"action": "cancel"}
            if not typed and "default" in field:
                content[name] = field["default"]
                break
            if not typed and name not in required:
                break
            value, problem = field_value(field, _read(typed, field)) if typed else (None, "it is required")
            if not problem:
                content[name] = value
                break
            terminal.line(terminal.palette.paint("red", f"  {render.visible(problem)}"))
    return {"action": "accept", "content": content}


async def _typed(terminal: Terminal, name: str, field: Json, *, required: bool) -> str | None:
    label = str(field.get("title") or name)
    if field.get("description"):
        terminal.line(f"  {render.visible(label)}: {render.visible(str(field['description']))}")
    options = _options(field)
    for number, option in enumerate(options, start=1):
        terminal.line(f"    {number}. {render.visible(option)}")
    hint = "numbers, with commas" if field.get("type") == "array" else "a number" if options else ""
    hint = "yes or no" if field.get("type") == "boolean" else hint
    notes = [hint] if hint else []
    if "default" in field:
        notes.append(f"Enter: {_shown(field)}")
    elif not required:
        notes.append("Enter skips it")
    words = f" ({'; '.join(notes)})" if notes else ""
    typed = await terminal.ask(f"  {render.visible(label)}{render.visible(words)}: ")
    return None if typed is None else typed.strip()


def _options(field: Json) -> dict[str, object]:
    return choices(cast("Json", field.get("items") or {}) if field.get("type") == "array" else field)


def _shown(field: Json) -> str:
    """The default as people read it."""
    values: object = field["default"]
    names = {str(value): name for name, value in _options(field).items()}
    if isinstance(values, bool):
        return "yes" if values else "no"
    many = cast("list[object]", values) if isinstance(values, list) else [values]
    return ", ".join(names.get(str(each), str(each)) for each in many)


def _read(typed: str, field: Json) -> object:
    """What the typed text stands for; where it stands for nothing, the text, which does not fit."""
    kind, options = field.get("type"), list(_options(field).values())
    if kind == "array":
        return [_option(part, options) for part in typed.replace(",", " ").split()]
    if options:
        return _option(typed, options)
    if kind == "boolean":
        return _YES_NO.get(typed.lower(), typed)
    try:
        return int(typed) if kind == "integer" else float(typed) if kind == "number" else typed
    except ValueError:
        return typed


def _option(typed: str, options: list[object]) -> object:
    if typed.isdecimal() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    return next((each for each in options if str(each) == typed), typed)
