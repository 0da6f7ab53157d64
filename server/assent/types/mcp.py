"""Where the engine's tools meet MCP servers: what a server's tool is, and what can be asked of the servers.

`extensions/mcp` implements `McpAccess`; `tools/` turns each `McpToolSpec` into a tool. Neither imports the other.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from assent.types.blocks import Block, Json
from assent.types.ports import HandleElicitation


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolSpec:
    """One tool of a server, as it was accepted. Everything in it is the server's word: hints decide nothing."""

    server: str
    tool: str  # the server's own name for it
    name: str  # mcp__server__tool
    title: str
    description: str
    input_schema: Mapping[str, Any]
    requires_person: bool = False  # the server wants each call confirmed
    always_load: bool = False
    max_result_chars: int = 100_000
    timeout: float | None = None  # seconds
    tokens: int = 0  # what its definition costs in a request


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResult:
    blocks: Sequence[Block]
    is_error: bool = False
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCall:
    """What a call brings along: who can be asked, and where its output may be kept."""

    tool_use_id: str = ""
    progress: Callable[[str], None] = lambda _text: None
    elicit: HandleElicitation | None = None
    spill_folder: str = ""


Sample = Callable[[Json], Awaitable[Json]]
"""One `sampling/createMessage` of a server: its params → {text, model, stopReason} or {error}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpFound:
    """What a search for tools gave. `loaded` are in the next request's `tools`."""

    loaded: Sequence[McpToolSpec] = ()
    missing: Sequence[str] = ()  # names that were asked for exactly and do not exist
    connecting: Sequence[str] = ()  # servers that had not answered yet
    others: int = 0  # how many more tools there are


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerState:
    """One server for the model and for `system/init`."""

    name: str
    status: str
    instructions: str = ""
    tools: int = 0


class McpAccess(Protocol):
    """The servers of one session: which of their tools are on offer now, and how to use them."""

    def offered(self) -> Sequence[McpToolSpec]:
        """In a stable order: what was offered before keeps its place."""
        ...

    def deferred(self) -> Sequence[McpToolSpec]:
        """Known tools whose definitions are not on offer."""
        ...

    def states(self) -> Sequence[McpServerState]: ...

    async def search(self, query: str, most: int) -> McpFound: ...

    async def call(self, spec: McpToolSpec, arguments: Json, call: McpCall) -> McpResult:
        """Raises ToolError."""
        ...

    async def read_resource(self, server: str, uri: str, call: McpCall) -> McpResult:
        """Raises ToolError."""
        ...

    async def resources(self, server: str | None = None) -> Sequence[Json]:
        """{server, uri, name, description?, mimeType?}; connects servers that offer resources."""
        ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        """A prompt's text. Raises ToolError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPrompt:
    """A server's prompt, which people use as a command."""

    server: str
    name: str
    command: str  # mcp__server__prompt
    description: str = ""
    arguments: Sequence[Json] = field(default_factory=tuple[Json, ...])
