"""What a turn is made of: the messages that `QueryEngine.submit` yields (Q5).

All are frozen and serialisable (see `codec`). Usage and stop reason of an answer are not known when its blocks are
yielded; they arrive later as an `AssistantFinal` and are merged by `message_id`.
"""

from typing import TYPE_CHECKING, Literal

from assent.types.blocks import Block, Json
from assent.types.usage import ModelUsage, Usage

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    from assent.types.late_dataclass import dataclass, field

ContinueReason = Literal[
    "next_turn",
    "max_output_tokens_escalate",
    "max_output_tokens_recovery",
    "reactive_compact_retry",
    "collapse_drain_retry",
    "stop_hook_blocking",
    "token_budget_continuation",
    "fallback_model_retry",
    "stream_retry",
    "pause_turn",
    "structured_output_retry",
]

TerminalReason = Literal[
    "completed",
    "max_turns",
    "aborted_streaming",
    "aborted_tools",
    "blocking_limit",
    "prompt_too_long",
    "image_error",
    "model_error",
    "refusal",
    "stop_hook_prevented",
    "hook_stopped",
    "token_budget_stop",
    "max_output_tokens_exhausted",
    "budget_usd",
]

ResultSubtype = Literal[
    "success",
    "error_during_execution",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_structured_output",
]


SnippedBy = Literal["user", "model", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInit:
    type: Literal["system/init"] = "system/init"
    session_id: str
    model: str
    cwd: str
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[Json, ...] = ()
    permission_mode: str = "default"
    key_source: str = "none"
    slash_commands: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStart:
    """One model call begins; `step_id` names the step, `transition` says why we looped (None on the first).

    `attempt` counts the tries of reasons that give up at some point, `committed` the collapses a drain put in place.
    """

    type: Literal["request_start"] = "request_start"
    step_id: str
    model: str
    transition: ContinueReason | None = None
    attempt: int = 0
    committed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A prompt, a batch of tool results, or a meta message that only the model reads."""

    type: Literal["user"] = "user"
    uuid: str
    content: tuple[Block, ...]
    timestamp: float = 0.0
    is_meta: bool = False
    is_replay: bool = False
    parent_tool_use_id: str | None = None

    @property
    def is_prompt(self) -> bool:
        """Whether the user said it."""
        return not self.is_meta and all(block.get("type") != "tool_result" for block in self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One closed content block of an answer. Blocks of one API message share `message_id`."""

    type: Literal["assistant"] = "assistant"
    uuid: str
    message_id: str
    content: tuple[Block, ...]
    model: str
    timestamp: float = 0.0
    error: str | None = None  # set on synthetic messages that surface a failure; never sent to the model
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantFinal:
    type: Literal["assistant_final"] = "assistant_final"
    message_id: str
    model: str
    usage: Usage
    stop_reason: str | None  # None: the answer broke off; its usage counts all the same
    cost_usd: float = 0.0
    context_tokens: int = 0
    stop_details: Json | None = None  # why a refusal was one, when the API says
    cleared_tool_uses: int = 0  # how many of the oldest results the endpoint took out of the model's view (C3)
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something the engine adds between steps; the model reads it as user content."""

    type: Literal["attachment"] = "attachment"
    uuid: str
    kind: str  # queued_message, task_notification, file_changed, diagnostics, memory, todo_reminder, plan_mode, hook …
    content: tuple[Block, ...]
    data: Json = field(default_factory=dict[str, object])
    timestamp: float = 0.0
    is_meta: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    type: Literal["tool_started"] = "tool_started"
    tool_use_id: str
    tool: str
    input: Json
    title: str
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress:
    type: Literal["tool_progress"] = "tool_progress"
    tool_use_id: str
    text: str
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """What an edit did to a file in the end, in lines."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """For people: the same call's result for the model is a tool_result block in a `UserMessage`."""

    type: Literal["tool_finished"] = "tool_finished"
    tool_use_id: str
    tool: str
    is_error: bool
    summary: str
    content: tuple[Block, ...]
    duration_ms: int
    changed: tuple[ChangedFile, ...] = ()
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseSummary:
    type: Literal["tool_use_summary"] = "tool_use_summary"
    text: str
    tool_use_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRan:
    type: Literal["hook"] = "hook"
    event: str
    outcome: Literal["running", "success", "blocked", "prevented", "error", "timeout"]
    text: str = ""
    hook_id: str = ""
    tool_use_id: str | None = None
    duration_ms: int | None = None
    exit_code: int | None = None
    changed: bool = False
    output: str = ""
    command: str = ""  # what ran, in one line
    source: str = ""  # the file that names it, with the line
    terminal_sequence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting:
    type: Literal["system/compacting"] = "system/compacting"
    trigger: Literal["auto", "manual", "reactive", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactBoundary:
    """The view of the model starts here; the transcript before it stays whole.

    `kept` are blocks shown to the model right after the summary: recent files, todos, plan, running tasks.
    """

    type: Literal["system/compact_boundary"] = "system/compact_boundary"
    uuid: str
    trigger: Literal["auto", "manual", "reactive", "server"]
    tokens_before: int
    tokens_after: int
    summary: str
    kept: tuple[Block, ...] = ()
    timestamp: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRetry:
    type: Literal["system/api_retry"] = "system/api_retry"
    attempt: int
    max_attempts: int
    delay_ms: int
    status: int | None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    type: Literal["system/heartbeat"] = "system/heartbeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Words for the user, not for the model."""

    type: Literal["system/notice"] = "system/notice"
    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """A raw partial, as the API sent it; only when `include_partial_messages` asks for them.

    `block_uuid` is the uuid the block's `AssistantMessage` will have when it closes.
    """

    type: Literal["stream_event"] = "stream_event"
    event: Json
    message_id: str = ""
    block_uuid: str = ""
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """These messages are withdrawn: consumers and the transcript drop them."""

    type: Literal["tombstone"] = "tombstone"
    message_uuids: tuple[str, ...]
    reason: ContinueReason | Literal["rewind", "snip"]
    # Of a snip (C2): the messages leave the model's view only.
    snip_id: str = ""
    by: SnippedBy = "model"
    tokens_freed: int = 0
    why: str = ""  # in words for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapsed:
    """The model sees these messages as a summary from now on; people still see them whole (C4)."""

    type: Literal["collapsed"] = "collapsed"
    message_uuids: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactSoon:
    """The conversation is near the mark at which it is summarised; once for each time it gets there."""

    type: Literal["system/compact_soon"] = "system/compact_soon"
    tokens: int
    threshold: int
    would_go: str  # in words for people


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxTurnsReached:
    type: Literal["max_turns_reached"] = "max_turns_reached"
    max_turns: int
    turn_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionDenial:
    tool_name: str
    tool_use_id: str
    tool_input: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Always the last message of a turn (Q3, Q6)."""

    type: Literal["result"] = "result"
    subtype: ResultSubtype
    is_error: bool
    terminal: TerminalReason
    result: str
    session_id: str
    structured_output: object = None
    stop_reason: str | None = None
    num_turns: int = 0
    duration_ms: int = 0
    duration_api_ms: int = 0
    total_cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    model_usage: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    permission_denials: tuple[PermissionDenial, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Session totals after one more report was counted (Q9). In the transcript only: the newest one counts, so that
    what was spent outlives a crash and a rebuild."""

    type: Literal["spent"] = "spent"
    total_cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    model_usage: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    task_budget_total: int | None = None
    task_budget_remaining: int | None = None
    open_calls: int = 0  # sent, and nothing reported yet
    unreported: int = 0  # calls that were open when a process died: what they cost is not known


ConversationMessage = UserMessage | AssistantMessage | Attachment | CompactBoundary
"""What the history holds; everything else is about the turn, not part of the conversation."""

Message = (
    SystemInit
    | RequestStart
    | UserMessage
    | AssistantMessage
    | AssistantFinal
    | Attachment
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ToolUseSummary
    | HookRan
    | Compacting
    | CompactBoundary
    | ApiRetry
    | Heartbeat
    | Notice
    | StreamEvent
    | Tombstone
    | Collapsed
    | MaxTurnsReached
    | CompactSoon
    | Spent
    | Result
)
