"""The parameters of every `assent/*` request, and our options in `initialize`."""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from assent.wire.shapes import Count, Effort, Id, Json, Mode, Name, Path, Positive, Range, Review, Uri, Wire


class ClientFlags(Wire):
    """What the client's own interface does; the rest falls back to plain LSP."""

    permissions: bool = False
    elicitation: bool = False
    review: bool = False
    editor_queries: bool = False
    save: bool = False
    partials: bool = False
    edit_moved: bool = False  # takes `editMoved` instead of `editUpdated` where only ranges changed
    answers_later: bool = False  # what waits is in events and is answered with commands; no request asks for it
    missed: bool = False  # shows `assent/missed` itself, with a way to the session; no `window/showMessage` tells of it


class InitializationOptions(Wire):
    client: ClientFlags = field(default_factory=ClientFlags)
    max_event_rate: Annotated[float, Meta(ge=0)] | None = None
    settings: Json | None = None
    settings_level: Literal["user", "project"] | None = None  # "user": the client vouches that no project file set them
    trusted: bool | None = None
    api_key: str | None = None  # from the editor's secret store


class TaskBudget(Wire):
    total: Positive


class SessionNew(Wire):
    cwd: Path | None = None
    model: Name | None = None
    fallback_model: Name | None = None
    mode: Mode | None = None
    thinking: Json | bool | int | str | None = None
    effort: Effort | None = None
    custom_system_prompt: str | None = None
    append_system_prompt: str | None = None
    max_turns: Positive | None = None
    max_budget_usd: Annotated[float, Meta(ge=0)] | None = None
    task_budget: TaskBudget | Positive | None = None
    json_schema: Json | None = None
    title: str | None = None


class Mention(Wire):
    """A file, or part of one; with `text` something else that the editor shows, in its words, called `label`."""

    uri: Uri
    range: Range | None = None
    label: str | None = None
    text: str | None = None


class SessionSend(Wire):
    session_id: Id
    prompt: str | list[Json]
    mentions: list[Mention] | None = None
    client_message_id: Id | None = None
    token_budget: int | None = None
    wait: bool | None = None
    when_busy: Literal["queue", "steer", "refuse"] | None = None


class SessionRef(Wire):
    session_id: Id


class SessionUnqueue(Wire):
    session_id: Id
    client_message_id: Id


class SessionList(Wire):
    cwd: Path | None = None
    query: str | None = None
    cursor: str | None = None


class SessionAttach(Wire):
    session_id: Id
    epoch: str | None = None
    after_seq: Count | None = None
    cursor: str | None = None
    read_only: bool | None = None  # look at a session that another process owns


class SessionFork(Wire):
    session_id: Id
    message_id: Id | None = None
    before: bool | None = None  # without that message, to say it differently


class SessionRename(Wire):
    session_id: Id
    title: str


class SessionExport(Wire):
    session_id: Id
    format: Literal["markdown", "json"] = "markdown"


class SessionTrace(Wire):
    """One turn by its number, all of them, or the newest."""

    session_id: Id
    turn: int | None = None
    all: bool | None = None


class SessionConfigure(Wire):
    session_id: Id
    model: Name | None = None
    mode: Mode | None = None
    thinking: Json | bool | int | str | None = None
    effort: Effort | Literal["default"] | None = None  # default: what the settings say
    review: Review | None = None
    keep_running: bool | None = None  # its turn goes on when the last window has gone, where a host serves it


class SessionRewind(Wire):
    session_id: Id
    message_id: Id
    restore: Literal["conversation", "code", "both"]
    dry_run: bool | None = None


class SessionSnip(Wire):
    """`messageIds` may also name tool calls. While a turn runs they leave the model's view before its next call."""

    session_id: Id
    message_ids: list[Id]
    dry_run: bool | None = None


class SessionUnsnip(Wire):
    session_id: Id
    snip_id: Id


class ToolList(Wire):
    session_id: Id | None = None


class ToolRun(Wire):
    name: Name
    input: Json
    session_id: Id | None = None
    work_done_token: str | int | None = None


class EditList(Wire):
    session_id: Id | None = None


class LineChoice(Wire):
    """Lines of a hunk, 0-based and half-open `[from, to)`: of its old text those that go, of its new text those that
    come."""

    old: list[tuple[Count, Count]] = field(default_factory=list[tuple[int, int]])
    new: list[tuple[Count, Count]] = field(default_factory=list[tuple[int, int]])


class HunkDecision(Wire):
    hunk_id: Id
    decision: Literal["accept", "reject", "edit", "reopen"]
    new_text: str | None = None
    lines: LineChoice | None = None  # with accept: only these lines


class AllHunks(Wire, forbid_unknown_fields=True):
    all: Literal["accept", "reject"]


class EditResolve(Wire):
    proposal_id: Id
    decisions: list[HunkDecision] | AllHunks
    version: int | None = None
    message: str | None = None


class ModelList(Wire):
    """The endpoint's own list is kept for a day; `refresh` asks for it again."""

    cwd: Path | None = None
    refresh: bool | None = None


class CredentialsCheck(Wire):
    """Without a key: the credentials that are used now."""

    api_key: str | None = None


class Complete(Wire):
    text: str
    offset: Count
    session_id: Id | None = None


class DocumentRead(Wire):
    uri: Uri


class TrustGet(Wire):
    uri: Uri


class TrustSet(Wire):
    uri: Uri
    trusted: bool
    remember: Literal["session", "always"] = "session"
    hash: str | None = None  # of the items that were shown
    vouch: bool = False  # the editor's own trust, until the server ends: covers rules and variables, needs no hash


class SettingsGet(Wire):
    key: str | None = None
    cwd: Path | None = None


class SettingsSet(Wire):
    key: Name
    value: Any
    scope: Literal["user", "project", "local"] = "user"
    cwd: Path | None = None
