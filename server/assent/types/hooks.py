"""Hooks as every layer sees them (H): what happened, and what a hook may answer.

Data and one port. Which hooks exist, and how they run, is the business of `extensions/hooks.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from assent.types.blocks import Json

HookEvent = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
    "PermissionDenied",
    "PostSampling",
    "TaskCompleted",
    "TeammateIdle",
    "Elicitation",
    "ElicitationResult",
    "InstructionsLoaded",
    "CwdChanged",
]

HookStatus = Literal["success", "blocked", "prevented", "error", "timeout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One event on its way to the hooks. `subject` is what matchers match: a tool name, a compaction trigger."""

    event: HookEvent
    session_id: str
    cwd: str
    subject: str = ""
    data: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """What one hook said.

    `blocked` stops the thing at hand and tells the model why; `prevented` ends the turn. An error or a timeout is
    shown and changes nothing. `decision` and `updated_input` are read for PreToolUse and PermissionRequest only.
    """

    status: HookStatus = "success"
    text: str = ""
    context: str = ""  # told to the model as an attachment
    decision: Literal["allow", "ask", "deny"] | None = None
    updated_input: Mapping[str, Any] | None = None
    name: str = ""


class Hooks(Protocol):
    def wants(self, event: HookEvent) -> bool:
        """Whether anything would run: asked before a payload is built, so that no hooks cost nothing."""
        ...

    async def run(self, call: HookCall) -> list[HookOutcome]:
        """Run all that match, in parallel. Never raises: a crash is an outcome."""
        ...


class NoHooks:
    def wants(self, event: HookEvent) -> bool:
        return False

    async def run(self, call: HookCall) -> list[HookOutcome]:
        return []
