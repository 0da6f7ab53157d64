"""What a tool is (T1), and what it gets to work with.

A tool is one module: an input struct, what it will touch (`action`), and `call`. It never decides whether it may run;
the permission chain does, from the `Action`. Failures the model should read are `ToolError`; anything else is a bug.
"""

from __future__ import annotations

import functools
import typing
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action, Mode
from assent.types.ports import (
    EditorQueries,
    EditOutcome,
    EditPlan,
    FileText,
    HandleElicitation,
    SpillStore,
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
    stop_turn: bool = False


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


Mine = Callable[[str], bool]
"""Whether the call of this tool_use_id was made by the one who asks: news of it goes there."""


def anyone(_tool_use_id: str) -> bool:
    return True


class AgentRunner(Protocol):
    """Runs a subagent to its end and gives its last words (T7)."""

    def reads_only(self, agent: str) -> bool:
        """Whether every tool this agent gets only reads: then its work may be repeated and run beside others."""
        ...

    async def run(
        self, *, agent: str, prompt: str, description: str, background: bool, ctx: ToolContext
    ) -> ToolOutput: ...


class Jobs(Protocol):
    """Background shell commands of the session (T5, S5); concrete in `tools/process/jobs.py`."""

    def list(self) -> list[Json]: ...
    def take_finished(self, mine: Mine = anyone) -> list[Json]: ...  # ends the model has not heard of; each once
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
    skills: dict[str, str] = field(default_factory=dict[str, str])  # loaded ones with their text, kept by compactions
    on_change: Callable[[str], None] = lambda _what: None  # "todos", "mode", "cwd", "plan"


Summarise = Callable[[str, str], Awaitable[str]]
"""(text, prompt) → what the small model answers."""


class NoWorkspace:
    """No files at all: for engines whose tools use none."""

    async def read(self, path: str) -> FileText:
        raise ToolError(f"There is no workspace to read {path} from.")

    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome:
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
    spill: SpillStore | None = None
    search_web: Callable[[str, list[str], list[str]], Awaitable[ToolResultContent]] | None = None
    summariser: Callable[[], Summarise | None] = lambda: None  # None while the settings do not allow it


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """Everything a call may use. One per call; `state` and `services` are shared by the session."""

    session_id: str
    tool_use_id: str
    state: SessionState
    services: ToolServices = field(default_factory=ToolServices)
    progress: Callable[[str], None] = lambda _text: None
    proposal_id: str | None = None  # from the Allow, for edits
    other_proposals: tuple[str, ...] = ()  # the same, for the plan's other files
    plan: EditPlan | None = None  # what `prepare` gave
    fenced: bool | None = None  # from the Allow: our reader judged the command, so it runs inside the fence
    elicit: HandleElicitation | None = None
    agents: AgentRunner | None = None
    in_view: Callable[[str], ToolResultContent | None] = lambda _tool_use_id: None  # a result as the model sees it now
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
