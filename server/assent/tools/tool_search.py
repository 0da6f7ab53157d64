"""ToolSearch: finds tools of MCP servers whose definitions are not in the request yet, and loads them (T9)."""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Block, text_block
from assent.types.mcp import McpAccess
from assent.types.permissions import Action

_NAMES = 100


class ToolSearchInput(Input, frozen=True):
    query: Annotated[
        str,
        Meta(min_length=1, description="Words to search for, or `select:name,name` for tools by their exact names."),
    ]
    max_results: Annotated[int, Meta(ge=1, le=50, description="How many tools to load at most.")] = 5


class ToolSearch(Tool[ToolSearchInput]):
    name: ClassVar[str] = "ToolSearch"
    input_type: ClassVar[type[Input]] = ToolSearchInput
    read_only: ClassVar[bool] = True
    timeout: ClassVar[float | None] = 30.0

    def __init__(self, access: McpAccess) -> None:
        self._access = access

    def description(self) -> str:
        return (
            "Search the tools of connected MCP servers and load those that match: they can be called from the next "
            "message on. Use it when the user's request needs a service that none of your tools reaches. Servers are "
            "listed in the system prompt. `select:mcp__server__tool` loads a tool whose name you know."
        )

    def concurrency_safe(self, input: ToolSearchInput) -> bool:
        return True

    def title(self, input: ToolSearchInput) -> str:
        return f"Search tools: {input.query}"

    def action(self, input: ToolSearchInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: ToolSearchInput, ctx: ToolContext) -> ToolOutput:
        found = await self._access.search(input.query, input.max_results)
        lines: list[str] = []
        if found.loaded:
            lines.append("Loaded; you can call these now:")
            lines += [f"- {spec.name}: {spec.description.strip().splitlines()[0][:200]}" for spec in found.loaded]
        else:
            lines.append("No tool matches.")
            names = [spec.name for spec in self._access.deferred()]
            if names:
                more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
                lines.append(f"There are: {', '.join(names[:_NAMES])}{more}")
        if found.missing:
            lines.append(f"Unknown: {', '.join(found.missing)}")
        if found.connecting:
            lines.append(f"Still connecting, search again later: {', '.join(found.connecting)}")
        for state in self._access.states():
            if state.status in ("failed", "needsAuth", "needsApproval"):
                lines.append(f"The server {state.name} cannot be used: {state.status}")
        count = len(found.loaded)
        # The model layer sends the references where the endpoint takes them, and the words where it does not.
        named: list[Block] = [{"type": "tool_reference", "tool_name": spec.name} for spec in found.loaded]
        content: list[Block] = [text_block("\n".join(lines)), *named]
        return ToolOutput(content=content, summary=f"{count} tool{'s' if count != 1 else ''} loaded")
