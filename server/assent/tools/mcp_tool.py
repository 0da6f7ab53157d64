"""A tool of an MCP server, as one of ours (T9). It knows what the server said of itself and how to reach it."""

from typing import Any, ClassVar, cast

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.mcp import McpAccess, McpCall, McpToolSpec
from assent.types.permissions import Action

_SECONDS = 600.0


class McpTool(Tool[Input]):
    """Made from a spec. Its parsed input is the object the model sent; the server checks it against its own schema."""

    input_type: ClassVar[type[Input]] = Input

    def __init__(self, spec: McpToolSpec, access: McpAccess) -> None:
        self.spec = spec
        self._access = access
        own: Any = self  # these are the class's for other tools, and each server's own here
        own.name = spec.name
        own.max_result_chars = spec.max_result_chars
        own.timeout = spec.timeout or _SECONDS

    def description(self) -> str:
        return self.spec.description

    def input_schema(self) -> Json:
        return dict(self.spec.input_schema)

    def parse(self, raw: object) -> Input:
        if not isinstance(raw, dict):
            raise ToolError(f"Invalid input for {self.name}: expected an object")
        return cast("Input", raw)

    def title(self, input: Input) -> str:
        return f"{self.spec.title} ({self.spec.server})"

    def action(self, input: Input, *, cwd: str) -> Action:
        wanted = "the server wants a person to confirm each call" if self.spec.requires_person else ""
        return Action(tool=self.name, input=cast("Json", input), always_ask=wanted)

    async def call(self, input: Input, ctx: ToolContext) -> ToolOutput:
        result = await self._access.call(
            self.spec,
            cast("Json", input),
            McpCall(
                tool_use_id=ctx.tool_use_id,
                progress=ctx.progress,
                elicit=ctx.elicit,
                spill_folder=str(ctx.spill.folder) if ctx.spill is not None else "",
            ),
        )
        return ToolOutput(content=list(result.blocks), is_error=result.is_error, summary=result.summary)


class McpTools:
    """The tools a session's servers offer now. A tool whose definition did not change is the same object."""

    def __init__(self, access: McpAccess) -> None:
        self._access = access
        self._made: dict[str, McpTool] = {}

    def current(self) -> list[McpTool]:
        tools: list[McpTool] = []
        for spec in self._access.offered():
            known = self._made.get(spec.name)
            if known is None or known.spec != spec:
                known = self._made[spec.name] = McpTool(spec, self._access)
            tools.append(known)
        return tools

    def get(self, name: str) -> McpTool | None:
        """A tool by its name, on offer or not: for calls that people make themselves."""
        found = next((tool for tool in self.current() if tool.name == name), None)
        if found is None:
            spec = next((spec for spec in self._access.deferred() if spec.name == name), None)
            found = McpTool(spec, self._access) if spec is not None else None
        return found
