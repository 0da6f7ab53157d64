"""Agent definitions: who a subagent is, what it may use, and the ones that come built in (T7).

Those of users, projects and plugins are read from Markdown by `agent_files`. Nothing here starts an agent.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assent.extensions.definitions import BUILT_IN as OURS
from assent.extensions.definitions import FileNotice, Origin
from assent.types.permissions import Mode

MemoryScope = Literal["user", "project", "local"]
_WIDTH: tuple[Mode, ...] = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")
"""Modes from the one that permits least to the one that permits most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """`tools` None means all of the parent's; `disallowed_tools` are taken away from either.

    `tools` may name a server (`mcp__server`, `mcp__server__*`, `server/*`) instead of a single tool.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None  # None: the parent's
    max_turns: int | None = None
    source: str = "built-in"
    origin: Origin = OURS
    effort: str | None = None
    permission_mode: Mode | None = None  # never wider than the parent's: see `narrowed`
    skills: tuple[str, ...] = ()  # their whole text stands before the task
    mcp_servers: tuple[Any, ...] = ()
    hooks: dict[str, Any] = field(default_factory=dict[str, Any])
    memory: MemoryScope | None = None
    background: bool = False
    isolation: Literal["worktree"] | None = None
    agents: tuple[str, ...] = ()  # which agents it may start; none by itself
    initial_prompt: str = ""  # stands before the task
    color: str = ""  # for editors
    model_invocable: bool = True
    withheld: str = ""  # why it cannot be used
    ignored: tuple[FileNotice, ...] = ()  # fields that other tools know and that mean nothing here

    def forbids(self, tool: str) -> bool:
        return any(names_tool(pattern, tool) for pattern in self.disallowed_tools)

    def may_use(self, tool: str) -> bool:
        return not self.forbids(tool) and (
            self.tools is None or any(names_tool(pattern, tool) for pattern in self.tools)
        )

    def covers_any(self, pattern: str, tools: Iterable[str]) -> bool:
        """Whether an entry of `tools` names anything there is."""
        return any(names_tool(pattern, tool) for tool in tools)


def named_server(server: str, tool: str) -> bool:
    """Whether the tool belongs to this MCP server."""
    return tool.startswith(f"mcp__{server}__")


def narrowed(parent: Mode, wanted: Mode | None) -> Mode:
    """The mode of a subagent: what its definition wants, unless that permits more than its parent may do."""
    if wanted is None or _WIDTH.index(wanted) > _WIDTH.index(parent):
        return parent
    return wanted


def names_tool(pattern: str, tool: str) -> bool:
    """Whether an entry of `tools` covers a tool: by its name, by its server, or all with `*`."""
    head = pattern.split("(", 1)[0].strip()
    if head in ("*", tool) or (head == "Task" and tool == "Agent"):
        return True
    if head.endswith("/*"):  # as Copilot names the tools of a server
        head = f"mcp__{head[:-2]}"
    if head.startswith("mcp__") and head.count("__") == 1:
        return tool.startswith(f"{head}__")
    if head.startswith("mcp__") and head.endswith("*"):
        return tool.startswith(head[:-1])
    return bool(re.fullmatch(r"[\w-]+/[\w-]+", head)) and tool == f"mcp__{head.replace('/', '__', 1)}"


GENERAL_PURPOSE = AgentDefinition(
    name="general-purpose",
    description=(
        "Carries out a self-contained task with every tool you have: research across many files, a change you can "
        "describe completely, a question whose answer takes several searches."
    ),
    prompt=(
        "You are an agent working for another agent inside a coding session. You get one task and nobody to ask, so "
        "settle open questions yourself in the most sensible way and say what you assumed. Do exactly the task: no "
        "extra files, no unasked refactoring. Your last message is all the other agent will see of your work: give "
        "the answer or the outcome first, then the facts it rests on, with absolute file paths and line numbers. "
        "Say plainly what you could not find or finish."
    ),
)

EXPLORE = AgentDefinition(
    name="explore",
    description=(
        "A quick, read-only scout: finds where things are and how they hang together. Use it when you would "
        "otherwise read many files just to locate a few."
    ),
    prompt=(
        "You scout a code base for another agent and change nothing. Search broadly first, then read only what "
        "matters. Run independent searches in one step. Your last message is all the other agent will see: say what "
        "is where, as absolute paths with line numbers, how the pieces connect, and what you did not find. Quote "
        "code only where the exact text matters."
    ),
    tools=("Read", "Glob", "Grep", "Symbols", "Definition", "References", "Hover", "Diagnostics"),
)

BUILT_IN: tuple[AgentDefinition, ...] = (GENERAL_PURPOSE, EXPLORE)


def registry(*groups: Iterable[AgentDefinition]) -> tuple[AgentDefinition, ...]:
    """All agents by name; a later group replaces a name of an earlier one."""
    found: dict[str, AgentDefinition] = {}
    for group in groups:
        for agent in group:
            found[agent.name] = agent
    return tuple(found.values())


def find(agents: Sequence[AgentDefinition], name: str) -> AgentDefinition | None:
    wanted = name.casefold()
    return next((agent for agent in agents if agent.name.casefold() == wanted), None)
