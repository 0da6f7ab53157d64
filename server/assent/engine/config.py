"""Everything the engine is given (Q2). It fetches nothing itself: what it needs from outside is a field here.

`deps` is what a test replaces: the model call, compaction, clocks and ids. The other ports have defaults that do
nothing, so the smallest useful config is a model name, a cwd and a `call_model`.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio

from assent.context.microcompact import CACHE_SECONDS
from assent.engine.abort import Abort
from assent.engine.ownership import Owners
from assent.extensions.agents import AgentDefinition
from assent.extensions.auto_memory import AutoMemory
from assent.extensions.commands import Command
from assent.extensions.memory import MemorySource
from assent.tools.tool import AnyTool, Jobs, Mine, ReadMark, SessionState
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.hooks import Hooks, NoHooks
from assent.types.ids import new_id
from assent.types.messages import (
    Attachment,
    Collapsed,
    CompactBoundary,
    ConversationMessage,
    Message,
    Result,
    Spent,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Verdict
from assent.types.ports import (
    CallModel,
    CanUseTool,
    EditorQueries,
    EditOutcome,
    EditPlan,
    FileText,
    HandleElicitation,
    ModelInfo,
    ModelRequest,
    SpillStore,
    ToolCall,
    ToolResultContent,
    Workspace,
)
from assent.types.usage import Usage

Status = Literal["idle", "running", "waiting", "compacting"]
BackgroundCall = Literal["summary", "collapse", "suggestion", "memory", "dream"]


class Transcript(Protocol):
    """Where messages are kept. Storage implements it; a failed write is its own to retry and to tell."""

    def append(self, message: Message) -> None:
        """Queue one message, in order. Never blocks and never raises."""
        ...

    async def flush(self, *, durable: bool) -> None:
        """Return when everything queued is written; with `durable`, on the disk (fsync)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a summarising call gave (C5)."""

    text: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    call_model: CallModel
    compact: Callable[[ModelRequest], Awaitable[Summary]] | None = None  # None: `call_model` with the same prefix
    model_info: Callable[[str], ModelInfo] = lambda model: ModelInfo(id=model)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep  # how long idle is (L13)
    new_id: Callable[[], str] = new_id
    source_seconds: float = 0.25  # how long a turn waits for memory and system context, once a session (Q12)
    look_seconds: float = 1.0  # how long a step may look at the disk for what to tell (L11)


class NoTranscript:
    def append(self, message: Message) -> None: ...

    async def flush(self, *, durable: bool) -> None: ...


class NoWorkspace:
    """No files at all: for engines whose tools touch none."""

    async def read(self, path: str) -> FileText:
        raise ToolError(f"There is no workspace to read {path} from.")

    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome:
        raise ToolError(f"There is no workspace to change {plan.path} in.")

    async def save_barrier(self) -> str:
        return ""

    def unsaved(self) -> Mapping[str, str]:
        return {}


async def allow_everything(call: ToolCall) -> Verdict:
    """For engines whose tools are safe by construction, and for tests."""
    return Allow(step="consolidation", reason="nothing was asked for")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """What tools work with; handed on to them in their `ToolContext`."""

    workspace: Workspace = field(default_factory=NoWorkspace)
    roots: tuple[str, ...] = ()
    editor: EditorQueries | None = None
    jobs: Jobs | None = None
    spill: SpillStore | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    search_web: Callable[[str, list[str], list[str]], Awaitable[ToolResultContent]] | None = None
    summarise: Callable[[str, str], Awaitable[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """One MCP server as the engine sees it: its state for the user, its tools for the model."""

    name: str
    status: str = "connected"
    tools: tuple[AnyTool, ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBudget:
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanOutcome:
    """What became of an edit that was decided after its process had died, in words for the model."""

    text: str
    made: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanedPermission:
    """An ask whose process died before it was answered: re-presented once, then denied (Q11)."""

    tool_use_id: str
    tool: str
    input: Json
    outcome: Callable[[], Awaitable[OrphanOutcome]] | None = None  # the proposal lives on: wait for it, do not run


AttachmentSource = Callable[[], Awaitable[Sequence[Attachment]]]
"""Something that may have words for the model between steps: diagnostics, memory and skill hits. Started at each
step in the background; what has not settled by the next is not waited for (L11)."""

SnipReplay = Callable[
    [Tombstone | CompactBoundary, Sequence[ConversationMessage]], "Sequence[ConversationMessage] | None"
]
"""Told of each snip and each compaction, those of a resumed session included, with the whole history; may give back
the history to keep (headless hosts that need no scrollback drop what left the view), or None to keep it as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEngineConfig:
    deps: Deps
    cwd: str
    model: str
    session_id: str = field(default_factory=new_id)
    tools: Sequence[AnyTool] = ()
    commands: Sequence[Command] = ()
    mcp_clients: Sequence[McpClient] = ()
    agents: Sequence[AgentDefinition] = ()
    can_use_tool: CanUseTool = allow_everything
    get_app_state: Callable[[], SessionState] | None = None  # None: the engine keeps its own
    set_app_state: Callable[[Callable[[SessionState], SessionState]], None] | None = None
    initial_messages: Sequence[ConversationMessage] = ()
    snipped: frozenset[str] = frozenset()  # uuids that earlier snips took out of the view
    collapsed: Sequence[Collapsed] = ()  # what the view already shows as summaries
    restored: Result | None = None  # session totals as of the last result (Q6)
    spent: Spent | None = None  # the same as of the last call that was counted: a crash may have come between
    read_file_cache: dict[str, ReadMark] | None = None
    custom_system_prompt: str | None = None
    append_system_prompt: str | None = None
    fallback_model: str | None = None
    small_model: str | None = None
    thinking: Json | None = None
    effort: str | None = None
    max_tokens: int | None = None  # set by the caller: then the output cap is never escalated (L6)
    max_turns: int | None = None
    max_budget_usd: float | None = None
    task_budget: TaskBudget | None = None
    token_budget: int | None = None
    json_schema: Json | None = None
    verbose: bool = False
    replay_user_messages: bool = False
    include_partial_messages: bool = False
    handle_elicitation: HandleElicitation | None = None
    set_status: Callable[[Status], None] = lambda _status: None
    abort: Abort | None = None
    orphaned_permission: OrphanedPermission | tuple[OrphanedPermission, ...] | None = None
    snip_replay: SnipReplay | None = None
    interactive: bool = True
    waited_seconds: Callable[[], float] = lambda: 0.0  # for people, so far; it counts in no turn's duration
    bare: bool = False
    persist: bool = True

    services: ToolServices = field(default_factory=ToolServices)
    transcript: Transcript = field(default_factory=NoTranscript)
    hooks: Hooks = field(default_factory=NoHooks)
    memory: MemorySource | None = None
    system_context: Callable[[], Awaitable[str]] | None = None  # git status and the like, frozen at the first turn
    take_queued: Callable[[], Sequence[UserMessage]] | None = None  # what the user steered into the turn (L11)
    take_decisions: Callable[[Mine], Sequence[Attachment]] = lambda _mine: ()  # on edits whose calls have their results
    owners: Owners = field(default_factory=Owners)  # shared with subagents: whose call it was
    attachment_sources: Sequence[AttachmentSource] = ()
    background_calls: frozenset[BackgroundCall] = frozenset()  # opt-in, each kind by name (M10, L13)
    auto_memory: AutoMemory | None = None  # where `memory` and `dream` keep what they find (L13)
    ahead: int = 256  # how many messages a turn may be ahead of its consumer before it waits
    publish: Callable[[Message], None] = lambda _message: None  # what happens outside a turn
    cache_seconds: float = CACHE_SECONDS  # how long the endpoint keeps a prompt (C3)
    context_edits: tuple[Json, ...] = ()  # API-side context edits, where the endpoint offers them (C3)
    team: "Team | None" = None
    persistent: bool = False  # unattended: the model layer retries for ever (M4)
    key_source: str = "none"
    source: Literal["main", "subagent"] = "main"
    parent_tool_use_id: str | None = None
    on_spend: Callable[[str, Usage, float], None] | None = None  # a parent that counts what this engine spends


class Team(Protocol):
    """Team mode: the tasks this agent owns, for the TaskCompleted and TeammateIdle hooks (L13)."""

    def owned_tasks(self) -> Sequence[Mapping[str, Any]]:
        """The in-progress tasks this agent owns."""
        ...
