"""Subagents (T7): a second engine with its own context, tools and model, run to its end for one answer.

Its spend is booked in the parent's ledger, its events carry the parent's tool_use_id, its calls go through the same
permissions. One in the background outlives the turn that started it; its answer comes as a notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import anyio

from assent.engine.agent_runs import AgentRun
from assent.engine.config import EngineConfig
from assent.engine.services import NoTranscript, Services, Status
from assent.extensions.agents import AgentDefinition, find, narrowed
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
from assent.types.permissions import Mode, Verdict
from assent.types.ports import CanUseTool, ToolCall

if TYPE_CHECKING:
    from assent.engine.budget import Ledger
    from assent.engine.turn import Turn

NOT_FOR_SUBAGENTS = frozenset({"Agent", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree"})
MARKED = (AssistantMessage, UserMessage, AssistantFinal, StreamEvent)
PASSED_ON = (*MARKED, ToolStarted, ToolProgress, ToolFinished)
Tell = Callable[[Message], Awaitable[None]]


class AgentEngine(Protocol):
    """What is used of the engine that an agent is; `query_engine`, which runs agents, hands in how to make one."""

    @property
    def ledger(self) -> Ledger: ...
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
        prompt = await self._started(definition, prompt, ctx.tool_use_id)
        config, services = self._config(definition, ctx), self._services(definition, ctx)
        prompt = "\n\n".join(part for part in (*self._preloaded(definition), definition.initial_prompt, prompt) if part)
        background = background or definition.background
        run = AgentRun(
            agent_id=turn.services.new_id(),
            name=definition.name,
            title=description,
            parent_tool_use_id=ctx.tool_use_id,
            background=background,
        )
        turn.conversation.agents.add(run)
        run.task = turn.background.spawn(self._work(run, config, services, prompt), name=f"agent {run.agent_id}")
        if not background:
            await _settled(run)
        if run.output is None:
            return ToolOutput(
                content=f"Agent {run.agent_id} works in the background. You will be told when it is done; go on "
                "meanwhile.",
                summary=f"started {run.agent_id}",
            )
        return run.output

    async def _work(self, run: AgentRun, config: EngineConfig, services: Services, prompt: str) -> None:
        turn = self._turn

        async def publish(message: Message) -> None:
            """To the turn while its call waits; afterwards the turn may be over."""
            if run.background:
                turn.services.publish(message)
            else:
                await turn.tell(message)

        output = ToolOutput(content="The agent ended without an answer.", is_error=True, summary="no answer")
        try:
            output = await self._to_the_end(run, config, services, prompt, publish)
        finally:
            waited_for = not run.settled.is_set() and not run.background
            run.ended(output)
        if not waited_for:
            how = {"stopped": "was stopped by the user", "failed": "failed"}.get(run.state, "is done")
            text = f"Agent {run.agent_id} ({run.title}) {how}:\n{output.content}"
            data = {"agent": run.agent_id, "description": run.title}
            notice = turn.attachment("task_notification", text, data)
            turn.conversation.inbox.put(notice)
            turn.services.publish(notice)

    async def _to_the_end(
        self, run: AgentRun, config: EngineConfig, services: Services, prompt: str, tell: Tell
    ) -> ToolOutput:
        engine = self._make_engine(config, services)
        run.ledger, run.abort = engine.ledger, engine.abort
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
        if run.state == "stopped":
            said = f" Its last words: {run_words}" if (run_words := result.result.strip()) else ""
            words = f"The user stopped this agent. What it did so far stays.{said}"
            return ToolOutput(content=words, is_error=True, summary="stopped")
        if spent and result.is_error:
            words = f"The agent was stopped: the budget of ${limit} is spent."
            return ToolOutput(content=words, is_error=True, summary="budget spent")
        return ToolOutput(
            content=result.result or "(the agent said nothing)",
            is_error=result.is_error,
            summary=f"{result.num_turns} steps, ${result.total_cost_usd:.4f}",
        )

    async def _started(self, definition: AgentDefinition, prompt: str, agent_id: str) -> str:
        """Run SubagentStart; the prompt with what its hooks want the agent to know."""
        config, hooks = self._turn.config, self._turn.services.hooks
        if not hooks.wants("SubagentStart"):
            return prompt
        data = {"agent": definition.name, "prompt": prompt}
        call = HookCall(
            event="SubagentStart",
            session_id=config.session_id,
            cwd=self._turn.app.cwd,
            subject=definition.name,
            data=data,
            agent_id=agent_id,
            agent_type=definition.name,
        )
        outcomes = await hooks.run(call)
        for outcome in outcomes:
            await self._turn.tell(outcome.ran("SubagentStart", agent_id))
        return "\n\n".join([prompt, *(outcome.context for outcome in outcomes if outcome.context)])

    def reads_only(self, agent: str) -> bool:
        definition = find(self._turn.services.agents(), agent)
        return definition is None or all(tool.read_only for tool in self._tools(definition))

    def _preloaded(self, definition: AgentDefinition) -> list[str]:
        """The text of the skills that the agent begins with."""
        known = self._turn.services.skill_text
        found = [(name, known(name)) for name in definition.skills] if known is not None else []
        return [f"The skill {name}:\n{text}" for name, text in found if text]

    def _tools(self, definition: AgentDefinition) -> list[AnyTool]:
        return [
            tool
            for tool in self._turn.source_tools()
            if tool.name not in NOT_FOR_SUBAGENTS and definition.may_use(tool.name)
        ]

    def _config(self, definition: AgentDefinition, ctx: ToolContext) -> EngineConfig:
        turn = self._turn
        return replace(
            turn.config,
            cwd=ctx.cwd,
            model=definition.model or turn.model,
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
            parent_tool_use_id=ctx.tool_use_id,
        )

    def _services(self, definition: AgentDefinition, ctx: ToolContext) -> Services:
        turn = self._turn
        mode = narrowed(turn.app.mode, definition.permission_mode)
        state = SessionState(cwd=ctx.cwd, mode=mode, worktree=turn.app.worktree)
        return replace(
            turn.services,
            tools=lambda: self._tools(definition),
            mcp_clients=tuple,
            commands=tuple,
            agents=tuple,
            can_use_tool=turn.can_use_tool if mode == turn.app.mode else _in_mode(turn.can_use_tool, mode),
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


async def _settled(run: AgentRun) -> None:
    """Wait in front of an agent. When the call is cut off, so is the agent."""
    try:
        await run.settled.wait()
    except BaseException:
        if run.task is not None and not run.background:
            run.task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([run.task])
        raise


def _in_mode(can_use_tool: CanUseTool, mode: Mode) -> CanUseTool:
    """The same permissions, in the narrower mode of an agent."""

    async def judge(call: ToolCall) -> Verdict:
        return await can_use_tool(replace(call, mode=mode))

    return judge


def _quiet(_status: Status) -> None:
    """The parent's status is the session's."""
