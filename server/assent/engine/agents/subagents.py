"""Subagents (T7): a second engine with its own context, tools and model, run to its end for one answer.

Its cost is booked in the parent's ledger, its events carry the parent's tool_use_id, and its calls pass the same
permission chain. A background agent outlives the turn that started it; its answer arrives as a notification. `setup`
configures an agent, `isolation` gives it a worktree.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread
import msgspec

from assent.engine.agents.isolation import AgentWorktree, open_worktree
from assent.engine.agents.runs import AgentRun
from assent.engine.agents.setup import (
    check_lineage,
    config_of,
    first_words,
    missing,
    services_of,
    state_of,
    tools_of,
)
from assent.engine.config import EngineConfig
from assent.engine.conversation_past import ConversationPast
from assent.engine.services import Services
from assent.extensions.agents import AgentDefinition, find
from assent.tools.tool import ToolContext, ToolOutput
from assent.types.blocks import text_block, text_of
from assent.types.errors import ToolError
from assent.types.hooks import HookCall
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    ConversationMessage,
    HookRan,
    Message,
    Notice,
    Result,
    StreamEvent,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)

if TYPE_CHECKING:
    from assent.engine.budget import Ledger
    from assent.engine.turn import Turn

MARKED = (AssistantMessage, UserMessage, AssistantFinal, StreamEvent)
PASSED_ON = (*MARKED, ToolStarted, ToolProgress, ToolFinished)
NO_ANSWER = ToolOutput(content="The agent ended without an answer.", is_error=True, summary="no answer")


class AgentEngine(Protocol):
    """What is used of the engine that an agent is; `query_engine`, which runs agents, hands in how to make one."""

    @property
    def ledger(self) -> Ledger: ...
    @property
    def messages(self) -> list[ConversationMessage]: ...
    def submit(self, prompt: str, /) -> AsyncGenerator[Message]: ...
    def abort(self) -> None: ...
    async def aclose(self) -> None: ...


class Subagents:
    def __init__(
        self, turn: Turn, *, make_engine: Callable[[EngineConfig, Services, ConversationPast], AgentEngine]
    ) -> None:
        self._turn = turn
        self._make_engine = make_engine

    async def run(
        self,
        *,
        agent: str,
        prompt: str,
        description: str,
        background: bool,
        ctx: ToolContext,
        isolated: bool = False,
        resume: str = "",
        model: str = "",
    ) -> ToolOutput:
        turn = self._turn
        earlier: Sequence[ConversationMessage] = ()
        isolated_then = False
        if resume:
            agent, earlier, isolated_then = await self._earlier(resume)
        definition = self._definition(agent)
        isolated = isolated or definition.isolation == "worktree"
        if isolated_then and not isolated:
            raise ToolError(f"Agent {resume} worked in a worktree: resume it with isolation worktree")
        check_lineage(turn, definition)
        background = self._in_background(definition, background)
        run = AgentRun(
            agent_id=resume or turn.services.new_id(),
            name=definition.name,
            title=description,
            parent_tool_use_id=ctx.tool_use_id,
            background=background,
            nested=bool(turn.config.lineage),
            isolated=isolated,
            color=definition.color,
        )
        worktree: AgentWorktree | None = None
        if isolated:
            worktree = await open_worktree(turn, run.agent_id, ctx)
        try:
            prompt = await self._started(definition, prompt, ctx.tool_use_id)
            await self._tell_missing(definition)
            words = first_words(turn, definition, prompt, self._briefing(worktree))
        except BaseException:
            if worktree is not None:
                await worktree.close()
            raise
        turn.conversation.agents.add(run)
        work = _Work(
            subagents=self, run=run, definition=definition, ctx=ctx, worktree=worktree, earlier=earlier, model=model
        )
        run.task = turn.background.spawn(work.to_the_end(words), name=f"agent {run.agent_id}")
        if not background:
            await _settled(run)
        if run.output is None:
            return ToolOutput(
                content=f"Agent {run.agent_id} works in the background. You will be told when it is done; go on "
                "meanwhile.",
                summary=f"started {run.agent_id}",
                response=lambda: {**run.response("async_launched"), "description": description, "prompt": prompt},
            )
        return run.output

    def repeatable(self, agent: str, *, isolated: bool, background: bool = False, resume: str = "") -> bool:
        if resume:
            run = self._turn.conversation.agents.get(resume)
            if run is None:
                return False  # of an earlier process: which one it is says only its file
            agent = run.name
        definition = find(self._turn.services.agents(), agent)
        if definition is None:
            return True  # it will not start at all
        if self._in_background(definition, background):
            return False
        if isolated or definition.isolation == "worktree":
            return True
        return all(tool.read_only for tool in tools_of(self._turn, definition))

    def _in_background(self, definition: AgentDefinition, asked: bool) -> bool:
        """An agent's own agents are always waited for: they would die with it."""
        return (asked or definition.background) and not self._turn.config.lineage

    def make_engine(self, config: EngineConfig, services: Services, past: ConversationPast) -> AgentEngine:
        return self._make_engine(config, services, past)

    @property
    def turn(self) -> Turn:
        return self._turn

    def _definition(self, agent: str) -> AgentDefinition:
        known = self._turn.services.agents()
        definition = find(known, agent)
        if definition is None:
            raise ToolError(f"There is no agent {agent!r}. The agents are: {', '.join(each.name for each in known)}.")
        return definition

    async def _earlier(self, agent_id: str) -> tuple[str, Sequence[ConversationMessage], bool]:
        """The name and the conversation of an agent that is to go on, and whether it was isolated."""
        turn = self._turn
        run, logs = turn.conversation.agents.get(agent_id), turn.services.agent_logs
        if run is not None and run.output is None:
            raise ToolError(f"Agent {agent_id} is still at work; wait until you are told that it is done")
        if run is not None and run.messages:
            return run.name, run.messages, run.isolated
        started = await anyio.to_thread.run_sync(logs.started, agent_id) if logs is not None else None
        if logs is None or started is None:
            ended = ", ".join(turn.conversation.agents.ended_ids()[-10:])
            raise ToolError(f"There is no agent {agent_id} to go on with. " + (f"There are: {ended}" if ended else ""))
        messages = await anyio.to_thread.run_sync(logs.messages, agent_id)
        return str(started.get("name", "")), messages, started.get("isolated") is True

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

    async def _tell_missing(self, definition: AgentDefinition) -> None:
        """Once for a conversation: what its definition names and is not there. It works without."""
        told = self._turn.conversation.agents.told_missing
        if definition.name not in told and (words := missing(self._turn, definition)):
            told.add(definition.name)
            text = f"The agent {definition.name} ({definition.source}) names what is not here: {', '.join(words)}."
            await self._turn.tell(Notice(level="warning", text=text))

    def _briefing(self, worktree: AgentWorktree | None) -> str:
        scratch = self._turn.services.scratchpad()
        shared = f"All agents of this session share the folder {scratch} for notes and files." if scratch else ""
        return "\n\n".join(part for part in (worktree.briefing() if worktree is not None else "", shared) if part)


class _Work:
    """One run of one agent, in a task of its own."""

    def __init__(
        self,
        *,
        subagents: Subagents,
        run: AgentRun,
        definition: AgentDefinition,
        ctx: ToolContext,
        worktree: AgentWorktree | None,
        earlier: Sequence[ConversationMessage],
        model: str,
    ) -> None:
        self._subagents = subagents
        self._turn = subagents.turn
        self._run = run
        self._definition = definition
        self._ctx = ctx
        self._worktree = worktree
        self._earlier = earlier
        self._model = model

    async def to_the_end(self, words: str) -> None:
        run, turn, output = self._run, self._turn, NO_ANSWER
        try:
            output = await self._answer(words)
            if self._worktree is not None:
                output = await self._with_changes(self._worktree, output)
        except ToolError as error:
            output = ToolOutput(content=str(error), is_error=True, summary="failed")
        finally:
            if self._worktree is not None:
                await self._worktree.close()
            waited_for = not run.settled.is_set() and not run.background
            output = self._with_tasks(output)
            run.ended(output)
        if not waited_for:
            how = {"stopped": "was stopped by the user", "failed": "failed"}.get(run.state, "is done")
            text = f"Agent {run.agent_id} ({run.title}) {how}:\n{text_of(output.content)}"
            data = {"agent": run.agent_id, "description": run.title}
            notice = turn.attachment("task_notification", text, data)
            turn.conversation.inbox.put(notice)
            turn.services.publish(notice)
            if run.front is not None:
                turn.services.front_ended(run.agent_id)

    async def _answer(self, words: str) -> ToolOutput:
        run, turn, definition, ctx = self._run, self._turn, self._definition, self._ctx
        cwd = self._worktree.home if self._worktree is not None else ctx.cwd
        config = config_of(turn, definition, ctx, cwd=cwd, model=self._model)
        state = state_of(turn, definition, cwd=cwd)
        log = turn.services.agent_logs.open(run.agent_id) if turn.services.agent_logs is not None else None
        async with contextlib.AsyncExitStack() as ending:
            if log is not None:
                more = {"isolated": True} if run.isolated else {}
                log.begin(name=definition.name, title=run.title, parentToolUseId=ctx.tool_use_id, **more)
                ending.callback(log.close)
            if definition.hooks and turn.services.scoped_hooks is not None:
                leave = turn.services.scoped_hooks.enter(
                    definition.hooks,
                    session_id=config.session_id,
                    source="agent",
                    file=definition.source,
                    agent_id=ctx.tool_use_id,
                )
                ending.callback(leave)
            entering = turn.services.agent_servers(definition)
            own = await ending.enter_async_context(entering) if entering is not None else None
            for problem in own.problems() if own is not None else ():
                text = f"The agent {definition.name} works without one of its MCP servers: {problem}"
                await self._publish(Notice(level="warning", text=text))
            services = services_of(turn, definition, state, log, agent_id=run.agent_id, own=own)
            if self._worktree is not None:
                services = self._worktree.services(services, state)
            return await self._engine_run(config, services, words)

    async def _engine_run(self, config: EngineConfig, services: Services, words: str) -> ToolOutput:
        run, turn = self._run, self._turn
        engine = self._subagents.make_engine(config, services, ConversationPast(messages=tuple(self._earlier)))
        run.ledger, run.abort = engine.ledger, engine.abort
        result: Result | None = None
        limit, spent = turn.config.max_budget_usd, False
        try:
            async with aclosing(engine.submit(words)) as messages:
                async for message in messages:
                    if isinstance(message, Result):
                        result = message
                    elif isinstance(message, PASSED_ON):
                        run.calls += isinstance(message, ToolStarted)
                        await self._publish(_under(message, config.parent_tool_use_id))
                    if not spent and turn.ledger.spent(limit):
                        spent = True  # of the session: in the background nobody else looks (Q9)
                        engine.abort()
        finally:
            run.messages = [] if services.agent_logs is not None else engine.messages  # else its file has them
            await engine.aclose()
            services.owners.release(config.parent_tool_use_id)
        return self._told(result, limit if spent else None)

    def _told(self, result: Result | None, limit: float | None) -> ToolOutput:
        if result is None:
            return NO_ANSWER
        if self._run.state == "stopped":
            said = f" Its last words: {run_words}" if (run_words := result.result.strip()) else ""
            words = f"The user stopped this agent. What it did so far stays.{said}"
            return ToolOutput(content=words, is_error=True, summary="stopped")
        if limit is not None and result.is_error:
            words = f"The agent was stopped: the budget of ${limit} is spent."
            return ToolOutput(content=words, is_error=True, summary="budget spent")
        said = result.result or "(the agent said nothing)"
        return ToolOutput(
            content=f"{said}\n\n[agent {self._run.agent_id}; resume continues it]",
            is_error=result.is_error,
            summary=f"{result.num_turns} steps, ${result.total_cost_usd:.4f}",
            response=lambda: {
                **self._run.response("completed"),
                "content": [text_block(said)],
                "totalToolUseCount": self._run.calls,
                "totalDurationMs": result.duration_ms,
                "totalTokens": result.usage.context_tokens,
                "usage": msgspec.to_builtins(result.usage),
            },
        )

    async def _with_changes(self, worktree: AgentWorktree, output: ToolOutput) -> ToolOutput:
        """The answer, and what became of the agent's changes."""
        scratch = self._turn.services.scratchpad()
        kept = scratch / self._run.agent_id if scratch is not None else None

        def emit(message: Message) -> None:
            if isinstance(message, ToolStarted | ToolFinished | ToolProgress | HookRan):
                if self._run.background:
                    self._turn.services.publish(message)
                else:
                    self._turn.post(message)

        words = await worktree.taken_over(self._ctx, kept=kept, emit=emit)
        return replace(output, content=f"{text_of(output.content)}\n\n{words}")

    def _with_tasks(self, output: ToolOutput) -> ToolOutput:
        """Nobody works on the agent's tasks any more: the list says so, and so does the answer."""
        team = self._turn.services.team
        left = team.board.give_back(self._run.agent_id) if team is not None else []
        if not left:
            return output
        names = ", ".join(f"#{task.id} {task.subject}" for task in left)
        words = f"[It left in progress, and nobody has them now: {names}]"
        return replace(output, content=f"{text_of(output.content)}\n\n{words}")

    async def _publish(self, message: Message) -> None:
        """To the turn while its call waits; afterwards the turn may be over."""
        if self._run.background:
            self._turn.services.publish(message)
        else:
            await self._turn.tell(message)


def _under(message: Message, parent: str | None) -> Message:
    """What the agent said, under the call that started it; what an agent of its own said stays under that one's."""
    if isinstance(message, MARKED) and message.parent_tool_use_id is None:
        return replace(message, parent_tool_use_id=parent)
    return message


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
