"""What a tool is (T1), and what it gets to work with.

A tool is one module: an input struct, what it will touch (`action`), and `call`. It never decides whether it may run;
the permission chain does, from the `Action`. Failures the model should read are `ToolError`; anything else is a bug.
"""

from __future__ import annotations

import typing
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action, Mode
from assent.types.ports import EditorQueries, EditPlan, HandleElicitation, SpillStore, ToolResultContent, Workspace


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
    on_change: Callable[[str], None] = lambda _what: None  # "todos", "mode", "cwd", "plan"


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """Everything a call may use. One per call; `state` is shared by the session."""

    session_id: str
    tool_use_id: str
    state: SessionState
    workspace: Workspace
    roots: tuple[str, ...] = ()  # workspace folders, from the editor only; cwd is always among them
    progress: Callable[[str], None] = lambda _text: None
    proposal_id: str | None = None  # from the Allow, for edits
    other_proposals: tuple[str, ...] = ()  # the same, for the plan's other files
    plan: EditPlan | None = None  # what `prepare` gave
    fenced: bool | None = None  # from the Allow: our reader judged the command, so it runs inside the fence
    elicit: HandleElicitation | None = None
    editor: EditorQueries | None = None
    agents: AgentRunner | None = None
    jobs: Jobs | None = None
    spill: SpillStore | None = None
    env: dict[str, str] = field(default_factory=dict[str, str])  # settings' env, trusted sources only
    search_web: Callable[[str, list[str], list[str]], Awaitable[ToolResultContent]] | None = None
    summarise: Callable[[str, str], Awaitable[str]] | None = None  # (text, prompt) with the small model, when allowed
    in_view: Callable[[str], ToolResultContent | None] = lambda _tool_use_id: None  # a result as the model sees it now
    snip: Callable[[list[int]], str] | None = None  # let go of earlier results by the numbers they were offered under

    @property
    def cwd(self) -> str:
        return self.state.cwd


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
        """A self-contained JSON schema object for the API."""
        (schema,), defs = msgspec.json.schema_components([self.input_type], ref_template="#/$defs/{name}")
        own = defs.pop(self.input_type.__name__, schema)
        own.pop("title", None)
        if defs:
            own["$defs"] = defs
        return own

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
