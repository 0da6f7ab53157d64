"""Subagents (T7): a second engine with its own context, tools and model, run to its end for one answer.

Its spend is booked in the parent's ledger, its events carry the parent's tool_use_id, its calls go through the same
permissions. One in the background outlives the turn that started it; its answer comes as a notification.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from assent.engine.config import EngineConfig
from assent.engine.services import NoTranscript, Services, Status
from assent.extensions.agents import AgentDefinition, find
from assent.tools.tool import AnyTool, SessionState, ToolContext, ToolOutput
from assent.types.errors import ToolError
from assent.types.hooks import HookCall
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Message,
    Result,
    StreamEvent,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)

if TYPE_CHECKING:
    from assent.engine.turn import Turn

NOT_FOR_SUBAGENTS = frozenset({"Agent", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree"})
MARKED = (AssistantMessage, UserMessage, AssistantFinal, StreamEvent)
PASSED_ON = (*MARKED, ToolStarted, ToolProgress, ToolFinished)
Tell = Callable[[Message], Awaitable[None]]


class AgentEngine(Protocol):
    """What is used of the engine that an agent is; `query_engine`, which runs agents, hands in how to make one."""

    def submit(self, prompt: str, /) -> AsyncGenerator[Message]: ...
    def abort(self) -> None: ...
    async def aclose(self) -> None: ...


class Subagents:
    def __init__(self, turn: Turn, *, make_engine: Callable[[EngineConfig, Services], AgentEngine]) -> None:
        self._turn = turn
        self._make_engine = make_engine

    async def run(self, *, agent: str, prompt: str, description: str, background: bool, ctx: ToolContext) -> ToolOutput:
        turn = self._turn
        definition = find(turn.services.agents(), agent)
        if definition is None:
            names = ", ".join(each.name for each in turn.services.agents())
            raise ToolError(f"There is no agent {agent!r}. The agents are: {names}.")
        await self._started(definition, prompt)
        config, services = self._config(definition, ctx), self._services(definition, ctx)
        if not background:
            return await self._to_the_end(config, services, prompt, turn.tell)
        name = turn.services.new_id()
        turn.conversation.agents_running[name] = f"agent {name}: {description}"
        work = self._in_background(config, services, prompt, name, description)
        turn.background.spawn(work, name=f"agent {name}")
        return ToolOutput(
            content=f"Agent {name} works in the background. You will be told when it is done; go on meanwhile.",
            summary=f"started {name}",
        )

    async def _in_background(
        self, config: EngineConfig, services: Services, prompt: str, name: str, description: str
    ) -> None:
        turn = self._turn

        async def publish(message: Message) -> None:
            turn.services.publish(message)

        try:
            output = await self._to_the_end(config, services, prompt, publish)
            how = "failed" if output.is_error else "is done"
            text = f"Agent {name} ({description}) {how}:\n{output.content}"
        finally:
            turn.conversation.agents_running.pop(name, None)
        notice = turn.attachment("task_notification", text, {"agent": name, "description": description})
        turn.conversation.inbox.put(notice)
        turn.services.publish(notice)

    async def _to_the_end(self, config: EngineConfig, services: Services, prompt: str, tell: Tell) -> ToolOutput:
        engine = self._make_engine(config, services)
        result: Result | None = None
        limit, spent = self._turn.config.max_budget_usd, False
        try:
            async with aclosing(engine.submit(prompt)) as messages:
                async for message in messages:
                    if isinstance(message, Result):
                        result = message
                    elif isinstance(message, PASSED_ON):
                        passed = (
                            replace(message, parent_tool_use_id=config.parent_tool_use_id)
                            if isinstance(message, MARKED)
                            else message
                        )
                        await tell(passed)
                    if not spent and self._turn.ledger.spent(limit):
                        spent = True  # of the session: in the background nobody else looks (Q9)
                        engine.abort()
        finally:
            await engine.aclose()
            services.owners.release(config.parent_tool_use_id)
        if result is None:
            return ToolOutput(content="The agent ended without an answer.", is_error=True, summary="no answer")
        if spent and result.is_error:
            words = f"The agent was stopped: the budget of ${limit} is spent."
            return ToolOutput(content=words, is_error=True, summary="budget spent")
        return ToolOutput(
            content=result.result or "(the agent said nothing)",
            is_error=result.is_error,
            summary=f"{result.num_turns} steps, ${result.total_cost_usd:.4f}",
        )

    async def _started(self, definition: AgentDefinition, prompt: str) -> None:
        config, hooks = self._turn.config, self._turn.services.hooks
        if hooks.wants("SubagentStart"):
            data = {"agent": definition.name, "prompt": prompt}
            await hooks.run(
                HookCall(
                    event="SubagentStart",
                    session_id=config.session_id,
                    cwd=self._turn.app.cwd,
                    subject=definition.name,
                    data=data,
                )
            )

    def reads_only(self, agent: str) -> bool:
        definition = find(self._turn.services.agents(), agent)
        return definition is None or all(tool.read_only for tool in self._tools(definition))

    def _tools(self, definition: AgentDefinition) -> list[AnyTool]:
        return [
            tool
            for tool in self._turn.source_tools()
            if tool.name not in NOT_FOR_SUBAGENTS
            and (definition.tools is None or tool.name in definition.tools)
            and tool.name not in definition.disallowed_tools
        ]

    def _config(self, definition: AgentDefinition, ctx: ToolContext) -> EngineConfig:
        turn = self._turn
        return replace(
            turn.config,
            cwd=ctx.cwd,
            model=definition.model or turn.model,
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
            parent_tool_use_id=ctx.tool_use_id,
        )

    def _services(self, definition: AgentDefinition, ctx: ToolContext) -> Services:
        turn = self._turn
        state = SessionState(cwd=ctx.cwd, mode=turn.app.mode, worktree=turn.app.worktree)
        return replace(
            turn.services,
            tools=lambda: self._tools(definition),
            mcp_clients=tuple,
            commands=tuple,
            agents=tuple,
            can_use_tool=turn.can_use_tool,
            state=lambda: state,
            set_state=None,
            set_status=_quiet,
            abort=None,
            snip_replay=None,
            transcript=NoTranscript(),
            take_queued=None,
            attachment_sources=(),
            team=None,
            on_spend=turn.ledger.book,
        )


def _quiet(_status: Status) -> None:
    """The parent's status is the session's."""
