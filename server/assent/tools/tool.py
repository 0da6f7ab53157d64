"""What a tool is (T1), and what it gets to work with.

A tool is one module: an input struct, what it will touch (`action`), and `call`. It never decides whether it may run;
the permission chain does, from the `Action`. Failures the model should read are `ToolError`; anything else is a bug.
"""

from __future__ import annotations

import functools
import typing
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import anyio
import msgspec

from assent.tools.task_list import Team
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.hooks import Hooks, NoHooks
from assent.types.messages import ChangedFile
from assent.types.permissions import Action, Mode
from assent.types.ports import (
    EditorQueries,
    EditOutcome,
    EditPlan,
    FileText,
    HandleElicitation,
    SpillStore,
    TerminalClient,
    ToolResultContent,
    Workspace,
)


class Input(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True):
    """The base of every tool's input: unknown fields are refused with a clear message to the model.

    As JSON it holds what was said, without defaults: people and rules see the input the model wrote.
    """


InputT = TypeVar("InputT", bound=Input)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    content: ToolResultContent
    is_error: bool = False
    summary: str = ""  # one line for people
    changed: tuple[ChangedFile, ...] = ()
    stop_turn: bool = False
    response: Callable[[], object] | None = None  # `tool_response` of PostToolUse hooks; None: the content


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMark:
    """What the model last saw of a file, and by which call: guards must-read-first and staleness.

    Whether that call's result is still in its view is not known here: see `ToolContext.in_view` (C7).
    """

    sha256: str
    mtime_ns: int
    version: int | None = None
    offset: int | None = None
    limit: int | None = None
    tool_use_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWish:
    """What a text that is now in use wants for the rest of the turn (Q4)."""

    model: str | None = None
    effort: str | None = None
    without: tuple[str, ...] = ()  # tools


Mine = Callable[[str], bool]
"""Whether the call of this tool_use_id was made by the one who asks: news of it goes there."""


def anyone(_tool_use_id: str) -> bool:
    return True


class AgentRunner(Protocol):
    """Runs a subagent to its end and gives its last words (T7)."""

    def repeatable(self, agent: str, *, isolated: bool, background: bool = False, resume: str = "") -> bool:
        """Whether its work may be repeated and run beside others: it is waited for, and it only reads or has a worktree
        of its own. `resume` names the run that goes on, whatever `agent` says."""
        ...

    async def run(
        self,
        *,
        agent: str,
        prompt: str,
        description: str,
        background: bool,
        ctx: ToolContext,
        isolated: bool = False,
        resume: str = "",
        model: str = "",
    ) -> ToolOutput: ...


class Jobs(Protocol):
    """Background shell commands of the session (T5, S5); concrete in `tools/process/jobs.py`."""

    def list(self) -> list[Json]: ...
    def take_finished(self, mine: Mine = anyone) -> list[Json]: ...  # ends the model has not heard of; each once
    def in_front(self, mine: Mine = anyone) -> list[anyio.Event]: ...  # taken to the front again; each fires at its end
    async def kill(self, job_id: str) -> bool: ...
    async def close(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class SessionState:
    """What tools change and the session keeps: owned by the engine, published by the session."""

    cwd: str
    mode: Mode = "default"
    mode_before_plan: Mode | None = None
    todos: list[Json] = field(default_factory=list[Json])
    plan: str = ""
    read_files: dict[str, ReadMark] = field(default_factory=dict[str, ReadMark])  # by absolute path
    worktree: str | None = None
    worktree_of: str | None = None  # where to go back to from it
    skills: dict[str, str] = field(default_factory=dict[str, str])  # loaded ones with their text, kept by compactions
    on_change: Callable[[str], None] = lambda _what: None  # "todos", "mode", "cwd", "plan"


Summarise = Callable[[str, str], Awaitable[str]]
"""(text, prompt) → what the small model answers."""


class NoWorkspace:
    """No files at all: for engines whose tools use none."""

    async def read(self, path: str) -> FileText:
        raise ToolError(f"There is no workspace to read {path} from.")

    async def apply(self, plan: EditPlan) -> EditOutcome:
        raise ToolError(f"There is no workspace to change {plan.path} in.")

    async def save_barrier(self) -> str:
        return ""

    def unsaved(self) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """What tools work with. One object per session; the engine's `Services` adds what only the engine uses.

    What can change while a session lives is a function: it is read when a call needs it.
    """

    workspace: Workspace = field(default_factory=NoWorkspace)
    roots: Callable[[], tuple[str, ...]] = tuple  # workspace folders, from the editor only; cwd is always among them
    env: Callable[[], Mapping[str, str]] = dict  # settings' env, trusted sources only
    editor: EditorQueries | None = None
    jobs: Jobs | None = None
    terminal: TerminalClient | None = None  # where the client wants to see allowed commands run
    spill: SpillStore | None = None
    search_web: Callable[[str, list[str], list[str]], Awaitable[ToolResultContent]] | None = None
    summariser: Callable[[], Summarise | None] = lambda: None  # None while the settings do not allow it
    hooks: Hooks = field(default_factory=NoHooks)  # run at every event point
    may_read: Callable[[], Callable[[str], bool] | None] = lambda: None  # what the rules let be read; None: everything
    scratchpad: Callable[[], Path | None] = lambda: None  # shared by all agents of the session; made when asked for
    team: Team | None = None  # the tasks that all agents of the session share, as this one sees them
    effects: Callable[[], AbstractAsyncContextManager[None]] = nullcontext  # around a call that may change any file
    worktrees: Path | None = None  # where open worktrees of agents are written down


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """Everything a call may use. One per call; `state` and `services` are shared by the session."""

    session_id: str
    tool_use_id: str
    state: SessionState
    services: ToolServices = field(default_factory=ToolServices)
    progress: Callable[[str], None] = lambda _text: None
    plan: EditPlan | None = None  # what `prepare` gave
    reviewed: EditOutcome | None = None  # what became of the plan under review; None: the call makes the change
    fenced: bool | None = None  # from the Allow: our reader judged the command, so it runs inside the fence
    elicit: HandleElicitation | None = None
    agents: AgentRunner | None = None
    in_view: Callable[[str], ToolResultContent | None] = lambda _tool_use_id: None  # a result as the model sees it now
    if_withdrawn: Callable[[Callable[[], None]], None] = lambda _undo: None
    """Register how to undo what the call noted as seen or decided, in case the model never gets its result (L10)."""
    acted: Callable[[], None] = lambda: None  # from here on the call must not be repeated, whatever it seemed to be
    wish: Callable[[TurnWish], None] = lambda _wish: None  # counts from the next request on
    snip: Callable[[list[int]], str] | None = None  # remove earlier results by the numbers they were offered under

    @property
    def cwd(self) -> str:
        return self.state.cwd

    @property
    def workspace(self) -> Workspace:
        return self.services.workspace

    @property
    def roots(self) -> tuple[str, ...]:
        return self.services.roots()

    @property
    def env(self) -> Mapping[str, str]:
        return self.services.env()

    @property
    def editor(self) -> EditorQueries | None:
        return self.services.editor

    @property
    def jobs(self) -> Jobs | None:
        return self.services.jobs

    @property
    def spill(self) -> SpillStore | None:
        return self.services.spill

    @property
    def search_web(self) -> Callable[[str, list[str], list[str]], Awaitable[ToolResultContent]] | None:
        return self.services.search_web

    @property
    def summarise(self) -> Summarise | None:
        return self.services.summariser()


@functools.cache
def schema_of(input_type: type[Input]) -> Json:
    (schema,), defs = msgspec.json.schema_components([input_type], ref_template="#/$defs/{name}")
    own = defs.pop(input_type.__name__, schema)
    own.pop("title", None)
    if defs:
        own["$defs"] = defs
    return own


class Tool(ABC, Generic[InputT]):
    """The base of every tool. Subclasses set the class variables and say what is abstract here."""

    name: ClassVar[str]
    input_type: ClassVar[type[Input]]
    max_result_chars: ClassVar[int] = 30_000
    read_only: ClassVar[bool] = False  # no call of it changes anything: it may be repeated and run beside others
    timeout: ClassVar[float | None] = 120.0  # seconds; stopped while a person is being waited for

    @abstractmethod
    def description(self) -> str:
        """For the model: what it does, and when to use it."""

    def enabled(self, state: SessionState) -> bool:
        return True

    def input_schema(self) -> Json:
        """A self-contained JSON schema object for the API. Nobody changes it: it is made once for each input type."""
        return schema_of(self.input_type)

    def definition(self) -> Json:
        return {"name": self.name, "description": self.description(), "input_schema": self.input_schema()}

    def parse(self, raw: object) -> InputT:
        try:
            return typing.cast("InputT", msgspec.convert(raw, self.input_type))
        except msgspec.ValidationError as error:
            raise ToolError(f"Invalid input for {self.name}: {error}") from None

    def parse_rewritten(self, raw: object) -> InputT:
        """The input that a hook or a person gives instead of the model's: it may say more."""
        return self.parse(raw)

    def for_hooks(self, input: InputT, ctx: ToolContext) -> Json:
        """The input as hooks get it: what scripts rely on may be more than the model says. `parse` takes it back."""
        return as_json(input)

    def concurrency_safe(self, input: InputT) -> bool:
        return False

    def safe_at(self, input: InputT, *, cwd: str) -> bool:
        """`concurrency_safe`, for a tool whose answer depends on where the session is now."""
        return self.concurrency_safe(input)

    def safe_in(self, input: InputT, ctx: ToolContext) -> bool:
        """`safe_at`, for a tool whose answer depends on what the session can do."""
        return self.safe_at(input, cwd=ctx.cwd)

    @abstractmethod
    def action(self, input: InputT, *, cwd: str) -> Action:
        """What the call will touch, for the permission chain to judge."""

    def title(self, input: InputT) -> str:
        return self.name

    async def prepare(self, input: InputT, ctx: ToolContext) -> EditPlan | None:
        """For edits: compute the change before anyone is asked, so the ask can show it. Raises ToolError."""
        return None

    @abstractmethod
    async def call(self, input: InputT, ctx: ToolContext) -> ToolOutput:
        """Do it. Raises ToolError for what the model should read."""


AnyTool = Tool[Any]


def kept_where(text: str, ctx: ToolContext) -> str:
    """Spill a long text, and say what became of it: `is in …`, or that it could not be saved."""
    path = ctx.spill.write(ctx.tool_use_id, text) if ctx.spill is not None else None
    return f"is in {path}" if path is not None else "could not be saved"


def as_json(input: Input) -> Json:
    return typing.cast("Json", msgspec.to_builtins(input))
