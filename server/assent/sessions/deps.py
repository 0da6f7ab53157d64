"""What sessions need from outside: one object, filled in by `app.py`, replaced piece by piece in tests.

The session owns the conversation's life (inbox, transcript, asks, events); the engine owns a turn. They meet here:
a session describes the engine it wants as an `EngineSpec` and gets back an `Engine`.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from assent.editor.proposals import Origin, Proposals, Review
from assent.engine.abort import Abort
from assent.engine.config import OrphanedPermission, ToolServices
from assent.storage.journal import Disk
from assent.storage.settings import Settings, SettingsFiles
from assent.storage.trust import TrustStore
from assent.tools.tool import AnyTool, Jobs, Mine, SessionState
from assent.types.blocks import Block, Json
from assent.types.hooks import Hooks, NoHooks
from assent.types.messages import Attachment, Collapsed, ConversationMessage, Message, Result, Spent, UserMessage
from assent.types.permissions import Action, Ask, Decision, Mode
from assent.types.ports import (
    CanUseTool,
    EditorQueries,
    HandleElicitation,
    ModelInfo,
    SpillStore,
    ToolCall,
    Workspace,
)

# --- the engine ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What the user chose for this session; every field of `session/new` and `configure` that the engine reads."""

    model: str
    fallback_model: str | None = None
    thinking: Json | None = None
    effort: str | None = None
    custom_system_prompt: str | None = None
    append_system_prompt: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    task_budget: int | None = None
    json_schema: Json | None = None


class Transcript(Protocol):
    """Structurally the engine's `Transcript` port: append never raises; a refused write is kept, retried and told."""

    def append(self, message: Message) -> None: ...
    async def flush(self, *, durable: bool) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """One engine to build. Built again (from the transcript) after a restart, a rewind or a change of model.

    Field by field this is `QueryEngineConfig`; what is missing here (call_model, commands, agents, memory, hooks,
    background calls) is `app.py`'s own to add. Partials are always wanted: the event log drops them if nobody looks.
    """

    session_id: str
    options: EngineOptions
    state: SessionState
    roots: tuple[str, ...]
    trusted: bool
    settings: Settings
    tools: tuple[AnyTool, ...]
    workspace: Workspace
    spill: SpillStore
    jobs: Jobs | None
    editor: EditorQueries | None
    env: Mapping[str, str]
    can_use_tool: CanUseTool
    handle_elicitation: HandleElicitation
    initial_messages: tuple[ConversationMessage, ...]
    snipped: frozenset[str]
    collapsed: tuple[Collapsed, ...]
    restored: Result | None  # session totals as of the last result (Q6)
    spent: Spent | None  # the same as of the last call that was counted
    transcript: Transcript
    take_queued: Callable[[], Sequence[UserMessage]]  # what the user steered into the turn (L11)
    publish: Callable[[Message], None]  # what happens outside a turn
    abort: Abort
    take_decisions: Callable[[Mine], Sequence[Attachment]]  # on edits whose calls have their results
    orphaned_permission: tuple[OrphanedPermission, ...] = ()  # asked by a process that died; asked once more (Q11)
    waited_seconds: Callable[[], float] = lambda: 0.0  # for people, so far
    interactive: bool = True


class Engine(Protocol):
    """What a session uses of `QueryEngine`."""

    @property
    def model(self) -> str:
        """What the next turn starts with; a slash command may have changed it."""
        ...

    @property
    def services(self) -> ToolServices:
        """What its tools work with; a tool that a client runs gets the same."""
        ...

    def submit(
        self,
        prompt: str | Sequence[Block],
        *,
        uuid: str | None = None,
        is_meta: bool = False,
        token_budget: int | None = None,
    ) -> AsyncGenerator[Message, None]: ...

    async def announce(self) -> None:
        """Let the running turn begin now, because someone is to be asked a question that belongs to it."""
        ...

    def context(self) -> Json:
        """`assent/session/context` (C8)."""
        ...

    async def aclose(self) -> None:
        """End everything in the background."""
        ...


# --- permissions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Everything besides the action that `permissions.decide` must know, as the session sees it now."""

    cwd: str
    roots: tuple[str, ...]
    mode: Mode
    trusted: bool
    settings: Settings  # rules with their sources, the session's own among them
    tools: tuple[str, ...]  # known
    enabled: tuple[str, ...]
    read_roots: tuple[str, ...] = ()  # readable without asking: the session's own spilled results
    interactive: bool = True


Decide = Callable[[Action, Judgement], Decision]
"""`app.py` builds the PermissionContext from the judgement and calls `permissions.chain.decide`."""

Classify = Callable[[str, ToolCall, Ask], Awaitable[Literal["allow", "deny", "ask"]]]
"""Auto mode's classifier (P13), told whose call it is: may answer an ask; anything but allow or deny, and any failure,
is an ask."""


# --- all of it -------------------------------------------------------------------------------------------------------

MakeWorkspace = Callable[[str, Callable[[], Origin], Callable[[], Review]], Workspace]
"""(cwd, origin, review): `editor.workspace(origin=…, review=…)`, or a DiskWorkspace where there is no editor."""

MakeJobs = Callable[[str, Callable[[Json], None]], Jobs]
"""(session id, on_change): on_change takes {jobId, command, state, exitCode?} whenever a job starts or ends (S5)."""


MakeTools = Callable[[str, Callable[[], Judgement]], Sequence[AnyTool]]
"""(cwd, current), in a stable order. `current` is what judging depends on at the moment of a call: rules change while
the tools live."""


@dataclass(slots=True, kw_only=True)
class SessionDeps:
    """`app.py` provides the first group; the rest has working defaults."""

    engine: Callable[[EngineSpec], Engine]
    tools: MakeTools
    decide: Decide
    workspace: MakeWorkspace
    settings: SettingsFiles
    trust: TrustStore
    data_dir: Path  # $XDG_DATA_HOME/assent

    default_model: str = "claude-opus-4-8"
    choose_model: Callable[[str], str] = lambda model: model  # the model that can be reached for a wanted one
    require_model: Callable[[str], str] = lambda model: model  # the same, but NoCredentials, no stand-in
    model_info: Callable[[str], ModelInfo] = lambda model: ModelInfo(id=model)
    roots: Callable[[], tuple[str, ...]] = lambda: ()  # workspace folders, from the editor only
    jobs: MakeJobs | None = None
    proposals: Proposals | None = None  # None where no editor can show them
    editor: EditorQueries | None = None
    commands: Callable[[str, bool], Sequence[Json]] = lambda _cwd, _trusted: ()  # {name, description, argumentHint?}
    agents: Callable[[str, bool], Sequence[Json]] = lambda _cwd, _trusted: ()  # {name, description}
    mcp_servers: Callable[[str], Sequence[Json]] = lambda _cwd: ()  # {name, status}
    parse_rule: Callable[[str], object] = lambda _rule: None  # raises ValueError on a rule that cannot be used
    hooks: Hooks = field(default_factory=NoHooks)  # PermissionRequest and PermissionDenied run in the gate
    classify: Classify | None = None
    secrets: Callable[[], Sequence[str]] = lambda: ()  # redacted in transcripts and logs
    disk: Disk | None = None  # for tests of full and dying disks
    interactive: bool = True  # False: nobody to ask, an ask becomes a deny (P12)
    clock: Callable[[], float] = time.time
