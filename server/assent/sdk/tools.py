"""`@assent.tool`: a function with types becomes a tool the model can call.

The signature is the input: msgspec makes the JSON schema from it and checks every call against it. The docstring is
the description. What the function returns is the result: text, content blocks, or anything that can be JSON.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, overload

if TYPE_CHECKING:
    from assent.tools.tool import AnyTool

Function = Callable[..., Any]
LONGEST_NAME = 128  # that the endpoint takes
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # no other letters: the endpoint refuses them


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkTool:
    """A function and what the model is told of it. Calling it calls the function."""

    function: Function
    name: str
    description: str
    read_only: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@overload
def tool(function: Function, /) -> SdkTool: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, read_only: bool = False
) -> Callable[[Function], SdkTool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
) -> SdkTool | Callable[[Function], SdkTool]:
    """Mark a function, sync or async, as a tool. Works bare (`@tool`) and called (`@tool(name=…)`).

    `read_only` says that calls change nothing: they may be repeated and run beside others.
    """

    def marked(function: Function) -> SdkTool:
        if not callable(function):
            raise TypeError(f"a tool is made of a function, not of {function!r}")
        chosen = name or getattr(function, "__name__", type(function).__name__)
        if not _NAME.fullmatch(chosen):
            raise ValueError(f"a tool's name has at most 64 letters, digits, _ and -, not {chosen!r}")
        words = description or inspect.getdoc(function) or ""
        if not words:
            raise ValueError(f"the tool {chosen} needs a description: give it a docstring")
        fields = _fields(function)  # a signature that cannot be a schema is found now, not when the model calls it
        with contextlib.suppress(NameError):  # of a class that is defined further down; the client looks again
            _check_schema(chosen, fields)
        return SdkTool(function=function, name=chosen, description=words, read_only=read_only)

    return marked if function is None else marked(function)


def engine_tool(each: SdkTool) -> AnyTool:
    """The same tool as the engine runs it."""
    import json

    import msgspec

    from assent.sdk.own_functions import own
    from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
    from assent.types.errors import ToolError
    from assent.types.permissions import Action

    _check_schema(each.name, _fields(each.function))
    struct = msgspec.defstruct(
        f"{each.name}_input", _fields(each.function), bases=(Input,), kw_only=True, frozen=True, omit_defaults=True
    )

    class FunctionTool(Tool[Any]):
        name = each.name
        input_type = cast("type[Input]", struct)
        read_only = each.read_only
        timeout = None

        def description(self) -> str:
            return each.description

        def concurrency_safe(self, input: Any) -> bool:
            return each.read_only

        def action(self, input: Any, *, cwd: str) -> Action:
            return Action(tool=each.name, input=as_json(input), read_only=each.read_only)

        async def call(self, input: Any, ctx: ToolContext) -> ToolOutput:
            given = {name: getattr(input, name) for name in struct.__struct_fields__}
            try:
                returned: Any = await own(lambda values: each.function(**values), given)
                return ToolOutput(content=_content(returned))
            except ToolError:
                raise
            except Exception as error:
                raise ToolError(f"{type(error).__name__}: {error}") from error

    def _content(returned: Any) -> Any:
        if returned is None:
            return "Done."
        if isinstance(returned, str):
            return returned
        if isinstance(returned, list) and returned and all(isinstance(b, dict) and "type" in b for b in returned):  # pyright: ignore[reportUnknownVariableType]  # blocks as the API writes them
            return tuple(cast("list[Any]", returned))
        return json.dumps(msgspec.to_builtins(returned), ensure_ascii=False)

    return FunctionTool()


def _check_schema(name: str, fields: list[tuple[str, Any] | tuple[str, Any, Any]]) -> None:
    """Raises TypeError for a parameter whose type is no JSON: the model's request could not be made with it."""
    import msgspec

    for field in fields:
        try:
            msgspec.json.schema(field[1])
        except TypeError as error:
            why = str(error).splitlines()[-1]
            raise TypeError(f"{name}: the parameter {field[0]} cannot be an input: {why}") from None


def _fields(function: Function) -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    hints = typing.get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: {parameter} cannot be an input; name every parameter")
        kind = hints.get(parameter.name)
        if kind is None:
            raise TypeError(f"{function.__name__}: the parameter {parameter.name} needs a type")
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkServer:
    """Tools of a program under one name, as an MCP server would offer them; they run in this process."""

    name: str
    tools: tuple[SdkTool, ...]


def mcp_server(name: str, *, tools: Sequence[SdkTool]) -> SdkServer:
    """An in-process MCP server: under its key in `mcp_servers` the model sees its tools as `mcp__KEY__TOOL`."""
    _check_server_name(name)
    return SdkServer(name=name, tools=tuple(tools))


def tools_under(key: str, server: SdkServer) -> list[SdkTool]:
    """The server's tools by the names under which the model sees them, as with every other MCP server."""
    _check_server_name(key)
    named = [replace(each, name=f"mcp__{key}__{each.name}") for each in server.tools]
    if long := [each.name for each in named if len(each.name) > LONGEST_NAME]:
        raise ValueError(f"the endpoint takes names of at most {LONGEST_NAME} characters, not {long[0]!r}")
    return named


def _check_server_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a server's name has at most 64 letters, digits, _ and -, not {name!r}")
