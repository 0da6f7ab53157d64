"""What a program chooses for its conversations: one frozen object with working defaults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.permissions import Mode

if TYPE_CHECKING:
    from assent.sdk.tools import SdkServer, SdkTool

SettingSource = Literal["user", "project"]
HookFunction = Callable[[HookCall], Awaitable[HookOutcome | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """A call that needs a decision: what the chain could neither allow nor deny."""

    tool: str
    input: Json
    title: str
    reason: str
    step: str
    tool_use_id: str
    suggestions: tuple[Json, ...] = ()
    proposal: Json | None = None  # of an edit: its hunks


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionAnswer:
    """The decision of a callback. `updated_input` is judged again from the first step."""

    decision: Literal["allow", "deny"]
    message: str = ""  # a denial's reason, which the model reads
    updated_input: Mapping[str, Any] | None = None
    scope: Literal["once", "session"] = "once"
    rule: str | None = None  # with scope session: what is allowed from now on


CanUseTool = Callable[[PermissionRequest], Awaitable["PermissionAnswer | bool"]]
"""Called for every ask. True allows once, False denies; an exception denies."""

OnElicit = Callable[[Json], Awaitable[Json | None]]
"""Called with the params of a question; gives its `content`, or None to decline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookMatcher:
    """A function for one event. `matcher` is matched against the event's subject, such as a tool name."""

    run: HookFunction
    matcher: str = ""
    timeout: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    model: str | None = None
    fallback_model: str | None = None
    mode: Mode | None = None
    thinking: bool | int | Json | None = None
    effort: str | None = None
    system_prompt: str | None = None  # replaces the default one
    append_system_prompt: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    task_budget: int | None = None
    token_budget: int | None = None
    output: Any = None  # a type (dataclass, TypedDict, msgspec.Struct) or a JSON schema: the answer comes back as that
    allow: Sequence[str] = ()  # permission rules, as on the command line
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    can_use_tool: CanUseTool | None = None  # without one, an ask is a denial
    on_elicit: OnElicit | None = None  # without one, a question is declined
    tools: Sequence[SdkTool] = ()  # functions marked with @assent.tool; the model may use them unless a rule denies it
    hooks: Mapping[HookEvent, Sequence[HookMatcher | HookFunction]] = field(default_factory=dict[HookEvent, Any])
    mcp_servers: Mapping[str, Json | SdkServer] = field(default_factory=dict[str, Any])  # as in settings, or in-process
    settings: Json | None = None  # as in settings.json, with the rank of the command line
    setting_sources: Sequence[SettingSource] = ("user",)  # project settings also need the user's trust in the folder
    resume: str | None = None  # a session to go on with
    continue_latest: bool = False  # the newest session of this folder
    fork: bool = False  # with resume: go on in a copy
    title: str | None = None
    include_partial_messages: bool = False
    offline: bool = False  # the embedded stand-in answers, whatever credentials there are
    api_key: str | None = None


def options_of(given: Options | Mapping[str, Any] | None) -> Options:
    """Options as such, or as a mapping of their names."""
    if given is None:
        return Options()
    if isinstance(given, Options):
        return given
    unknown = set(given) - set(Options.__slots__)
    if unknown:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}; assent.Options lists them all")
    return Options(**given)
