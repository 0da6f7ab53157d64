"""The services of an engine: one object that the session creates and tools receive as their `ToolServices`.

Every field but `call_model` has a default that does nothing, so a test replaces only what it is about. What can
change while the engine lives is a function: tools, commands and agents are asked for at every request or turn, so
that MCP servers, skills and plugins may come and go.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import anyio

from assent.engine.abort import Abort
from assent.engine.agents.ownership import Owners
from assent.engine.agents.runs import AgentRuns
from assent.extensions.agents import AgentDefinition
from assent.extensions.auto_memory import AutoMemory
from assent.extensions.commands import SlashCommand
from assent.extensions.memory import MemorySource
from assent.storage.agent_logs import AgentLogs
from assent.tools.tool import AnyTool, Mine, SessionState, ToolServices
from assent.types.blocks import Json
from assent.types.hooks import ScopedHooks
from assent.types.ids import new_id
from assent.types.messages import (
    Attachment,
    CompactBoundary,
    ConversationMessage,
    Message,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Verdict
from assent.types.ports import (
    CallModel,
    CanUseTool,
    HandleElicitation,
    ModelInfo,
    ModelRequest,
    ReviewEdit,
    ToolCall,
    unreviewed,
)
from assent.types.usage import Book, Usage

Status = Literal["idle", "running", "waiting", "compacting"]


class Transcript(Protocol):
    """Where messages are kept. Storage implements it; it retries a failed write itself and reports it."""

    def append(self, message: Message) -> None:
        """Queue one message, in order. Never blocks and never raises."""
        ...

    async def flush(self, *, durable: bool) -> None:
        """Return when everything queued is written; with `durable`, on the disk (fsync)."""
        ...


class NoTranscript:
    def append(self, message: Message) -> None: ...

    async def flush(self, *, durable: bool) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSummary:
    """The result of a summarising call (C5)."""

    text: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """One MCP server as the engine sees it: its state for the user, its tools for the model."""

    name: str
    status: str = "connected"
    tools: tuple[AnyTool, ...] = ()
    instructions: str = ""


class OwnServers(Protocol):
    """MCP servers that are there for one agent alone, while it runs."""

    def beside(self, tools: Sequence[AnyTool], /) -> Sequence[AnyTool]:
        """The agent's tools: those it has anyway, and those of its servers."""
        ...

    def clients(self) -> Sequence[McpClient]: ...

    def problems(self) -> Sequence[str]:
        """The parts that cannot be used, as text for people."""
        ...


AttachmentSource = Callable[[], Awaitable[Sequence[Attachment]]]
"""Something that may have words for the model between steps: diagnostics, memory and skill hits. Started at each
step in the background; what has not settled by the next is not waited for (L11)."""

SnipReplay = Callable[
    [Tombstone | CompactBoundary, Sequence[ConversationMessage]], "Sequence[ConversationMessage] | None"
]
"""Called for each snip and each compaction, those of a resumed session included, with the whole history; may return
the history to keep (headless hosts that need no scrollback drop what left the view), or None to keep it as it is."""


async def allow_everything(call: ToolCall) -> Verdict:
    """For engines whose tools are safe by construction, and for tests."""
    return Allow(step="consolidation", reason="nothing was asked for")


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(ToolServices):
    # The model, the clock and the ids: what a test replaces.
    call_model: CallModel
    compact: Callable[[ModelRequest], Awaitable[CallSummary]] | None = None  # None: `call_model` with the same prefix
    model_info: Callable[[str], ModelInfo] = lambda model: ModelInfo(id=model)
    written_model: Callable[[str], str | None] = lambda name: name  # one that a file names; None: not to be had here
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep  # how long idle is (L13)
    new_id: Callable[[], str] = new_id
    source_seconds: float = 0.25  # how long the first turn waits for memory (Q12)
    context_seconds: float = 0.0  # and for the system context; later than that it arrives as an attachment
    look_seconds: float = 1.0  # how long a step may look at the disk for what to attach (L11)

    # What the model can use. Read for every request: a source may change between two of them.
    tools: Callable[[], Sequence[AnyTool]] = tuple
    mcp_clients: Callable[[], Sequence[McpClient]] = tuple
    commands: Callable[[], Sequence[SlashCommand]] = tuple
    agents: Callable[[], Sequence[AgentDefinition]] = tuple
    session_tools: Callable[[], Sequence[AnyTool]] | None = None  # what agents of agents get; None: this one's own
    session_agents: Callable[[], Sequence[AgentDefinition]] | None = None  # the same for the agents they may start
    agent_runs: AgentRuns | None = None  # shared with agents that have agents of their own; None: the engine keeps them
    agent_logs: AgentLogs | None = None  # where their conversations are kept; None: nowhere
    agent_memory: Callable[[AgentDefinition], Path | None] = lambda _agent: None  # the folder of its own notes
    agent_servers: Callable[[AgentDefinition], AbstractAsyncContextManager[OwnServers] | None] = lambda _agent: None
    """The MCP servers that an agent's own definition names, for one run of it; None where it names none."""
    skill_text: Callable[[str], str] | None = None  # the whole text of a skill; empty when there is none
    memory: MemorySource | None = None
    auto_memory: AutoMemory | None = None  # where `memory` and `dream` keep what they find (L13)
    system_context: Callable[[], Awaitable[str]] | None = None  # git status and the like, frozen at the first turn
    mentioned: Callable[[str], Awaitable[str | None]] | None = None  # the text of a mention that is no file (T9)
    attachment_sources: Sequence[AttachmentSource] = ()
    check_answer: Callable[[Json], None] | None = (
        None  # raises ValueError for structured output that only fits the schema
    )
    scoped_hooks: ScopedHooks | None = None  # for those of skills in use and of running agents

    # The session around it.
    can_use_tool: CanUseTool = allow_everything
    review_edit: ReviewEdit = unreviewed
    handle_elicitation: HandleElicitation | None = None
    transcript: Transcript = field(default_factory=NoTranscript)
    state: Callable[[], SessionState] | None = None  # None: the engine keeps its own
    set_state: Callable[[Callable[[SessionState], SessionState]], None] | None = None
    abort: Abort | None = None
    set_status: Callable[[Status], None] = lambda _status: None
    waited_seconds: Callable[[], float] = lambda: 0.0  # for people, so far; it counts in no turn's duration
    take_queued: Callable[[], Sequence[UserMessage]] | None = None  # what the user steered into the turn (L11)
    take_decisions: Callable[[Mine], Sequence[Attachment]] = lambda _mine: ()  # on edits whose calls have their results
    publish: Callable[[Message], None] = lambda _message: None  # what happens outside a turn
    require_model: Callable[[str], str] = lambda model: model  # of an alias too; NoCredentials where there is no key
    may_switch_model: Callable[[str], Awaitable[str]] | None = None  # why a command may not choose this model, or ""
    front_ended: Callable[[str], None] = lambda _agent_id: None  # an agent that was taken to the front has ended
    snip_replay: SnipReplay | None = None
    owners: Owners = field(default_factory=Owners)  # shared with subagents: whose call it was
    on_spend: Book | None = None  # a parent that counts what this engine spends
