"""The engine: one per conversation, owner of everything that lasts between turns (Q1).

`submit` is a generator of messages, `system/init` first and `result` last on every path (Q3). The turn behind it is a
plain coroutine in a task that `merge` owns; ending that task is how a turn is aborted (L14), and whatever ends it, the
history is left valid: every tool_use answered, the next turn just works.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from assent.engine.abort import Abort
from assent.engine.budget import Ledger
from assent.engine.config import QueryEngineConfig
from assent.engine.history import History
from assent.engine.loop import run
from assent.engine.merge import Background, Outlet, merged
from assent.engine.pairing import answers, repaired, unanswered
from assent.engine.prompt import system_prompt
from assent.engine.result import result_of
from assent.engine.state import State, Terminal
from assent.engine.turn import Turn
from assent.tools.executor import INTERRUPTED
from assent.tools.tool import SessionState
from assent.types.blocks import Block, Json, text_block
from assent.types.messages import (
    ConversationMessage,
    Message,
    PermissionDenial,
    SystemInit,
    UserMessage,
)
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall

logger = logging.getLogger(__name__)


class QueryEngine:
    def __init__(self, config: QueryEngineConfig) -> None:
        self.config = config
        self._history = History(repaired(config.initial_messages), snipped=config.snipped)
        self._ledger = Ledger(model_info=config.deps.model_info, on_spend=config.on_spend)
        self._denials: list[PermissionDenial] = []
        if config.restored is not None:
            self._ledger.restore(config.restored)
            self._denials = list(config.restored.permission_denials)
        self._own_state = SessionState(cwd=config.cwd, read_files=config.read_file_cache or {})
        self._abort = config.abort or Abort()
        self._background = Background()
        self._turn: Turn | None = None
        self._model = config.model

    def submit(
        self,
        prompt: str | Sequence[Block],
        *,
        uuid: str | None = None,
        is_meta: bool = False,
        token_budget: int | None = None,
    ) -> AsyncGenerator[Message, None]:
        """One turn. Never raises on abort: it yields the result. Closing the generator is an abort without one."""
        blocks = (text_block(prompt),) if isinstance(prompt, str) else tuple(prompt)
        return self._submit(blocks, uuid or self.config.deps.new_id(), is_meta, token_budget)

    async def _submit(
        self, blocks: tuple[Block, ...], uuid: str, is_meta: bool, token_budget: int | None
    ) -> AsyncGenerator[Message, None]:
        if self._turn is not None:
            raise RuntimeError("This conversation is already in a turn; wait for its result or abort it.")
        drive = partial(self._drive, blocks, uuid, is_meta, token_budget)
        async with aclosing(merged(drive)) as messages:
            async for message in messages:
                yield message

    def abort(self) -> None:
        """Ask the running turn to end; its result still comes."""
        if self._turn is not None:
            self._turn.stop("abort")

    @property
    def messages(self) -> list[ConversationMessage]:
        """The whole conversation, for people: nothing that left the model's view is missing."""
        return list(self._history.messages)

    @property
    def running(self) -> bool:
        return self._turn is not None

    def context(self) -> Json:
        return {}

    async def aclose(self) -> None:
        """End the turn and everything in the background."""
        self.abort()
        await self._background.close()

    # --- one turn ----------------------------------------------------------------------------------------------------

    async def _drive(
        self, blocks: tuple[Block, ...], uuid: str, is_meta: bool, token_budget: int | None, outlet: Outlet[Message]
    ) -> None:
        began = self.config.deps.clock()
        turn = self._turn = self._new_turn(outlet)
        turn.token_budget = token_budget if token_budget is not None else self.config.token_budget
        unlisten = self._abort.listen(lambda: turn.stop("abort"))
        self.config.set_status("running")
        try:
            terminal = await self._guarded(turn, blocks, uuid, is_meta)
            if not turn.initialised:
                await self._initialise(turn)
            result = result_of(
                turn,
                terminal,
                ledger=self._ledger,
                denials=self._denials,
                num_turns=turn.steps,
                duration_seconds=self.config.deps.clock() - began,
            )
            turn.post(result)
            await self.config.transcript.flush(durable=False)
        finally:
            unlisten()
            self._turn = None
            self.config.set_status("idle")

    async def _guarded(self, turn: Turn, blocks: tuple[Block, ...], uuid: str, is_meta: bool) -> Terminal:
        """The stages of the turn inside the scope that aborts it; whatever happens, the history ends up valid."""
        terminal: Terminal | None = None
        try:
            with turn.scope:
                if self._abort.aborted:
                    turn.stop("abort")
                terminal = await self._stages(turn, blocks, uuid, is_meta)
        except Exception as bug:
            logger.exception("the turn crashed")
            text = f"Something went wrong inside the engine ({type(bug).__name__}). The session is intact; try again."
            turn.post(turn.error_message(text, "internal"))
            terminal = Terminal(reason="model_error", error=text)
        finally:
            self._repair(turn)
        if terminal is None or turn.stopped is not None:
            terminal = self._stopped(turn)
        return terminal

    async def _stages(self, turn: Turn, blocks: tuple[Block, ...], uuid: str, is_meta: bool) -> Terminal:
        message = UserMessage(uuid=uuid, content=blocks, timestamp=self.config.deps.now(), is_meta=is_meta)
        self._history.add(message)
        if self.config.persist:
            self.config.transcript.append(message)
            await self.config.transcript.flush(durable=True)
        await self._initialise(turn)
        if self.config.replay_user_messages:
            await outlet_replay(turn, message)
        return await run(turn, State(messages=self._history.view(), model=turn.model))

    async def _initialise(self, turn: Turn) -> None:
        turn.initialised = True
        await turn.publish(
            SystemInit(
                session_id=self.config.session_id,
                model=turn.model,
                cwd=turn.app.cwd,
                tools=tuple(turn.tools),
                mcp_servers=tuple({"name": m.name, "status": m.status} for m in self.config.mcp_clients),
                permission_mode=turn.app.mode,
                key_source=self.config.key_source,
                slash_commands=tuple(command.name for command in self.config.commands if not command.hidden),
                agents=tuple(agent.name for agent in self.config.agents),
            )
        )

    def _new_turn(self, outlet: Outlet[Message]) -> Turn:
        state = self.config.get_app_state() if self.config.get_app_state else self._own_state
        tools = {tool.name: tool for tool in self.config.tools if tool.enabled(state)}
        return Turn(
            config=self.config,
            outlet=outlet,
            history=self._history,
            ledger=self._ledger,
            background=self._background,
            app=state,
            can_use_tool=self._recording_denials,
            tools=tools,
            definitions=tuple(tool.definition() for tool in tools.values()),
            system=system_prompt(self.config),
            model=self._model,
        )

    async def _recording_denials(self, call: ToolCall) -> Verdict:
        verdict = await self.config.can_use_tool(call)
        if isinstance(verdict, Deny):
            self._denials.append(
                PermissionDenial(
                    tool_name=call.action.tool, tool_use_id=call.tool_use_id, tool_input=dict(call.action.input)
                )
            )
        return verdict

    def _stopped(self, turn: Turn) -> Terminal:
        if turn.stopped == "budget_usd":
            text = f"The budget of ${self.config.max_budget_usd or 0:.2f} is spent (${self._ledger.cost_usd:.4f})."
            return Terminal(reason="budget_usd", error=text)
        return Terminal(reason="aborted_tools" if turn.phase == "tools" else "aborted_streaming", error="Aborted")

    def _repair(self, turn: Turn) -> None:
        """Keep the words that were already shown, and answer every call that is still open (L9, L14)."""
        if turn.answer is not None and (words := turn.answer.unfinished(turn, turn.model)) is not None:
            turn.post(words)
        waiting = unanswered(self._history.messages)
        if waiting:
            known = {r.tool_use_id: r.block for r in turn.executor.results()} if turn.executor else {}
            turn.post(turn.user_message(answers(waiting, known, INTERRUPTED), is_meta=False))


async def outlet_replay(turn: Turn, message: UserMessage) -> None:
    from dataclasses import replace

    await turn.outlet.send(replace(message, is_replay=True))
