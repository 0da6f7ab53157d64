"""Permissions by request: what the chain would decide, the rules in force, and the answer to an open ask."""

from typing import Literal

from assent.wire.shapes import Id, Json, Mode, Name, Path, Wire

Behaviour = Literal["allow", "ask", "deny"]
Scope = Literal["once", "session", "project", "user"]


class RuleLists(Wire):
    allow: list[str] | None = None
    ask: list[str] | None = None
    deny: list[str] | None = None


class PermissionExplain(Wire):
    tool: Name
    input: Json
    cwd: Path
    mode: Mode | None = None
    trusted: bool | None = None
    rules: RuleLists | None = None


class Explained(Wire):
    decision: Behaviour
    step: str
    reason: str
    rule: str | None = None
    sandbox: str | None = None  # of a shell command: what would confine it


class PermissionRules(Wire):
    cwd: Path
    session_id: Id | None = None


class RuleInfo(Wire):
    rule: str
    behaviour: Behaviour
    scope: str  # user, project, local, session, editor, managed, …
    file: str
    withheld: str | None = None  # why it has no effect


class Rules(Wire):
    rules: list[RuleInfo]


class RemovedRule(Wire):
    rule: str
    behaviour: Behaviour
    file: str


class AddedRule(Wire):
    rule: str
    behaviour: Behaviour
    scope: Literal["user", "project", "local", "session"]


class PermissionEditRules(Wire):
    cwd: Path
    remove: list[RemovedRule] | None = None
    add: list[AddedRule] | None = None
    session_id: Id | None = None


class PermissionReply(Wire):
    """The answer to an ask from any client of the session, whether that client was asked or not."""

    ask_id: Id
    decision: Literal["allow", "deny"]
    scope: Scope | None = None
    rule: str | None = None
    message: str | None = None
