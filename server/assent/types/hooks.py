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
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "PreCompact",
    "PostCompact",
    "Notification",
    "MessageDisplay",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "InstructionsLoaded",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreModelSwitch",
    "PostModelSwitch",
    "PostSampling",
]
"""Every event. `PostSampling` is for in-process hooks only; files cannot name it."""

EVENTS: dict[HookEvent, str] = {
    "PreToolUse": "Before a tool call is judged. May allow, deny, ask, or rewrite its input.",
    "PostToolUse": "After a tool call that succeeded. May add context or replace what the model reads.",
    "PostToolUseFailure": "After a tool call that failed.",
    "PostToolBatch": "After all calls of one answer, before the model is called again.",
    "PermissionRequest": "Before a person is asked. May answer instead.",
    "PermissionDenied": "After a call was denied by auto mode.",
    "UserPromptSubmit": "Before a prompt reaches the model. May block it or add context.",
    "UserPromptExpansion": "When a command or an MCP prompt was expanded. May block it.",
    "SessionStart": "When a session starts, resumes, is cleared, compacted or forked.",
    "SessionEnd": "When a session ends.",
    "Setup": "When a workspace is set up or maintained (`/init`).",
    "Stop": "Before a turn ends. May send the model back to work.",
    "StopFailure": "When a turn ends with an API error.",
    "SubagentStart": "When a subagent starts.",
    "SubagentStop": "Before a subagent ends. May send it back to work.",
    "TaskCreated": "When a task is created. May refuse it.",
    "TaskCompleted": "When a task is marked as completed. May refuse that.",
    "TeammateIdle": "Before a teammate goes idle. May send it back to work.",
    "PreCompact": "Before the conversation is compacted. May block that.",
    "PostCompact": "After the conversation was compacted.",
    "Notification": "When Assent notifies the user.",
    "MessageDisplay": "When an answer is displayed. May change what is displayed.",
    "Elicitation": "Before an MCP server's question reaches the user. May answer it.",
    "ElicitationResult": "Before an answer goes back to the MCP server. May change it.",
    "ConfigChange": "When a settings file changed. May block the change.",
    "InstructionsLoaded": "When an instruction file was loaded.",
    "CwdChanged": "When the working directory of the session changed.",
    "DirectoryAdded": "When a folder was added to the session.",
    "FileChanged": "When a watched file changed.",
    "WorktreeCreate": "When a worktree is needed. Prints its path.",
    "WorktreeRemove": "When a worktree is to be removed.",
    "PreModelSwitch": "Before the model of a session changes. May deny it.",
    "PostModelSwitch": "After the model of a session changed.",
}
"""The events that files may name, and when each fires."""

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
