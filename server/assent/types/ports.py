"""The seams: protocols through which layers meet without importing each other.

The engine talks to a model, a workspace and a person only through these; `app.py` plugs the concrete ones in.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
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


class Workspace(Protocol):
    """Files as the user sees them. Open documents are read from and changed through the editor; others atomically."""

    async def read(self, path: str) -> FileText:
        """Raises ToolError for what is not a readable text file (directory, device, too large, unreadable)."""
        ...

    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome:
        """Make the change, or finish the reviewed proposal that carries it. Raises ToolError when the file moved on."""
        ...

    async def save_barrier(self) -> str:
        """Save documents that hold landed agent hunks before a shell command; words for the model on what was not."""
        ...

    def unsaved(self) -> Mapping[str, str]:
        """By path, the texts that differ from what is on disk, as far as the editor tells: searches go by these."""
        ...


# --- people ----------------------------------------------------------------------------------------------------------


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
    mode: Mode | None = None  # of an agent that may do less than its session; None: the session's
    acted: Callable[[], None] = lambda: None  # told when part of it happens before the verdict: a hunk is accepted


CanUseTool = Callable[[ToolCall], Awaitable[Verdict]]
"""Decides one call, asking people if need be. An `Allow` with `updated_input` has been judged again from step 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """A question to the user; exactly one of questions, schema, url."""

    message: str
    questions: tuple[Json, ...] = ()
    schema: Json | None = None
    url: str | None = None


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
