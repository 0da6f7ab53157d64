"""What the permission chain is asked and what it answers (P)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"]
MODES: tuple[Mode, ...] = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto")

Step = Literal[
    "exists", "enabled", "policy", "sandbox", "readOnly", "rules", "mode", "ironGate", "tool", "consolidation"
]
Scope = Literal["once", "session", "project", "user"]
RuleSource = Literal["user", "project", "local", "editor", "cli", "session", "policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One tool call as the permission chain sees it. The tool fills it in from its validated input.

    Paths are as the model wrote them; the chain resolves them against `cwd`, both link and target.
    """

    tool: str
    input: Mapping[str, Any]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str | None = None
    url: str | None = None
    read_only: bool = False  # touches nothing but what `reads` names
    harmless: bool = False  # acts only inside the session (todo list, questions): needs no asking
    always_ask: str = ""  # a reason this very call needs a person (leaving plan mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPart:
    """One simple command inside a shell line, and what was thought of it alone."""

    argv: tuple[str, ...]
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A rule the user could save with the answer, and what it would cover, in words.

    `rules` names all of them where one answer saves several: each command of a line needs its own. `rule` is then the
    first, for fronts that know only one.
    """

    rule: str
    scope: Scope
    covers: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    step: Step
    reason: str
    rule: str | None = None
    updated_input: Mapping[str, Any] | None = None
    message: str = ""  # what the user said with the answer, told to the model
    fenced: bool = False  # our reader's table judged the command: it runs inside the fence, or not at all
    decision: Literal["allow"] = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    step: Step
    reason: str
    rule: str | None = None
    title: str = ""
    parts: tuple[CommandPart, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    iron: bool = False  # the iron gate: no hook, rule, classifier or mode may answer it
    decision: Literal["ask"] = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    step: Step
    reason: str
    rule: str | None = None
    interrupt: bool = False  # the user wants the whole turn to stop
    decision: Literal["deny"] = "deny"


Decision = Allow | Ask | Deny
Verdict = Allow | Deny
"""A decision after everyone who could be asked has answered."""
