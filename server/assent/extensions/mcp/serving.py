"""The other direction: tools of ours for other agents, over stdio in either era of the protocol.

Which tools there are and what a call does comes from outside; this is the protocol's side alone. The SDK is loaded when
serving begins, which is all this process does.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

from assent.types.blocks import Json

if TYPE_CHECKING:
    import mcp_types as types

INSTRUCTIONS = (
    "The tools of the user's own editor, by Assent. Answers come from the user's running language servers and "
    "unsaved buffers. A rename is a proposal that the user reviews; nothing is changed without them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    name: str
    title: str
    description: str
    input_schema: Json
    read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    text: str
    is_error: bool = False
    structured: Json = field(default_factory=dict[str, Any])


Call = Callable[[str, Json], Awaitable[Answer]]


async def serve(tools: Sequence[ServedTool], call: Call) -> None:
    """Until stdin ends."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    offered = [_tool(tool) for tool in tools]
    known = {tool.name for tool in tools}

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=offered)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in known:
            return _result(Answer(text=f"There is no tool {params.name}", is_error=True))
        return _result(await call(params.name, dict(params.arguments or {})))

    server = Server(
        "assent",
        version=metadata.version("assent-lsp"),
        title="Assent: the editor's tools",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _tool(tool: ServedTool) -> "types.Tool":
    import mcp_types as types

    hints = types.ToolAnnotations(title=tool.title, read_only_hint=tool.read_only, destructive_hint=False)
    schema: Mapping[str, Any] = tool.input_schema
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=dict(schema), annotations=hints
    )


def _result(answer: Answer) -> "types.CallToolResult":
    import mcp_types as types

    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=answer.structured or None,
        is_error=answer.is_error,
    )
