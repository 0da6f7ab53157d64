"""The result of every `assent/*` request."""

from typing import Any, Literal

from msgspec import UNSET

from assent.wire.asks import PendingAsk, PendingElicit, Warning
from assent.wire.shapes import (
    AgentInfo,
    CommandInfo,
    Json,
    McpServer,
    ModelUsage,
    Proposal,
    Task,
    Todo,
    TurnResult,
    Wire,
)


class NewSession(Wire):
    session_id: str
    model: str
    mode: str
    tools: list[str]
    commands: list[CommandInfo]
    agents: list[AgentInfo]
    mcp_servers: list[McpServer]


class Sent(Wire):
    """`queued` at once; `result` instead when the send waited for the turn to end."""

    turn_id: str
    queued: bool | None = None
    result: TurnResult | None = None
    saved: bool | None = None  # false: the disk did not take the message yet


class Interrupted(Wire):
    interrupted: bool
    queued: list[str]


class Unqueued(Wire):
    unqueued: bool  # false: its turn has come, or there is no such message
    prompt: str | list[Json] | None = None  # as it was sent


class Snippet(Wire):
    """A few words around those of a search, on one line."""

    text: str
    ranges: list[tuple[int, int]]  # of the words in it: from, to, in UTF-16 code units
    role: Literal["user", "assistant", "tool"]
    message_id: str


class SessionInfo(Wire):
    session_id: str
    title: str
    updated_at: str | float
    turns: int
    cost_usd: float
    cwd: str
    branch: str | None
    running: bool
    snippet: str | None = None  # of a search: the words where they were said last
    snippets: list[Snippet] | None = None  # of a search: up to three such places, the best first


class Sessions(Wire):
    sessions: list[SessionInfo]
    next_cursor: str | None = None
    unread: int | None = None  # of a search: so many conversations are not in its index yet; ask again


class CutTurn(Wire):
    """A turn that the end of its process cut short; `assent/session/retry` plays it again."""

    turn_id: str
    message_id: str
    prompt: list[Json]


class WaitingMessage(Wire):
    client_message_id: str
    prompt: list[Json]
    steer: bool
    kept: bool | None = None  # starts only when it is sent again, by its id


class WaitingReview(Wire):
    """An edit that waits for its hunks without an ask; the event `reviewPending` without its tag."""

    proposal_id: str
    tool_use_id: str
    hunks: list[str]


class StoredMessage(Wire):
    """A message of the conversation: the event `message` without its tag, or `role` system where it was compacted."""

    role: Literal["user", "assistant", "system"]
    content: list[Json]
    id: str
    meta: Json | bool | None = None
    timestamp: float | None = None
    message_id: str | None = None  # the model's own, shared by all blocks of one answer
    model: str | None = None
    error: str | None = None
    kind: str | None = None  # of what was attached for the model; "compacted" with role system
    trigger: str | None = None  # with kind "compacted", and so are the next three
    tokens_before: int | None = None
    tokens_after: int | None = None
    summary: str | None = None
    parent_tool_use_id: str | None = None


class ShownEvent(Wire):
    """An event that people saw after a message of the page: a call's title, how it ended, an answer…"""

    event: Json  # without the fields that the messages hold themselves
    after: str | None = None  # a message's id; absent: before the first of the page


class ContextAndCost(Wire):
    context_tokens: int
    context_window: int
    cost_usd: float


class SnipState(Wire):
    """Messages that the model no longer sees. `by: "auto"`: they were provably unneeded, and `reason` says how."""

    snip_id: str
    message_ids: list[str]
    tokens_freed: int
    by: Literal["user", "model", "auto"]
    reason: str | None = None


class Attached(Wire):
    epoch: str
    last_seq: int
    reset: bool
    messages: list[StoredMessage]
    running: bool
    pending_asks: list[PendingAsk]
    pending_elicits: list[PendingElicit]
    proposals: list[Proposal]
    todos: list[Todo]
    mode: str
    model: str
    turn_id: str | None = None
    next_cursor: str | None = None
    title: str | None = None
    cwd: str | None = None
    queued: list[str] | None = None  # clientMessageIds
    queue: list[WaitingMessage] | None = None  # the same, in words
    interrupted: CutTurn | None = None
    damaged: int | None = None  # lines of the file that could not be read
    pending_reviews: list[WaitingReview] | None = None
    state: Literal["idle", "running", "waiting"] | None = None
    tasks: list[Task] | None = None  # that the agents share; absent: none
    shown: list[ShownEvent] | None = None
    usage: ContextAndCost | None = None
    snips: list[SnipState] | None = None  # in force: `session/unsnip` takes one back
    read_only: bool | None = None  # another process owns it, or a newer version wrote it: no events, no turns
    read_only_reason: str | None = None  # where it is not another process: why, in words for people


class Traced(Wire):
    """Turns as trees: `calls` of a turn are its model calls, `calls` of those the tools they called, and so on."""

    turns: list[Json]
    text: str  # the same for people


class Snip(Wire):
    snip_id: str
    tokens_freed: int


class Forked(Wire):
    session_id: str


class Exported(Wire):
    text: str


class Configured(Wire):
    model: str | None = None
    mode: str | None = None
    thinking: Any = None
    effort: str | None = None
    review: str | None = None


class FileChange(Wire):
    path: str
    change: str


class RewindConflict(Wire):
    path: str
    reason: str


class Rewound(Wire):
    files: list[FileChange]
    conflicts: list[RewindConflict]  # files that were left alone
    rewind_id: str | None = None  # rewind to it to undo the rewind
    prompt: list[Json] | None = None  # of the message that was taken back
    untracked: list[str] | None = None  # in words: what commands may have changed and nobody could look at


class ContextUsage(Wire):
    """Tokens by category, the window, and where automatic compaction would begin."""

    tokens: dict[str, int]
    window: int
    used: int
    auto_compact_at: int


class ModelCost(ModelUsage, kw_only=True):
    model: str


class Cost(Wire):
    """All that calls have reported so far counts, also while a turn runs."""

    total_cost_usd: float
    models: list[ModelCost]
    cache_share: float  # of all input tokens
    unreported: int | None = None  # calls that a crash cut off before they reported anything: they may have cost more


class ToolInfo(Wire):
    name: str
    description: str
    input_schema: Json
    read_only: bool | None = None


class Tools(Wire):
    tools: list[ToolInfo]


class ToolRan(Wire):
    content: list[Json]
    is_error: bool
    duration_ms: int


class Proposals(Wire):
    proposals: list[Proposal]


class Refused(Wire):
    hunk_id: str
    reason: str


class Resolved(Wire):
    proposal: Proposal
    refused: list[Refused] | None = None  # decisions that could not be carried out
    report: str | None = None  # what the model is told


class ModelChoice(Wire):
    id: str
    name: str
    source: Literal["endpoint", "known", "settings"]


class ModelChoices(Wire):
    models: list[ModelChoice]
    endpoint: str  # the address that was asked; empty when nobody was
    asked_at: float | None = None  # seconds since 1970
    error: str | None = None  # why the endpoint's list is missing or old


class CredentialsChecked(Wire):
    verdict: Literal["accepted", "refused", "unreachable", "unknown"]
    endpoint: str  # the address that was asked
    detail: str | None = None  # its own words


class CompletionItem(Wire):
    label: str
    insert_text: str
    kind: str
    detail: str


class Completions(Wire):
    items: list[CompletionItem]


class DocumentText(Wire):
    text: str
    language_id: str


class Trusted(Wire):
    trusted: bool


class TrustItem(Wire):
    kind: Literal["hook", "mcpServer", "env", "rule", "setting"]
    name: str
    value: str
    file: str
    dangerous: bool
    change: Literal["added", "changed"] | None = None  # since the folder was trusted
    was: str | None = None  # the value that was approved


class TrustState(Wire):
    trusted: bool
    hash: str
    items: list[TrustItem]
    changed: bool


class SettingsSource(Wire):
    path: str
    exists: bool


class Settings(Wire):
    settings: Json
    sources: list[SettingsSource]
    warnings: list[Warning]
    withheld: list[str] | None = None  # what trusting the folder would activate
    origins: dict[str, str] | None = None  # dotted key → the file that set it
    rules: list[Json] | None = None  # {rule, behaviour, scope, file}
    value: Any = UNSET  # of the key that was asked for
