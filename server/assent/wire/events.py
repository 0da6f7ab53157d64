"""Events of a session: one ordered, gap-free stream per session and epoch, each tagged by its `type`."""

from typing import Literal, get_args

from assent.wire.extensions import McpServerState
from assent.wire.shapes import Json, Level, Proposal, Range, Task, Todo, TurnResult, Wire


class Event(Wire, tag_field="type"):
    pass


class TurnStarted(Event, tag="turnStarted"):
    """The prompt, and what the engine's init message says of the session."""

    prompt: str | list[Json]
    message_id: str | None = None
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[Json] | None = None
    permission_mode: str | None = None
    key_source: str | None = None
    slash_commands: list[str] | None = None
    agents: list[str] | None = None


class StepStarted(Event, tag="stepStarted"):
    model: str | None = None
    transition: str | None = None


class TextDelta(Event, tag="textDelta"):
    block_id: str
    text: str


class ThinkingDelta(Event, tag="thinkingDelta"):
    block_id: str
    text: str


class ToolPreparing(Event, tag="toolPreparing"):
    tool_use_id: str
    tool: str


class ToolInputDelta(Event, tag="toolInputDelta"):
    tool_use_id: str
    partial_json: str


class ToolStarted(Event, tag="toolStarted"):
    tool_use_id: str
    tool: str
    input: Json
    title: str


class ToolProgress(Event, tag="toolProgress"):
    tool_use_id: str
    text: str  # how far it is, in place of what was told before: the last lines of its output


class ChangedFile(Wire):
    path: str
    added: int  # lines
    removed: int


class ToolFinished(Event, tag="toolFinished"):
    tool_use_id: str
    is_error: bool
    summary: str
    content: list[Json] | str
    duration_ms: int
    changed: list[ChangedFile] | None = None  # by an edit, as it was accepted


class ToolSummary(Event, tag="toolSummary"):
    text: str
    tool_use_ids: list[str] | None = None


class MessageEvent(Event, tag="message"):
    role: Literal["user", "assistant"]
    content: list[Json]
    id: str
    meta: Json | bool | None = None
    timestamp: float | None = None
    message_id: str | None = None  # the model's own, shared by all blocks of one answer
    model: str | None = None
    error: str | None = None
    kind: str | None = None  # of what was attached for the model


class Tombstone(Event, tag="tombstone"):
    message_ids: list[str]
    block_ids: list[str]
    reason: str | None = None


class Retrying(Event, tag="retrying"):
    attempt: int
    max_attempts: int
    delay_ms: int
    status: int | None
    error: str | None = None


class Heartbeat(Event, tag="heartbeat"):
    pass


class Compacting(Event, tag="compacting"):
    trigger: str


class Compacted(Event, tag="compacted"):
    trigger: str
    tokens_before: int
    tokens_after: int
    summary: str


class PermissionPending(Event, tag="permissionPending"):
    ask_id: str
    tool_use_id: str | None = None
    tool: str | None = None
    title: str | None = None
    reason: str | None = None
    step: str | None = None
    orphan: bool | None = None


class PermissionResolved(Event, tag="permissionResolved"):
    ask_id: str
    decision: str | None = None
    by: str | None = None
    tool: str | None = None
    title: str | None = None
    client: str | None = None  # which of several answered, by the name it gave itself


class ElicitationPending(Event, tag="elicitationPending"):
    elicit_id: str
    message: str | None = None


class ElicitationResolved(Event, tag="elicitationResolved"):
    elicit_id: str
    by: str | None = None
    client: str | None = None


class ToldDecision(Wire):
    """What was decided on one hunk; `newText` is the text that is there now, where it is not the proposed one."""

    hunk_id: str
    decision: Literal["accept", "reject", "edit", "reopen"]
    new_text: str | None = None


class EditProposed(Event, tag="editProposed"):
    proposal: Proposal


class EditUpdated(Event, tag="editUpdated"):
    proposal: Proposal


class EditResolved(Event, tag="editResolved"):
    proposal_id: str
    decisions: list[ToldDecision]
    proposal: Proposal | None = None  # as it is now


class MovedHunk(Wire):
    hunk_id: str
    range: Range


class EditMoved(Event, tag="editMoved"):
    """Only ranges changed; goes to clients that claim `client.editMoved` instead of editUpdated, at most 20 a second.
    Hunks that are not named stand where they stood."""

    proposal_id: str
    version: int | None
    hunks: list[MovedHunk]


class ReviewPending(Event, tag="reviewPending"):
    """An edit that needs no asking waits for its hunks, because review "before" was set."""

    proposal_id: str
    tool_use_id: str
    hunks: list[str]  # the ids of those to decide


class Todos(Event, tag="todos"):
    items: list[Todo]


class Tasks(Event, tag="tasks"):
    """The whole list that the agents of the session share, whenever it changed."""

    items: list[Task]


class PlanProposed(Event, tag="planProposed"):
    plan: str


class Hook(Event, tag="hook"):
    event: str
    outcome: str  # success, blocked, prevented, error, timeout; running: `text` says what a hook is doing
    text: str | None = None
    hook_id: str | None = None
    tool_use_id: str | None = None
    duration_ms: int | None = None
    exit_code: int | None = None
    changed: bool | None = None  # it changed the input, the output or the decision
    output: str | None = None  # what it printed, cut
    command: str | None = None  # what ran, in one line
    source: str | None = None  # the file that names the hook, with the line
    terminal_sequence: str | None = None  # titles, notifications and the bell, for a terminal that shows the session


class Snipped(Event, tag="snipped"):
    """Messages that the model no longer sees; people still do. `assent/session/unsnip` takes it back."""

    snip_id: str
    message_ids: list[str]
    tokens_freed: int
    by: Literal["user", "model", "auto"]
    reason: str | None = None  # why it was provably unneeded, where nobody asked for it


class CompactSoon(Event, tag="compactSoon"):
    """The context is nearly full; once per crossing of the threshold."""

    tokens: int
    threshold: int
    would_go: list[Json] | int | str  # what a compaction would take away


class McpChanged(Event, tag="mcpChanged"):
    servers: list[McpServerState]


class UsageEvent(Event, tag="usage"):
    input: int
    output: int
    cache_read: int
    cache_write: int
    context_tokens: int
    context_window: int
    cost_usd: float
    total_cost_usd: float | None = None


class Status(Event, tag="status"):
    state: Literal["idle", "running", "waiting", "compacting"]
    model: str | None = None
    mode: str | None = None


class Queued(Event, tag="queued"):
    client_message_id: str | None
    kept: bool | None = None  # stopped before its turn came: it starts only when it is sent again, by its id


class Dequeued(Event, tag="dequeued"):
    client_message_id: str | None


class MessageUnqueued(Event, tag="unqueued"):
    client_message_id: str


class Completed(Event, tag="completed"):
    client_message_id: str | None


class MaxTurnsReached(Event, tag="maxTurnsReached"):
    max_turns: int | None = None
    turn_count: int | None = None


class Job(Event, tag="job"):
    job_id: str
    command: str
    state: str
    exit_code: int | None = None
    tool_use_id: str | None = None  # the call it came from
    foreground: bool | None = None  # a turn waits for it


class Notice(Event, tag="notice"):
    level: Level
    text: str


class TurnFinished(Event, tag="turnFinished"):
    result: TurnResult


AnyEvent = (
    TurnStarted
    | StepStarted
    | TextDelta
    | ThinkingDelta
    | ToolPreparing
    | ToolInputDelta
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ToolSummary
    | MessageEvent
    | Tombstone
    | Retrying
    | Heartbeat
    | Compacting
    | Compacted
    | PermissionPending
    | PermissionResolved
    | ElicitationPending
    | ElicitationResolved
    | EditProposed
    | EditUpdated
    | EditResolved
    | EditMoved
    | ReviewPending
    | Todos
    | Tasks
    | PlanProposed
    | Hook
    | Snipped
    | CompactSoon
    | McpChanged
    | UsageEvent
    | Status
    | Queued
    | Dequeued
    | MessageUnqueued
    | Completed
    | MaxTurnsReached
    | Job
    | Notice
    | TurnFinished
)

EVENTS: tuple[type[Event], ...] = get_args(AnyEvent)


class SessionEvent(Wire):
    """The parameters of `assent/session/event`; `seq` counts from 1 without gaps, per session and epoch."""

    session_id: str
    seq: int
    event: AnyEvent
    turn_id: str | None = None
    step_id: str | None = None
    parent_tool_use_id: str | None = None
