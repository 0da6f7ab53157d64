"""Hooks as every layer sees them (H): what happened, and what a hook may answer.

Data and one port. Which hooks exist, and how they run, is the business of `extensions/hooks/`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from assent.types.blocks import Json
from assent.types.messages import HookRan

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
PermissionDecision = Literal["allow", "ask", "defer", "deny"]
STRICTEST_FIRST: tuple[PermissionDecision, ...] = ("deny", "defer", "ask", "allow")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One event on its way to the hooks. `subject` is what matchers match: a tool name, a compaction trigger."""

    event: HookEvent
    session_id: str
    cwd: str
    subject: str = ""
    data: Json = field(default_factory=dict[str, Any])
    tool_use_id: str | None = None
    agent_id: str | None = None  # of the subagent in which it happens
    agent_type: str | None = None
    detached: bool = False  # the caller has no stream of messages: the runner publishes each run itself


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """What one hook answered.

    `blocked` stops the thing at hand and tells the model why; `prevented` ends the turn. An error or a timeout is
    shown and changes nothing. `decision` and `updated_input` are read for PreToolUse and PermissionRequest only.
    """

    status: HookStatus = "success"
    text: str = ""
    context: str = ""  # given to the model as an attachment
    decision: PermissionDecision | None = None
    updated_input: Mapping[str, Any] | None = None
    name: str = ""
    system_message: str = ""  # shown to the user
    specific: Mapping[str, Any] = field(default_factory=dict[str, Any])  # `hookSpecificOutput`, as it was printed
    hook_id: str = ""
    duration_ms: int | None = None
    exit_code: int | None = None
    output: str = ""  # what it printed, cut, for people
    interrupt: bool = False  # PermissionRequest: the turn is to end as well
    source: str = ""  # the file that names it, with the line
    terminal_sequence: str = ""  # for a terminal that shows the session: a title, a bell, a notification

    @property
    def changed(self) -> bool:
        """Whether it changed a decision, an input, an output or what the model reads."""
        changes = {"updatedToolOutput", "updatedMCPToolOutput", "displayContent", "action", "retry", "sessionTitle"}
        changes |= {"initialUserMessage", "watchPaths", "worktreePath", "classifierContext"}
        return (
            self.status in ("blocked", "prevented")
            or bool(self.context)
            or self.decision is not None
            or self.updated_input is not None
            or not changes.isdisjoint(self.specific)
        )

    @property
    def refuses(self) -> bool:
        return self.status in ("blocked", "prevented") or self.decision == "deny"

    def ran(self, event: str, tool_use_id: str | None = None) -> HookRan:
        """The message that tells people of the run."""
        return HookRan(
            event=event,
            outcome=self.status,
            text=self.text or self.system_message,
            hook_id=self.hook_id,
            tool_use_id=tool_use_id,
            duration_ms=self.duration_ms,
            exit_code=self.exit_code,
            changed=self.changed,
            output=self.output,
            command=self.name if self.hook_id else "",
            source=self.source,
            terminal_sequence=self.terminal_sequence,
        )


def strictest(outcomes: Iterable[HookOutcome]) -> HookOutcome | None:
    """The decision that counts when several hooks decide: deny > defer > ask > allow."""
    decided = [outcome for outcome in outcomes if outcome.decision is not None]
    return min(decided, key=lambda each: STRICTEST_FIRST.index(each.decision or "allow"), default=None)


class Hooks(Protocol):
    def wants(self, event: HookEvent) -> bool:
        """Whether anything might run: asked before a payload is built, so that no hooks cost nothing."""
        ...

    async def run(self, call: HookCall) -> list[HookOutcome]:
        """Run all that match, in parallel. Never raises: a crash is an outcome."""
        ...


class ScopedHooks(Protocol):
    """Hooks that count only for a while: those of a skill in use, or of an agent while it runs."""

    def enter(
        self,
        hooks: Mapping[str, Any],
        *,
        session_id: str,
        source: Literal["skill", "command", "agent"],
        file: str,
        line: int = 0,
        agent_id: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Callable[[], None]:
        """`hooks` as a frontmatter has them; they run from now on until what is given back is called, at the latest
        until the session ends. With `agent_id` only for events inside that agent, and its `Stop` is SubagentStop.
        `environment` is added to that of their programs: a plugin's folders."""
        ...

    def cleared(self, session_id: str) -> None:
        """The conversation starts afresh: no skill is in use any more."""
        ...


class NoHooks:
    def wants(self, event: HookEvent) -> bool:
        return False

    async def run(self, call: HookCall) -> list[HookOutcome]:
        return []
