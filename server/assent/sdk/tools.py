"""`@assent.tool`: a function with types becomes a tool the model can call.

The signature is the input: msgspec makes the JSON schema from it and checks every call against it. The docstring is
the description. What the function returns is the result: text, content blocks, or anything that can be JSON.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, overload

if TYPE_CHECKING:
    from assent.tools.tool import AnyTool

Function = Callable[..., Any]


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
        chosen = name or function.__name__
        if not chosen.replace("_", "").replace("-", "").isalnum() or len(chosen) > 64:
            raise ValueError(f"a tool's name has at most 64 letters, digits, _ and -, not {chosen!r}")
        words = description or inspect.getdoc(function) or ""
        if not words:
            raise ValueError(f"the tool {chosen} needs a description: give it a docstring")
        _fields(function)  # a signature that cannot be a schema is found now, not when the model calls it
        return SdkTool(function=function, name=chosen, description=words, read_only=read_only)

    return marked if function is None else marked(function)


def engine_tool(each: SdkTool) -> AnyTool:
    """The same tool as the engine runs it."""
    import json

    import msgspec

    from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
    from assent.types.errors import ToolError
    from assent.types.permissions import Action

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
                returned: Any = each.function(**given)
                if inspect.isawaitable(returned):
                    returned = await returned
            except ToolError:
                raise
            except Exception as error:
                raise ToolError(f"{type(error).__name__}: {error}") from error
            return ToolOutput(content=_content(returned))

    def _content(returned: Any) -> Any:
        if returned is None:
            return "Done."
        if isinstance(returned, str):
            return returned
        if isinstance(returned, list) and returned and all(isinstance(b, dict) and "type" in b for b in returned):  # pyright: ignore[reportUnknownVariableType]  # blocks as the API writes them
            return tuple(cast("list[Any]", returned))
        return json.dumps(msgspec.to_builtins(returned), ensure_ascii=False)

    return FunctionTool()


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
    """An in-process MCP server: the model sees its tools as `mcp__NAME__TOOL`."""
    if not name.replace("_", "").replace("-", "").isalnum():
        raise ValueError(f"a server's name has letters, digits, _ and -, not {name!r}")
    return SdkServer(name=name, tools=tuple(replace(each, name=f"mcp__{name}__{each.name}") for each in tools))
