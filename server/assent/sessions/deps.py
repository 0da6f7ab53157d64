"""What sessions need from outside: one object, filled in by `app.py`, replaced piece by piece in tests.

The session owns the conversation's life (inbox, transcript, asks, events); the engine owns a turn. They meet in the
engine's `EngineConfig` and `Services`: the program gives the first part of both, the session adds its own.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from assent.editor.proposal import EditOrigin, Review
from assent.editor.proposals import Proposals
from assent.engine.config import EngineConfig, TaskBudget
from assent.engine.conversation_past import ConversationPast
from assent.engine.query_engine import QueryEngine
from assent.engine.services import Services
from assent.sessions.definitions import Definitions
from assent.sessions.hooks.session_hooks import SessionHooks
from assent.sessions.mcp import Mcp
from assent.sessions.turnstile import Turnstile
from assent.storage.journal import Disk
from assent.storage.settings import Settings, SettingsFiles
from assent.storage.trust import TrustStore
from assent.storage.turn_slots import TurnSlots
from assent.tools.tool import AnyTool, Jobs
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action, Ask, Decision, Mode
from assent.types.ports import EditorQueries, ModelInfo, TerminalClient, ToolCall, Workspace

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

    def applied_to(self, config: EngineConfig) -> EngineConfig:
        return replace(
            config,
            model=self.model,
            fallback_model=self.fallback_model,
            thinking=self.thinking,
            effort=self.effort,
            custom_system_prompt=self.custom_system_prompt,
            append_system_prompt=self.append_system_prompt,
            max_turns=self.max_turns,
            max_budget_usd=self.max_budget_usd,
            task_budget=TaskBudget(total=self.task_budget) if self.task_budget else None,
            json_schema=self.json_schema,
        )


# --- permissions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionFacts:
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


Decide = Callable[[Action, PermissionFacts], Decision]
"""`app.py` builds the PermissionContext from the facts and calls `permissions.chain.decide`."""

Classify = Callable[[str, ToolCall, Ask], Awaitable[Literal["allow", "deny", "ask"]]]
"""Auto mode's classifier (P13), told whose call it is: may answer an ask; anything but allow or deny, and any failure,
is an ask."""


# --- all of it -------------------------------------------------------------------------------------------------------

MakeWorkspace = Callable[[str, Callable[[], EditOrigin], Callable[[], Review]], Workspace]
"""(cwd, origin, review): `editor.workspace(origin=…, review=…)`, or a DiskWorkspace where there is no editor."""

MakeJobs = Callable[[str, Callable[[Json], None]], Jobs]
"""(session id, on_change): on_change takes {jobId, command, state, exitCode?} whenever a job starts or ends (S5)."""


MakeTools = Callable[[str, Callable[[], PermissionFacts]], Sequence[AnyTool]]
"""(cwd, current), in a stable order. `current` is what judging depends on at the moment of a call: rules change while
the tools live."""


async def _no_request(method: str, params: Json) -> Json:
    raise ProtocolError("methodNotFound", f"There is no method {method} here")


@dataclass(slots=True, kw_only=True)
class SessionDeps:
    """`app.py` provides the first group; the rest has working defaults."""

    services: Callable[[str, str], Services]  # (session id, cwd): model, hooks, catalogues; the session adds its own
    tools: MakeTools
    decide: Decide
    workspace: MakeWorkspace
    settings: SettingsFiles
    trust: TrustStore
    data_dir: Path  # $XDG_DATA_HOME/assent

    engine: Callable[[EngineConfig, Services, ConversationPast], QueryEngine] = QueryEngine
    configured: Callable[[EngineConfig, Settings], EngineConfig] = lambda config, _settings: config
    """What the program and the settings say, added to what the user chose for a session."""
    default_model: str = "claude-opus-4-8"
    choose_model: Callable[[str], str] = lambda model: model  # the model that can be reached for a wanted one
    require_model: Callable[[str], str] = lambda model: model  # the same, but NoCredentials, no stand-in
    model_info: Callable[[str], ModelInfo] = lambda model: ModelInfo(id=model)
    roots: Callable[[], tuple[str, ...]] = lambda: ()  # workspace folders, from the editor only
    terminal: Callable[[str], TerminalClient | None] = lambda _session_id: None  # terminals of the client
    jobs: MakeJobs | None = None
    turnstile: Turnstile = field(default_factory=Turnstile)
    proposals: Proposals | None = None  # None where no editor can show them
    editor: EditorQueries | None = None
    commands: Callable[[str, bool], Sequence[Json]] = lambda _cwd, _trusted: ()  # {name, description, argumentHint?}
    agents: Callable[[str, bool], Sequence[Json]] = lambda _cwd, _trusted: ()  # {name, description}
    definitions: Definitions | None = None  # commands, skills and agents of files
    request: Callable[[str, Json], Awaitable[Json]] = _no_request  # a request of the wire; the hub sets it
    mcp_servers: Callable[[str], Sequence[Json]] = lambda _cwd: ()  # {name, status}
    mcp: Mcp | None = None
    parse_rule: Callable[[str], object] = lambda _rule: None  # raises ValueError on a rule that cannot be used
    judging: Callable[[str, ToolCall], None] = lambda _session, _call: None  # called before each decision
    session_hooks: SessionHooks | None = None  # for the events that no turn fires
    classify: Classify | None = None
    secrets: Callable[[], Sequence[str]] = lambda: ()  # redacted in transcripts and logs
    disk: Disk | None = None  # for tests of full and dying disks
    interactive: bool = True  # False: nobody to ask, an ask becomes a deny (P12)
    turn_slots: TurnSlots = field(default_factory=lambda: TurnSlots(Path(), lambda: None))  # how many turns run at once
    clock: Callable[[], float] = time.time
