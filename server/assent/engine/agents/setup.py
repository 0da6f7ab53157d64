"""The setup of an agent (T7): configuration, tools, mode, memory and first prompt, from its definition and its parent.

An agent never has more rights than its parent: its mode is narrowed, its calls pass the parent's permission check, and
its cost is booked in the parent's ledger. Its tools are those of the session that its definition names.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assent.engine.services import NoTranscript, OwnServers, Status, Transcript
from assent.extensions.agents import AgentDefinition, named_server, narrowed
from assent.tools.tool import AnyTool, SessionState, ToolContext
from assent.types.errors import ToolError
from assent.types.permissions import Mode, Verdict
from assent.types.ports import CanUseTool, ToolCall

if TYPE_CHECKING:
    from assent.engine.config import EngineConfig
    from assent.engine.services import Services
    from assent.engine.turn import Turn

NOT_FOR_SUBAGENTS = frozenset({"EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree"})
DEEPEST = 3  # agents of agents of agents
MEMORY_LINES = 200
FOR_MEMORY = frozenset({"Read", "Write", "Edit"})


def check_lineage(turn: Turn, definition: AgentDefinition) -> None:
    lineage = turn.config.lineage
    if definition.name in lineage:
        way = " → ".join((*lineage, definition.name))
        raise ToolError(f"Agents would start each other in a circle: {way}. Do this part yourself")
    if len(lineage) >= DEEPEST:
        raise ToolError(f"Agents can start agents only {DEEPEST} deep: {' → '.join(lineage)}. Do this part yourself")


def tools_of(turn: Turn, definition: AgentDefinition) -> list[AnyTool]:
    return [tool for tool in _session_tools(turn) if _has(definition, tool.name)]


def _session_tools(turn: Turn) -> tuple[AnyTool, ...]:
    given = turn.services.session_tools
    return tuple(given()) if given is not None else turn.source_tools()


def _has(definition: AgentDefinition, tool: str) -> bool:
    if tool in NOT_FOR_SUBAGENTS or definition.forbids(tool):
        return False
    if tool == "Agent":
        return bool(definition.agents)  # only those it names: an agent has none by itself
    return (
        definition.may_use(tool)
        or (definition.memory is not None and tool in FOR_MEMORY)
        or any(named_server(server, tool) for server in definition.mcp_servers if isinstance(server, str))
    )


def missing(turn: Turn, definition: AgentDefinition) -> list[str]:
    """The tools, skills, agents and servers that its definition names and the session lacks, for people to read."""
    tools = {tool.name for tool in _session_tools(turn)}
    words = [f"tool {name}" for name in definition.tools or () if not definition.covers_any(name, tools)]
    known = turn.services.skill_text
    words += [f"skill {name}" for name in definition.skills if known is None or not known(name)]
    names = {agent.name for agent in (turn.services.session_agents or turn.services.agents)()}
    words += [f"agent {name}" for name in definition.agents if name not in names]
    servers = [server for server in definition.mcp_servers if isinstance(server, str)]
    words += [f"MCP server {name}" for name in servers if not any(named_server(name, tool) for tool in tools)]
    if definition.model and turn.services.written_model(definition.model) is None:
        words.append(f"model {definition.model}")
    return words


def config_of(turn: Turn, definition: AgentDefinition, ctx: ToolContext, *, cwd: str, model: str) -> EngineConfig:
    wanted = model or definition.model
    return replace(
        turn.config,
        cwd=cwd,
        model=(turn.services.written_model(wanted) if wanted else None) or turn.model,
        effort=definition.effort or turn.config.effort,
        custom_system_prompt=definition.prompt,
        append_system_prompt=None,
        max_turns=definition.max_turns,
        max_budget_usd=None,
        task_budget=None,
        token_budget=None,
        json_schema=None,
        replay_user_messages=False,
        background_calls=frozenset(),
        source="subagent",
        chain=turn.chain,
        depth=turn.config.depth + 1,
        parent_tool_use_id=ctx.tool_use_id,
        lineage=(*turn.config.lineage, definition.name),
    )


def state_of(turn: Turn, definition: AgentDefinition, *, cwd: str) -> SessionState:
    return SessionState(cwd=cwd, mode=narrowed(turn.app.mode, definition.permission_mode), worktree=turn.app.worktree)


def services_of(
    turn: Turn,
    definition: AgentDefinition,
    state: SessionState,
    log: Transcript | None,
    *,
    agent_id: str,
    own: OwnServers | None = None,
) -> Services:
    allowed, everyone = frozenset(definition.agents), turn.services.session_agents or turn.services.agents

    def tools() -> list[AnyTool]:
        found = tools_of(turn, definition)
        beside = own.beside(found) if own is not None else found
        return [tool for tool in beside if not definition.forbids(tool.name)]

    return replace(
        turn.services,
        tools=tools,
        mcp_clients=own.clients if own is not None else tuple,
        commands=tuple,
        agents=lambda: tuple(agent for agent in everyone() if agent.name in allowed),
        session_tools=turn.services.session_tools or turn.source_tools,
        session_agents=everyone,
        agent_runs=turn.conversation.agents,
        can_use_tool=turn.can_use_tool if state.mode == turn.app.mode else _in_mode(turn.can_use_tool, state.mode),
        review_edit=turn.review_edit,
        state=lambda: state,
        set_state=None,
        set_status=_quiet,
        abort=None,
        snip_replay=None,
        transcript=log or NoTranscript(),
        take_queued=None,
        attachment_sources=(),
        team=turn.services.team.member(definition.name, agent_id) if turn.services.team is not None else None,
        on_spend=turn.ledger.book,
    )


def first_words(turn: Turn, definition: AgentDefinition, prompt: str, briefing: str) -> str:
    """The skills it begins with, its memory, where it works, then its task."""
    known = turn.services.skill_text
    found = [(name, known(name)) for name in definition.skills] if known is not None else []
    skills = [f"The skill {name}:\n{text}" for name, text in found if text]
    return "\n\n".join(
        part for part in (*skills, notes(turn, definition), briefing, definition.initial_prompt, prompt) if part
    )


def notes(turn: Turn, definition: AgentDefinition) -> str:
    """What it wrote down in earlier runs, and how to keep that."""
    folder = turn.services.agent_memory(definition) if definition.memory is not None else None
    if folder is None:
        return ""
    words = (
        f"You have a memory of your own in {folder}. What is worth knowing the next time you are called goes into "
        "MEMORY.md there (keep it short; longer notes in files beside it). "
    )
    text = _head(folder / "MEMORY.md")
    return words + (f"It says:\n{text}" if text else "It is empty so far.")


def _head(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return "".join(line for _, line in zip(range(MEMORY_LINES), lines, strict=False)).strip()[:32_000]
    except OSError:
        return ""


def _in_mode(can_use_tool: CanUseTool, mode: Mode) -> CanUseTool:
    """The same permissions, in the narrower mode of an agent."""

    async def judge(call: ToolCall) -> Verdict:
        return await can_use_tool(replace(call, mode=call.mode or mode))

    return judge


def _quiet(_status: Status) -> None:
    """The parent's status is the session's."""
