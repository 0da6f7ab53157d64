"""The seams: protocols through which layers meet without importing each other.

The engine talks to a model, a workspace and a person only through these; `app.py` plugs the concrete ones in.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from assent.types.blocks import Block, Json
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    ConversationMessage,
    Heartbeat,
    Notice,
    StreamEvent,
)
from assent.types.permissions import Action, Mode, Verdict
from assent.types.tries import Tries

# --- the model -------------------------------------------------------------------------------------------------------

QuerySource = Literal[
    "main", "subagent", "compact", "collapse", "classifier", "hook", "title", "summary", "suggestion",
    "memory", "dream",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Which turn a model call belongs to, and how deep below it: for our log and traces, never sent.

    All calls that one prompt causes share `id`. Depth 0 is the conversation itself; a subagent's calls, and calls
    beside the conversation, are one deeper than what they came from.
    """

    id: str = ""
    session_id: str = ""
    depth: int = 0
    parent_tool_use_id: str | None = None  # the Agent call whose engine asks
    step_id: str = ""
    transition: str | None = None  # why the loop went round


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One model call. The model layer turns `messages` into API messages, cache marks included (M2, M6)."""

    model: str
    messages: tuple[ConversationMessage, ...]
    system: tuple[str, ...] = ()
    user_context: str = ""  # goes before the first user message; frozen, so the prefix stays byte-stable (Q8)
    tools: tuple[Json, ...] = ()  # API tool definitions, in a stable order
    tool_choice: Json | None = None
    max_tokens: int | None = None
    thinking: Json | None = None
    effort: str | None = None
    temperature: float | None = None
    task_budget_remaining: int | None = None
    task_budget_total: int | None = None
    context_edits: tuple[Json, ...] = ()
    fallback_model: str | None = None
    source: QuerySource = "main"
    foreground: bool = True
    persistent: bool = False
    whole: bool = False  # nobody looks at the answer before it is whole: one that breaks in the middle is tried again
    forked: bool = False  # no later request goes on from this one: what it adds is not written to the cache
    unshared: bool = False  # forked, and its messages do not begin as an earlier request's: the cache has none of them
    chain: Chain = field(default_factory=Chain)
    after: Tries | None = None  # the tries before this one, when the answer broke after some of it had been shown


ModelEvent = StreamEvent | AssistantMessage | AssistantFinal | ApiRetry | Heartbeat | Notice
CallModel = Callable[[ModelRequest], AsyncGenerator[ModelEvent, None]]
"""Yields partials, a message per closed block, then the final; raises `ModelError`. A cut stream never looks whole.

Exactly one `AssistantFinal` per API message that began. One with `stop_reason` None closes an answer that broke off:
count its usage; then either `StreamInterrupted` is raised (blocks had been shown), or the call goes on with a fresh
`message_start` (nothing had, or the request wants only a whole answer). A `Notice` is for the person: a silent
endpoint, fast mode cooling down.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What we must know of a model to use it. Prices are US dollars per million tokens."""

    id: str
    context_window: int = 200_000
    max_output_tokens: int = 64_000
    default_max_tokens: int = 8_000
    accepts_temperature: bool = True
    accepts_thinking: bool = True
    input_price: float = 0.0
    output_price: float = 0.0
    cache_write_price: float = 0.0
    cache_read_price: float = 0.0
    long_prompt_from: int = 0  # above this many prompt tokens all prices are multiplied; 0 = never
    long_prompt_factor: float = 1.0
    thinking_modes: frozenset[str] = frozenset({"adaptive", "enabled", "disabled", "between_tools"})
    accepts_effort: bool = True
    accepts_forced_tools: bool = True  # tool_choice any / tool
    accepts_fast_mode: bool = False
    accepts_tool_references: bool = False  # `defer_loading`, and results that name the tools they load
    binds_thinking: bool = False  # a thinking block is tied to the very messages before it


# --- files -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A text file as it is now: in the editor's buffer when it is open there, on disk otherwise.

    `text` keeps its line ends; encoding it with `encoding` after `bom` gives back the very bytes.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    sha256: str = ""  # of the bytes
    version: int | None = None  # the editor's, when the text came from a buffer
    mtime_ns: int = 0

    @property
    def from_buffer(self) -> bool:
        return self.version is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPlan:
    """A whole-file change, computed and checked but not made. `before` is None when it creates the file."""

    path: str
    before: FileText | None
    new_text: str
    tool: str
    tool_use_id: str
    reason: str = ""
    target: str = ""  # where links led when it was planned; the write is refused if they lead elsewhere by then
    others: "tuple[EditPlan, ...]" = ()  # the other files of the same change, each with a plan of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkOutcome:
    hunk_id: str
    state: str  # accepted, landed, edited, rejected, conflict
    new_text: str = ""  # the user's own words when edited


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOutcome:
    """What became of a plan. `report` is what the model is told of decisions ("2 of 3 hunks accepted …"), or empty."""

    path: str
    after: FileText | None
    hunks: tuple[HunkOutcome, ...] = ()
    report: str = ""
    diagnostics: str = ""  # only the new ones, in words
    others: "tuple[EditOutcome, ...]" = ()  # of the plan's other files, as far as they were reviewed too
    refused: str = ""  # nothing of it was accepted: what the model is told instead


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalEnd:
    """What became of a command in a client's terminal."""

    output: str
    truncated: bool
    timed_out: bool
    status: int | None
    signal: str | None


class TerminalClient(Protocol):
    """Terminals of the client. `run` gives None when the client has none: then nothing has run.

    `without` names variables of the client's environment that the command must not see.
    """

    async def run(
        self,
        script: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        without: Collection[str],
        tool_use_id: str,
        seconds: float,
        most: int,
    ) -> TerminalEnd | None: ...


class Workspace(Protocol):
    """Files as the user sees them. Open documents are read from and changed through the editor; others atomically."""

    async def read(self, path: str) -> FileText:
        """Raises ToolError for what is not a readable text file (directory, device, too large, unreadable)."""
        ...

    async def apply(self, plan: EditPlan) -> EditOutcome:
        """Make the change now. Raises ToolError when the file moved on."""
        ...

    async def save_barrier(self) -> str:
        """Save documents that hold landed agent hunks before a shell command; words for the model on what was not."""
        ...

    def unsaved(self) -> Mapping[str, str]:
        """By path, the texts that differ from what is on disk, as far as the editor tells: searches go by these."""
        ...


# --- people ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFolders:
    """Where an agent works that has a copy of the repository to itself: judged instead of the session's own folders."""

    cwd: str
    roots: tuple[str, ...]
    read_roots: tuple[str, ...] = ()  # may be looked at, besides


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call on its way to be judged: `plan` is there for edits, so the person can be shown the change itself."""

    tool_use_id: str
    action: Action
    title: str
    plan: EditPlan | None = None
    parent_tool_use_id: str | None = None
    hook_decision: Literal["allow", "ask", "defer"] | None = None  # of PreToolUse hooks, which have run
    hook_reason: str = ""
    for_hooks: Callable[[], Json] | None = None  # the input as hooks get it; None: the action's
    agent_type: str | None = None  # the name of the agent that calls
    mode: Mode | None = None  # of an agent that may do less than its session; None: the session's
    place: AgentFolders | None = None  # of an agent with a worktree of its own; None: the session's
    acted: Callable[[], None] = lambda: None  # told when part of it happens before the verdict: a hunk is accepted


CanUseTool = Callable[[ToolCall], Awaitable[Verdict]]
"""Decides one call, asking people if need be. An `Allow` with `updated_input` has been judged again from step 1."""

ReviewEdit = Callable[[ToolCall], Awaitable[EditOutcome | None]]
"""The stage after permission, for a call with a plan: what people made of it. None: the call makes the change."""


async def unreviewed(_call: ToolCall) -> None:
    """A `ReviewEdit` for those who have nobody to look at hunks: what is permitted is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """A question to the user; exactly one of questions, schema, url."""

    message: str
    questions: tuple[Json, ...] = ()
    schema: Json | None = None
    url: str | None = None
    server: str = ""  # the MCP server that asks; then `words` is what it said itself
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationAnswer:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict[str, Any])


HandleElicitation = Callable[[Elicitation], Awaitable[ElicitationAnswer]]


class EditorQueries(Protocol):
    """Questions to the user's own running language servers, through the client (T8)."""

    @property
    def encoding(self) -> str:
        """What columns count, asked and answered: "utf-16", "utf-8" or "utf-32"."""
        ...

    async def query(self, kind: str, params: Json) -> Json:
        """`{status, version?, value}` as in the protocol; status noServer when nobody can answer."""
        ...


# --- spilled output --------------------------------------------------------------------------------------------------


class SpillStore(Protocol):
    """Where tool output over its cap goes (C1). The same id always gives the same path."""

    @property
    def folder(self) -> Path:
        """Where all of it lies; need not exist yet."""
        ...

    def write(self, tool_use_id: str, text: str) -> str | None:
        """Where the text can be read, or None: the disk did not take it. Never raises for the disk's sake."""
        ...


ToolResultContent = str | list[Block]
