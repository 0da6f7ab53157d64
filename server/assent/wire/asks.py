"""Requests from the server to the editor, each with a `requestId`, and the plain notifications beside them."""

from typing import Any, Literal

from assent.wire.requests import HunkDecision
from assent.wire.shapes import (
    Json,
    Position,
    Proposal,
    Question,
    Range,
    ShellCommand,
    Suggestion,
    Wire,
)


class PendingAsk(Wire):
    """An open permission ask, as `attach` lists it; the request that puts it to a client adds its `requestId`."""

    session_id: str
    turn_id: str
    ask_id: str
    tool_use_id: str
    tool: str
    input: Json
    title: str  # display text
    reason: str  # display text
    step: str
    suggestions: list[Suggestion]
    command: ShellCommand | None = None
    proposal: Proposal | None = None
    parent_tool_use_id: str | None = None
    orphan: bool | None = None  # its process ended before anyone answered; asked once more


class PermissionAsk(PendingAsk, kw_only=True):
    request_id: str


class PermissionAnswer(Wire):
    decision: Literal["allow", "deny"]
    scope: Literal["once", "session", "project", "user"] | None = None
    rule: str | None = None
    rules: list[str] | None = None  # several, saved together; goes before `rule`
    updated_input: Json | None = None
    hunks: list[HunkDecision] | None = None  # those not named are rejected; absent = all are accepted
    message: str | None = None
    interrupt: bool | None = None  # with deny: stop the whole turn
    mode: Literal["default", "acceptEdits"] | None = None  # with allow of ExitPlanMode: what the plan is carried out in


class PendingElicit(Wire):
    """An open question; exactly one of `questions`, `schema` and `url` is there."""

    session_id: str
    elicit_id: str
    message: str
    questions: list[Question] | None = None
    schema: Json | None = None
    url: str | None = None
    display: str | None = None  # of the url, where that is not the url itself


class Elicit(PendingElicit, kw_only=True):
    """`problems` and `given` are there when an answer did not fit the form: what is wrong by field, and that answer."""

    request_id: str
    problems: dict[str, str] | None = None
    given: Json | None = None


class ElicitAnswer(Wire):
    action: Literal["accept", "decline", "cancel"]
    content: Json | None = None


class EditorQuery(Wire):
    request_id: str
    kind: str
    timeout_ms: int
    uri: str | None = None
    position: Position | None = None
    range: Range | None = None
    version: int | None = None
    new_name: str | None = None
    query: str | None = None  # of symbols in the whole workspace
    settle_ms: int | None = None


class EditorAnswer(Wire):
    status: Literal["success", "starting", "noServer", "error"]
    value: Any = None
    version: int | None = None
    settled: bool | None = None
    message: str | None = None


class EditorSave(Wire):
    request_id: str
    uris: list[str]


class SaveFailure(Wire):
    uri: str
    message: str


class EditorSaved(Wire):
    saved: list[str]
    failed: list[SaveFailure]


class Withdrawn(Wire):
    request_id: str


class FolderTrust(Wire):
    uri: str
    trusted: bool
    withheld: list[str]


class Warning(Wire):
    kind: str
    text: str
    hint: str


class ServerStatus(Wire):
    state: Literal["idle", "running", "waiting", "compacting"]
    model: str
    offline: bool
    credentials: str
    trust: list[FolderTrust]
    warnings: list[Warning]
