"""What a turn sets out with: its tools, and the `system/init` that tells of them."""

from __future__ import annotations

from assent.context.tokens import estimate_json, estimate_text
from assent.engine.turn import Turn
from assent.tools.snip import Snip
from assent.tools.structured_output import StructuredOutput
from assent.tools.tool import AnyTool
from assent.types.messages import SystemInit

OWN_TOOLS = frozenset({"Snip", "StructuredOutput"})  # the engine's: they touch nothing outside the conversation
SERVER_TOOLS = "mcp__"
NEEDS_A_PERSON = frozenset({"AskUserQuestion"})


def equip(turn: Turn, allowed: tuple[str, ...] | None = None) -> None:
    """The tools of this turn, in a stable order: what is on offer, enabled, and allowed by a command.

    Raises ToolError for a JSON schema that is not one.
    """
    config = turn.config
    offered = turn.source_tools()
    tools: list[AnyTool] = [tool for tool in offered if not tool.name.startswith(SERVER_TOOLS)]
    if offered and config.source == "main":
        tools.append(Snip())
    if config.json_schema is not None:
        tools.append(StructuredOutput(config.json_schema))
    tools += [tool for tool in offered if tool.name.startswith(SERVER_TOOLS)]  # last: more of them may come (T9)
    turn.offered, turn.allowed = offered, allowed
    turn.tools = {
        tool.name: tool
        for tool in tools
        if tool.enabled(turn.app)
        and (allowed is None or tool.name in allowed or tool.name in OWN_TOOLS)
        and (config.interactive or tool.name not in NEEDS_A_PERSON)
    }
    turn.definitions = tuple(tool.definition() for tool in turn.tools.values())
    weigh(turn)


def refresh(turn: Turn) -> None:
    """Before each request: a source may have other tools by now (an MCP server came up, a search loaded one)."""
    if turn.source_tools() != turn.offered:
        equip(turn, turn.allowed)


def weigh(turn: Turn) -> None:
    """Estimate what every request holds besides the conversation, for as long as the API has not counted it."""
    words = (*turn.system, turn.user_context)
    turn.window.overhead = sum(map(estimate_json, turn.definitions)) + sum(map(estimate_text, words))


def init_of(turn: Turn) -> SystemInit:
    config, services = turn.config, turn.services
    return SystemInit(
        session_id=config.session_id,
        model=turn.model,
        cwd=turn.app.cwd,
        tools=tuple(turn.tools),
        mcp_servers=tuple({"name": client.name, "status": client.status} for client in services.mcp_clients()),
        permission_mode=turn.app.mode,
        key_source=config.key_source,
        slash_commands=tuple(command.name for command in services.commands() if not command.hidden),
        agents=tuple(agent.name for agent in services.agents()),
    )
