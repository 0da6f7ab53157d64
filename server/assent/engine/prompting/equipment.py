"""The tools and the frozen context of a turn, and the `system/init` message that lists the tools."""

from __future__ import annotations

from dataclasses import replace

from assent.context.tokens import estimate_json, estimate_text
from assent.engine.prompting.prompt import PromptContext, freeze, reloaded
from assent.engine.turn import Turn
from assent.extensions.agents import names_tool
from assent.tools.snip import Snip
from assent.tools.structured_output import StructuredOutput
from assent.tools.tool import AnyTool, TurnWish
from assent.types.messages import SystemInit

OWN_TOOLS = frozenset({"Snip", "StructuredOutput"})  # the engine's: they touch nothing outside the conversation
SERVER_TOOLS = "mcp__"
NEEDS_A_PERSON = frozenset({"AskUserQuestion"})


def equip(turn: Turn) -> None:
    """The tools of this turn, in a stable order: what is on offer, enabled, and left by a command or skill.

    Raises ToolError for a JSON schema that is not one.
    """
    config = turn.config
    offered = turn.source_tools()
    tools: list[AnyTool] = [tool for tool in offered if not tool.name.startswith(SERVER_TOOLS)]
    if offered and config.source == "main":
        tools.append(Snip())
    if config.json_schema is not None:
        tools.append(StructuredOutput(config.json_schema, check=turn.services.check_answer))
    tools += [tool for tool in offered if tool.name.startswith(SERVER_TOOLS)]  # last: more of them may come (T9)
    turn.offered = offered
    turn.tools = {
        tool.name: tool
        for tool in tools
        if tool.enabled(turn.app)
        and (tool.name in OWN_TOOLS or _left(turn, tool.name))
        and (config.interactive or tool.name not in NEEDS_A_PERSON)
    }
    turn.definitions = tuple(tool.definition() for tool in turn.tools.values())
    _weigh(turn)


def refresh(turn: Turn) -> None:
    """Before each request: a source may have other tools by now (an MCP server came up, a search loaded one)."""
    if turn.source_tools() != turn.offered:
        equip(turn)


async def take_wish(turn: Turn, wish: TurnWish, whose: str) -> None:
    """What a command or skill says of the turn: its model, effort and tools (Q4)."""
    if wish.effort is not None:
        turn.config = replace(turn.config, effort=wish.effort)
    if wish.model is not None:
        named = turn.services.written_model(wish.model)
        if named is None:
            await turn.notice(f"The {whose} wants the model {wish.model}, which is not to be had here.", "warning")
        turn.model = named or turn.model
    turn.without = (*turn.without, *wish.without)
    if wish.model is not None or wish.without or turn.allowed is not None:
        equip(turn)


async def take_wishes(turn: Turn) -> None:
    """Those of the skills that the model just loaded."""
    wishes, turn.wishes = turn.wishes, []
    for wish in wishes:
        await take_wish(turn, wish, "skill")


def _left(turn: Turn, name: str) -> bool:
    """Whether the tool is among those that a command names, if it names any, and nothing takes it away."""
    if any(names_tool(pattern, name) for pattern in turn.without):
        return False
    return turn.allowed is None or any(names_tool(pattern, name) for pattern in turn.allowed)


async def freeze_context(turn: Turn) -> PromptContext:
    """The system prompt and the user context: made once, and made again when their parts are configured differently."""
    known = turn.conversation
    if known.context is None or known.context.parts != turn.config.prompt_parts:
        known.context = await freeze(turn.config, turn.services, turn.app.cwd, known.background)
    turn.system, turn.user_context = known.context.system, known.context.user
    _weigh(turn)
    return known.context


async def refresh_context(turn: Turn) -> None:
    """After a compaction nothing is cached any more, so the contexts are made again."""
    turn.conversation.context = None
    turn.conversation.context = reloaded(await freeze_context(turn))


def _weigh(turn: Turn) -> None:
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
