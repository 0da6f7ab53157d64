"""What a program chooses for its conversations: one frozen object with working defaults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.permissions import Mode

if TYPE_CHECKING:
    from assent.sdk.tools import SdkServer, SdkTool

SettingSource = Literal["user", "project"]
HookFunction = Callable[[HookCall], "Awaitable[HookOutcome | None] | HookOutcome | None"]


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


CanUseTool = Callable[[PermissionRequest], "Awaitable[PermissionAnswer | bool] | PermissionAnswer | bool"]
"""Called for every ask. True allows once, False denies; an exception, and any other answer, denies."""

OnElicit = Callable[[Json], "Awaitable[Json | None] | Json | None"]
"""Called with the params of a question, gives its answer, or None to decline.

`questions` are answered by id, as `{"q1": "Blue", "q2": ["Red", "Green"]}`; the form of an MCP server (`schema`) by its
fields; an address to visit (`url`) by `{}`.
"""


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
    record: str | Path | None = None  # write the model's traffic to this file, without keys
    replay: str | Path | None = None  # answer from such a file; no endpoint is called


_LISTS = ("allow", "ask", "deny", "tools", "setting_sources")
_MAPPINGS = ("hooks", "mcp_servers")
_FUNCTIONS = ("can_use_tool", "on_elicit")
_SWITCHES = ("continue_latest", "fork", "include_partial_messages", "offline")


def options_of(given: Options | Mapping[str, Any] | None) -> Options:
    """Options as such, or as a mapping of their names. Raises TypeError for a value of the wrong kind."""
    if given is None:
        return Options()
    if not isinstance(given, Options):
        unknown = set(given) - set(Options.__slots__)
        if unknown:
            raise TypeError(f"unknown options: {', '.join(sorted(unknown))}; assent.Options lists them all")
        given = Options(**given)
    _check(given)
    return given


def _check(chosen: Options) -> None:
    """A text is a sequence of texts, too: `deny="Bash"` would be the rules B, a, s and h, and deny nothing."""
    from assent.sdk.tools import SdkTool

    for name in _LISTS:
        value = getattr(chosen, name)
        if isinstance(value, str) or not isinstance(value, Collection):
            raise TypeError(f"{name} is a list, not {value!r}")
    for name in _MAPPINGS:
        if not isinstance(value := getattr(chosen, name), Mapping):
            raise TypeError(f"{name} is a mapping, not {value!r}")
    for name in _FUNCTIONS:
        if (value := getattr(chosen, name)) is not None and not callable(value):
            raise TypeError(f"{name} is a function, not {value!r}")
    for name in _SWITCHES:
        if not isinstance(value := getattr(chosen, name), bool):
            raise TypeError(f"{name} is True or False, not {value!r}")
    for each in cast("Collection[object]", chosen.tools):
        if not isinstance(each, SdkTool):
            raise TypeError(f"tools: {each!r} is not a tool; mark the function with @assent.tool")
    for event, functions in cast("Mapping[str, object]", chosen.hooks).items():
        if isinstance(functions, str) or not isinstance(functions, Collection):
            raise TypeError(f"hooks: {event} has a list of functions, not {functions!r}")
    if chosen.settings is not None and not isinstance(chosen.settings, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"settings is a mapping, not {chosen.settings!r}")
    if chosen.api_key is not None and not isinstance(chosen.api_key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("api_key is a text")
