"""Hooks as files write them, parsed: which event, which matcher, which handler, from where.

Two shapes are read: groups `{matcher?, hooks: [handler, …]}`, and handlers that stand by themselves. What is wrong
with an entry is said with its file and line, and the others still count. Running them is for `runner`.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import orjson

from assent.extensions.hooks import matcher as matching
from assent.types.blocks import Json
from assent.types.hooks import EVENTS, HookEvent

HandlerType = Literal["command", "http", "mcp_tool", "prompt", "agent"]
TYPES: tuple[HandlerType, ...] = ("command", "http", "mcp_tool", "prompt", "agent")
NEEDS: dict[HandlerType, str] = {
    "command": "command",
    "http": "url",
    "mcp_tool": "tool",
    "prompt": "prompt",
    "agent": "prompt",
}
SECONDS: dict[HandlerType, float] = {"command": 600, "http": 600, "mcp_tool": 600, "prompt": 30, "agent": 60}
EVENT_SECONDS: dict[str, float] = {"UserPromptSubmit": 30, "MessageDisplay": 10, "SessionEnd": 1.5}
COPILOT_FOLDER, COPILOT_SECONDS = "/.github/hooks/", 30.0  # hooks there expect to be ended by then
LONGEST_END = 60.0  # seconds that hooks of SessionEnd may ask for
NO_MODEL = "may only be a command or an MCP tool here"
_AT_START = frozenset({"SessionStart", "Setup"})
_WITH_MODEL = frozenset(
    {
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied"),
        *("Stop", "SubagentStop", "TaskCreated", "TaskCompleted", "TeammateIdle"),
        *("UserPromptSubmit", "UserPromptExpansion"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOrigin:
    """Where a hook is written, and what its scripts may rely on besides."""

    file: str
    source: str = "user"  # user, project, local, editor, cli, session, policy, plugin, skill, agent
    line: int = 0
    foreign: bool = False  # in a file of another program
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # a plugin's root, data and options

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    event: HookEvent
    matcher: str
    type: HandlerType
    values: Json  # the entry's own fields, as written
    origin: HookOrigin
    shared_seconds: float = 0.0  # what another handler of the same event asked for, where they end together

    @property
    def hook_id(self) -> str:
        return (
            "h" + hashlib.sha256(repr((self.event, self.matcher, self.key, self.origin.file)).encode()).hexdigest()[:10]
        )

    @property
    def key(self) -> str:
        """Two handlers with the same key do the same; they run once for an event. What a skill, an agent or a plugin
        brings along is its own, whatever the settings say too."""
        kept = {name: value for name, value in self.values.items() if name not in ("statusMessage", "matcher", "hooks")}
        owner = self.origin.file if self.origin.source in ("skill", "command", "agent", "plugin") else ""
        what = [self.type, kept, dict(self.origin.environment), owner]
        return orjson.dumps(what, option=orjson.OPT_SORT_KEYS).decode()

    @property
    def command(self) -> str:
        """What runs, in one line, for people."""
        match self.type:
            case "command":
                words = [self.line, *self.args] if self.args is not None else [self.line]
                return " ".join(words)
            case "http":
                return str(self.values.get("url", ""))
            case "mcp_tool":
                return f"{self.values.get('server', '')}/{self.values.get('tool', '')}"
            case "prompt" | "agent":
                return str(self.values.get("prompt", ""))

    @property
    def line(self) -> str:
        """The shell line or program of a command, for this system."""
        system = {"darwin": "osx", "win32": "windows"}.get(sys.platform, "linux")
        return str(self.values.get(system) or self.values.get("command") or self.values.get("bash") or "")

    @property
    def args(self) -> list[str] | None:
        args = self.values.get("args")
        return [str(each) for each in cast("list[Any]", args)] if isinstance(args, list) else None

    @property
    def seconds(self) -> float:
        given = self.values.get("timeout", self.values.get("timeoutSec"))
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            return min(float(given), LONGEST_END) if self.event == "SessionEnd" else float(given)
        usual = COPILOT_SECONDS if COPILOT_FOLDER in self.origin.file else SECONDS[self.type]
        return max(EVENT_SECONDS.get(self.event, usual), self.shared_seconds)

    @property
    def condition(self) -> str:
        return str(self.values.get("if") or "")

    @property
    def is_async(self) -> bool:
        return self.type == "command" and bool(self.values.get("async") or self.values.get("asyncRewake"))

    @property
    def once(self) -> bool:
        """Of skills and commands only: such a hook has done its work after its first run."""
        return bool(self.values.get("once")) and self.origin.source in ("skill", "command")

    @property
    def status_message(self) -> str:
        given = self.values.get("statusMessage")
        return given.strip()[:200] if isinstance(given, str) else ""

    @property
    def blocks_on_failure(self) -> bool:
        return self.values.get("onFailure") == "block" and self.type in ("command", "http")

    def matches(self, subject: str) -> bool:
        return matching.matches(self.matcher, self.event, subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookProblem:
    origin: HookOrigin
    event: str
    text: str

    def __str__(self) -> str:
        return f"{self.origin}: hooks.{self.event}: {self.text}"


Parsed = tuple[list[Handler], list[HookProblem]]


def parse_hooks(hooks: object, origin: HookOrigin, *, agent: bool = False) -> Parsed:
    """The `hooks` object of a file, a plugin or a frontmatter. With `agent`, `Stop` means the agent's own end."""
    if not isinstance(hooks, Mapping):
        return [], [HookProblem(origin=origin, event="", text="must be an object of events")]
    handlers: list[Handler] = []
    problems: list[HookProblem] = []
    spelt: dict[str, HookEvent] = {name.casefold(): name for name in EVENTS}
    for name, entries in cast("Mapping[str, object]", hooks).items():
        event = spelt.get(str(name).casefold())
        if event is None:
            problems.append(HookProblem(origin=origin, event=str(name), text="is not a hook event"))
            continue
        if agent and event == "Stop":
            event = "SubagentStop"
        for entry in cast("list[object]", entries) if isinstance(entries, list) else [entries]:
            found, wrong = parse_entry(event, entry, origin)
            handlers += found
            problems += wrong
    return handlers, problems


def parse_entry(event: HookEvent, entry: object, origin: HookOrigin) -> Parsed:
    """One group, or one handler that stands by itself."""
    if not isinstance(entry, Mapping):
        return [], [HookProblem(origin=origin, event=event, text="an entry must be an object")]
    group = cast("Json", entry)
    matcher = group.get("matcher", "")
    matcher = matcher if isinstance(matcher, str) else ""
    inner: object = group.get("hooks") if "hooks" in group else [group]
    if not isinstance(inner, list):
        return [], [HookProblem(origin=origin, event=event, text="`hooks` must be a list of handlers")]
    handlers: list[Handler] = []
    problems: list[HookProblem] = []
    if wrong := matching.problem(matcher):
        problems.append(HookProblem(origin=origin, event=event, text=f"{matcher!r}: {wrong}"))
    for each in cast("list[object]", inner):
        made = _handler(event, matcher, each, origin)
        if isinstance(made, Handler):
            handlers.append(made)
        else:
            problems.append(HookProblem(origin=origin, event=event, text=made))
    return handlers, problems


def _handler(event: HookEvent, matcher: str, entry: object, origin: HookOrigin) -> Handler | str:
    if not isinstance(entry, Mapping):
        return "a handler must be an object"
    values = dict(cast("Json", entry))
    kind = values.get("type", "command")
    if kind not in TYPES:
        return f"there is no handler type {kind!r}; write one of {', '.join(TYPES)}"
    made = Handler(event=event, matcher=matcher, type=kind, values=values, origin=origin)
    needed = NEEDS[made.type]
    if not (made.line if kind == "command" else values.get(needed)):
        return f"a handler of type {kind} needs `{needed}`"
    if kind == "mcp_tool" and not values.get("server"):
        return "a handler of type mcp_tool needs `server`"
    if event in _AT_START and kind not in ("command", "mcp_tool"):
        return f"a handler of {event} {NO_MODEL}"
    if kind in ("prompt", "agent") and event not in _WITH_MODEL:
        return f"a handler of {event} may not be of type {kind}"
    return made


def ending_together(handlers: list[Handler]) -> list[Handler]:
    """Handlers of SessionEnd share their time: as much as the one that asks for most, for those that do not say."""
    longest = max((handler.seconds for handler in handlers if handler.event == "SessionEnd"), default=0.0)
    return [replace(each, shared_seconds=longest) if each.event == "SessionEnd" else each for each in handlers]


def once_each(handlers: Iterable[Handler]) -> list[Handler]:
    """Without those that do what an earlier one does."""
    found: dict[str, Handler] = {}
    for handler in handlers:
        found.setdefault(handler.key, handler)
    return list(found.values())
