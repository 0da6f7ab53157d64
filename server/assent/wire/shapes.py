"""Shapes that several methods share, and the base every struct of the wire derives from."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Json = dict[str, Any]

Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"]
Review = Literal["before", "after", "off"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
Level = Literal["info", "warning", "error"]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Id = Annotated[str, Meta(min_length=1, max_length=256)]
Name = Annotated[str, Meta(min_length=1, max_length=512)]
Path = Annotated[str, Meta(min_length=1, max_length=8192)]
Uri = Annotated[str, Meta(min_length=1, max_length=8192)]


class Wire(Struct, rename="camel", omit_defaults=True):
    """Camel case on the wire; unknown fields are ignored, so a newer client may say more than we know."""


class Empty(Wire):
    pass


class Position(Wire, omit_defaults=False):
    line: Count
    character: Count


class Range(Wire, omit_defaults=False):
    start: Position
    end: Position


class Location(Wire):
    uri: Uri
    range: Range


class CommandInfo(Wire):
    name: str
    description: str
    argument_hint: str | None = None
    source: str | None = None  # the file that defines it; None for a built-in one


class AgentInfo(Wire):
    name: str
    description: str


class McpServer(Wire):
    name: str
    status: str


class Todo(Wire):
    id: str
    content: str
    active_form: str
    status: str


class Task(Wire):
    """One of the tasks that the agents of a session share."""

    id: str
    subject: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]
    description: str | None = None
    owner: str | None = None  # the id of an agent, or "main"; absent: nobody's yet


class Hunk(Wire):
    hunk_id: str
    range: Range
    old_text: str
    new_text: str
    state: Literal["pending", "landed", "accepted", "edited", "rejected", "reverted", "conflict", "superseded"]
    open: bool | None = None  # a decision is still possible; always sent
    placed: str | None = None  # what stands in the file instead of newText
    why: str | None = None  # of a conflict
    old_display: str | None = None  # display text of oldText, where that is not oldText itself
    new_display: str | None = None  # display text of newText, likewise


class Proposal(Wire):
    proposal_id: str
    uri: str
    version: int | None
    base_hash: str
    hunks: list[Hunk]
    tool: str
    reason: str
    session_id: str | None = None
    turn_id: str | None = None
    tool_use_id: str | None = None
    review: Review | None = None
    creates: bool | None = None


class Usage(Wire):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    web_search_requests: int


class ModelUsage(Usage, kw_only=True):
    cost_usd: float


class PermissionDenial(Wire):
    tool_name: str
    tool_use_id: str
    tool_input: Json


class TurnResult(Wire):
    """What a turn came to; the last word of `turnFinished` and of a waiting send."""

    subtype: Literal[
        "success",
        "error_during_execution",
        "error_max_turns",
        "error_max_budget_usd",
        "error_max_structured_output",
    ]
    is_error: bool
    result: str
    terminal: str
    stop_reason: str | None
    num_turns: int
    duration_ms: int
    duration_api_ms: int
    total_cost_usd: float
    usage: Usage
    model_usage: dict[str, ModelUsage]
    permission_denials: list[PermissionDenial]
    session_id: str
    structured_output: Any = None


class Suggestion(Wire):
    """A rule that would cover this call from now on; `rule` goes back as it is, or `rules` where there are some."""

    rule: str
    scope: Literal["once", "session", "project", "user"]
    covers: str  # display text
    display: str | None = None  # of the rule, or of all of them, where that is not the rule itself
    rules: list[str] | None = None  # of a line of several commands: one for each of them; `rule` is the first


class CommandPart(Wire):
    argv: list[str]
    decision: Literal["allow", "ask", "deny"]
    display: str | None = None  # of the words, joined by spaces


class ShellCommand(Wire):
    text: str  # as it runs
    parts: list[CommandPart]
    display: str | None = None  # as people read it


class Option(Wire):
    label: str  # goes back as it is
    description: str | None = None
    display: str | None = None  # of the label, where that is not the label itself


class Question(Wire):
    id: str
    header: str
    question: str
    multi_select: bool
    options: list[Option]
    allow_other: bool
