"""Agents from Markdown: `.assent/agents`, `.claude/agents` and `.github/agents`, each with the fields its tool uses.

The header names the agent (a Copilot agent may go by its file name), the body is its whole system prompt. What a
plugin says of hooks, servers and permission modes does not count. A field with a value that means nothing is told and
left out; the agent works without it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, cast, get_args

import orjson

from assent.extensions.agents import AgentDefinition, MemoryScope
from assent.extensions.definitions import FileNotice, MarkdownFile, Origin
from assent.types.permissions import MODES, Mode

_MODE_NAMES = {mode.casefold(): mode for mode in MODES} | {"manual": "default"}
_NOT_OF_PLUGINS = ("hooks", "mcpServers", "mcp-servers", "permissionMode")
_IGNORED = {
    "handoffs": "nothing offers the next agent when one is done; let the agent that started it start that one",
    "target": "the agent is offered here, whichever program it was written for",
    "argument-hint": "only the model starts agents, with a task in its own words",
    "user-invocable": "only the model starts agents; `disable-model-invocation` keeps it from that",
}
_COPILOT_TOOLS = {
    "read": ("Read",),
    "edit": ("Edit", "Write", "MultiEdit", "NotebookEdit"),
    "search": ("Grep", "Glob"),
    "execute": ("Bash", "BashOutput", "KillShell"),
    "shell": ("Bash", "BashOutput", "KillShell"),
    "runCommands": ("Bash", "BashOutput", "KillShell"),
    "web": ("WebFetch", "WebSearch"),
    "fetch": ("WebFetch",),
    "todo": ("TodoWrite",),
    "todos": ("TodoWrite",),
    "agent": ("Agent",),
    "codebase": ("Grep", "Glob", "Read"),
    "editFiles": ("Edit", "Write", "MultiEdit", "NotebookEdit"),
    "runInTerminal": ("Bash", "BashOutput", "KillShell"),
    "problems": ("Diagnostics",),
    "usages": ("References", "Definition"),
}


def agent_of(file: MarkdownFile, origin: Origin) -> tuple[AgentDefinition | None, list[FileNotice]]:
    notices = file.notices()
    front, path = file.front, PurePath(file.path)
    of_copilot = ".github" in path.parts or ".copilot" in path.parts or path.name.endswith(".agent.md")
    name = front.text("name")
    if not name and of_copilot:
        name = path.name.removesuffix(".md").removesuffix(".agent")
    line = front.lines.get("name", 1)
    if problem := _name_problem(name):
        return None, file.left_out(problem, line)
    description = " ".join(front.text("description").split())
    if not description:
        text = "has no description, so nobody could know when to use the agent; it is left out"
        return None, file.left_out(text, 1)

    def wrong(key: str, words: str) -> None:
        notices.append(FileNotice(file=file.path, line=front.lines.get(key), text=words))

    mode: Mode | None = None
    said = front.text("permissionMode")
    if said and origin.scope != "plugin":
        mode = cast("Mode | None", _MODE_NAMES.get(said.casefold()))
        if mode is None:
            wrong("permissionMode", f"{said!r} is not a permission mode; the agent has its parent's")
    if origin.scope == "plugin":
        for key in (each for each in _NOT_OF_PLUGINS if each in front.fields):
            wrong(key, f"{key} does not count in an agent of a plugin; put a copy of the agent into your own agents")
    memory = front.text("memory")
    if memory and memory not in get_args(MemoryScope):
        wrong("memory", f"memory must be user, project or local, not {memory!r}")
        memory = ""
    isolation = front.text("isolation")
    if isolation and isolation != "worktree":
        wrong("isolation", f"isolation can only be worktree, not {isolation!r}")
    turns = front.number("maxTurns")
    if "maxTurns" in front.fields and (turns is None or turns < 1):
        wrong("maxTurns", "maxTurns must be a whole number of at least 1")
        turns = None
    tools = front.names("tools")
    trusted_parts = origin.scope != "plugin"
    hooks = front.fields.get("hooks")
    if hooks is not None and not isinstance(hooks, dict):
        wrong("hooks", "hooks must be a map from events to lists, as in the settings; they are left out")
    servers = _servers(front.fields.get("mcpServers", front.fields.get("mcp-servers"))) if trusted_parts else ()
    if any(not isinstance(server, str | dict) for server in servers):
        key = "mcpServers" if "mcpServers" in front.fields else "mcp-servers"
        wrong(key, "an entry must be the name of a server, or a map from a name to its configuration; it is left out")
        servers = tuple(cast("Any", server) for server in servers if isinstance(server, str | dict))
    model = _model(front.fields.get("model"), front.text("model"))
    agent = AgentDefinition(
        name=name,
        description=description,
        prompt=front.body.strip(),
        tools=copilot_tools(tools) if of_copilot and tools is not None else tools,
        disallowed_tools=front.names("disallowedTools") or (),
        model=model,
        max_turns=turns,
        source=origin.source,
        origin=origin,
        effort=front.text("effort") or None,
        permission_mode=mode,
        skills=front.names("skills") or (),
        mcp_servers=servers,
        hooks=hooks if isinstance(hooks, dict) and trusted_parts else {},
        memory=cast("MemoryScope | None", memory or None),
        background=front.flag("background"),
        isolation="worktree" if isolation == "worktree" else None,
        agents=_started(tools, front.names("agents")),
        initial_prompt=front.text("initialPrompt"),
        color=front.text("color"),
        model_invocable=not front.flag("disable-model-invocation"),
        ignored=tuple(
            FileNotice(file=file.path, line=front.lines.get(key), text=f"{key} is ignored: {why}", kind="agents")
            for key, why in _IGNORED.items()
            if key in front.fields
        ),
    )
    return agent, notices


def activates(agent: AgentDefinition) -> str:
    """What it would run or loosen, as text to approve; empty for one that only says how to work."""
    parts: list[str] = []
    if agent.hooks:
        parts.append(f"hooks {orjson.dumps(agent.hooks, option=orjson.OPT_SORT_KEYS).decode()}")
    if any(isinstance(server, dict) for server in agent.mcp_servers):
        parts.append(f"MCP servers {orjson.dumps(agent.mcp_servers, option=orjson.OPT_SORT_KEYS).decode()}")
    if agent.permission_mode in ("acceptEdits", "auto", "bypassPermissions"):
        parts.append(f"works in mode {agent.permission_mode}, where its parent may")
    return "\n".join(parts)


def _name_problem(name: str) -> str:
    if not name:
        return "has no `name` in its header, so the agent is left out"
    if ":" in name or name.startswith("-"):
        return f"{name!r} cannot be the name of an agent: it holds `:` or begins with `-`"
    return ""


def _model(value: object, text: str) -> str | None:
    """Copilot allows a list, of which the first one counts."""
    name = str(cast("list[object]", value)[0]) if isinstance(value, list) and value else text
    return None if name in ("", "inherit") else name


def _servers(value: object) -> tuple[Any, ...]:
    if isinstance(value, list):
        return tuple(cast("list[Any]", value))
    if isinstance(value, dict):
        return tuple({name: entry} for name, entry in cast("dict[str, Any]", value).items())
    return (value,) if isinstance(value, str) else ()


def copilot_tools(names: tuple[str, ...]) -> tuple[str, ...]:
    """Copilot's names for tools and groups of them as ours; `search/codebase` is of the group `search`."""
    found: list[str] = []
    for name in names:
        group, slash, tool = name.partition("/")
        of_group = _COPILOT_TOOLS.get(group, ()) if slash else ()
        known = _COPILOT_TOOLS.get(tool if of_group else name) or of_group
        found += known if known and not slash else (*known, name)  # a server may be called as a group is
    return tuple(dict.fromkeys(found))


def _started(tools: tuple[str, ...] | None, agents: tuple[str, ...] | None) -> tuple[str, ...]:
    """Which agents it may start: `Agent(a, b)` among its tools, or Copilot's `agents`."""
    if agents is not None:
        return agents
    for tool in tools or ():
        head, bracket, rest = tool.partition("(")
        if head in ("Agent", "Task") and bracket:
            return tuple(name.strip() for name in rest.rstrip(")").split(",") if name.strip())
    return ()
