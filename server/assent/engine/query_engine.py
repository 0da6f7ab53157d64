"""The engine: one per conversation, owner of everything that lasts between turns (Q1).

`submit` is a generator of messages, `system/init` first and `result` last on every path (Q3). The turn behind it is a
plain coroutine in a task that `merge` owns; ending that task is how a turn is aborted (L14), and whatever ends it, the
history is left valid: every tool_use answered, the next turn just works.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from assent.context.reread import without_dangling
from assent.context.snip import snip
from assent.context.thresholds import thresholds
from assent.context.usage import ContextUsage, context_usage
from assent.engine.abort import Abort
from assent.engine.aftermath import after_turn, wake
from assent.engine.agent_runs import AgentRuns
from assent.engine.agents import Subagents
from assent.engine.attachments import attach_at_start
from assent.engine.budget import Ledger
from assent.engine.command_host import CommandHost
from assent.engine.config import EngineConfig
from assent.engine.conversation import Conversation, Priority
from assent.engine.equipment import OWN_TOOLS, equip, init_of, weigh
from assent.engine.history import History, view_of
from assent.engine.input import Input, process
from assent.engine.loop import run
from assent.engine.merge import Outlet, merged
from assent.engine.orphaned_calls import settle
from assent.engine.pairing import answers, repaired, unanswered
from assent.engine.past import Past
from assent.engine.prompt import freeze, system_layers
from assent.engine.result import SUCCESS, result_of
from assent.engine.services import Services
from assent.engine.state import State, Terminal
from assent.engine.turn import Turn
from assent.tools.tool import SessionState
from assent.types.blocks import Block, Json, text_block
from assent.types.errors import ToolError
from assent.types.messages import (
    AssistantMessage,
    Attachment,
    Collapsed,
    CompactBoundary,
    ConversationMessage,
    Message,
    PermissionDenial,
    Result,
    Spent,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Deny, Mode, Verdict
from assent.types.ports import ToolCall
from assent.types.usage import Usage

logger = logging.getLogger(__name__)


class QueryEngine:
    def __init__(self, config: EngineConfig, services: Services, past: Past | None = None) -> None:
        past = past or Past()
        self.config = config
        self.services = services
        self._orphans = past.orphans
        history = History(
            repaired(_own(past.messages), leave=[orphan.tool_use_id for orphan in self._orphans]),
            snipped=past.snipped,
            collapsed=past.collapsed,
        )
        ledger = Ledger(model_info=services.model_info, on_spend=self._spent)
        self._conversation = Conversation(history=history, ledger=ledger, note_spend=self._note_spend)
        self._restore(past.result, past.spent)
        if past.snipped:
            history.replay(Tombstone(message_uuids=tuple(past.snipped), reason="snip"), services.snip_replay)
        for boundary in [m for m in history.messages if isinstance(m, CompactBoundary)][-1:]:
            history.replay(boundary, services.snip_replay)
        read_files = past.read_files if past.read_files is not None else {}
        self._own_state = SessionState(cwd=config.cwd, read_files=read_files)
        self._abort = services.abort or Abort()
        self._turn: Turn | None = None
        self._asked = 0  # decisions that are being waited for

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
        drive = partial(self._drive, blocks, uuid or self.services.new_id(), is_meta, token_budget)
        return merged(drive, capacity=max(1, self.config.ahead))

    def abort(self) -> None:
        """Ask the running turn to end; its result still comes."""
        if self._turn is not None:
            self._turn.stop("abort")

    async def announce(self) -> None:
        """Someone is about to be asked about what the prompt itself needs: the turn is on from here (Q3)."""
        if self._turn is not None:
            await self._turn.begin(init_of(self._turn))

    def book(self, model: str, usage: Usage, cost_usd: float) -> None:
        """Count a call made beside the conversation, a classifier's or a web search, as the session's (Q9)."""
        self._conversation.ledger.book(model, usage, cost_usd)

    def enqueue(self, message: UserMessage | Attachment, priority: Priority = "next") -> None:
        """Something for the model to read between steps of the running turn, or with the next one (L11)."""
        self._conversation.inbox.put(message, priority)

    def snip(self, uuids: Collection[str]) -> None:
        """Mark messages as no longer needed: they leave the model's view before the next call (C2)."""
        self._conversation.window.marked.update(uuids)

    def snip_now(self, uuids: Collection[str], *, dry_run: bool = False) -> int:
        """Take messages out of the model's view between turns; about how many tokens that frees (C2)."""
        known = self._conversation
        reduced = snip(known.history.view(), uuids)
        if reduced.changed and not dry_run:
            cleared = known.window.cleared_results
            known.history.reduce(without_dangling(reduced.view, known.history.messages, cleared=cleared))
            known.window.freed(reduced)
            known.window.budgeted = min(known.window.budgeted, len(reduced.view))
        return reduced.freed

    def reset_view(self, *, snipped: Collection[str], collapsed: Sequence[Collapsed]) -> None:
        """Make the view again from the history: a snip was taken back. What is too much is reduced before a call."""
        known = self._conversation
        known.history.reduce(view_of(known.history.messages, snipped, collapsed))
        known.window.anchor = None
        known.window.budgeted = 0

    def configure(self, config: EngineConfig) -> None:
        """Another configuration, for the turns to come. A running turn keeps its own, and so do background agents."""
        budget, before = config.task_budget, self.config.task_budget
        self.config = config
        if budget != before:
            left = self._conversation.task_budget_remaining
            used = before.total - left if before is not None and left is not None else 0
            self._conversation.task_budget_remaining = max(0, budget.total - used) if budget is not None else None

    def set_model(self, model: str) -> None:
        """For the turns to come."""
        self.configure(replace(self.config, model=model))

    @property
    def model(self) -> str:
        """What the next turn starts with; `/model` may have changed it."""
        return self.config.model

    @property
    def messages(self) -> list[ConversationMessage]:
        """The whole conversation, for people: nothing that left the model's view is missing."""
        return list(self._conversation.history.messages)

    @property
    def agents(self) -> AgentRuns:
        """Its subagents, running or ended."""
        return self._conversation.agents

    @property
    def ledger(self) -> Ledger:
        return self._conversation.ledger

    @property
    def running(self) -> bool:
        return self._turn is not None

    @property
    def waiting(self) -> int:
        """How many messages wait for the next step or turn."""
        return len(self._conversation.inbox)

    def context(self) -> Json:
        """Tokens by category, window, auto-compact mark (C8)."""
        return self._usage().as_json()

    def cost(self) -> Json:
        """Spend by model, and how much of the prompt was read from cache."""
        ledger = self._conversation.ledger
        prompt = ledger.usage.context_tokens - ledger.usage.output_tokens
        return {
            "totalCostUsd": ledger.cost_usd,
            "cacheShare": ledger.usage.cache_read_input_tokens / prompt if prompt else 0.0,
            "byModel": {
                model: {
                    "costUsd": used.cost_usd,
                    "input": used.usage.input_tokens,
                    "output": used.usage.output_tokens,
                    "cacheRead": used.usage.cache_read_input_tokens,
                    "cacheWrite": used.usage.cache_creation_input_tokens,
                }
                for model, used in ledger.by_model.items()
            },
        }

    async def aclose(self) -> None:
        """End the turn and everything in the background."""
        self.abort()
        await self._conversation.background.close()

    # --- what was spent ----------------------------------------------------------------------------------------------

    def _restore(self, result: Result | None, spent: Spent | None) -> None:
        known, budget = self._conversation, self.config.task_budget
        for totals in (result, spent):
            if totals is not None:
                known.ledger.restore(totals)
        if result is not None:
            known.denials = list(result.permission_denials)
        if budget is not None:
            same = spent is not None and spent.task_budget_total == budget.total
            left = spent.task_budget_remaining if spent is not None and same else None
            known.task_budget_remaining = budget.total if left is None else min(left, budget.total)

    def _spent(self, model: str, usage: Usage, cost_usd: float) -> None:
        if self.services.on_spend is not None:
            self.services.on_spend(model, usage, cost_usd)
        self._note_spend()

    def _note_spend(self) -> None:
        """After every call, so that neither a crash nor a rebuild forgets one."""
        ledger, budget = self._conversation.ledger, self.config.task_budget
        if self.config.persist:
            self.services.transcript.append(
                Spent(
                    total_cost_usd=ledger.cost_usd,
                    usage=ledger.usage,
                    model_usage=dict(ledger.by_model),
                    task_budget_total=budget.total if budget else None,
                    task_budget_remaining=self._conversation.task_budget_remaining,
                )
            )

    # --- one turn ----------------------------------------------------------------------------------------------------

    async def _drive(
        self, blocks: tuple[Block, ...], uuid: str, is_meta: bool, token_budget: int | None, outlet: Outlet[Message]
    ) -> None:
        if self._turn is not None:
            raise RuntimeError("This conversation is already in a turn; wait for its result or abort it.")
        began, waited = self.services.clock(), self.services.waited_seconds()
        turn = self._turn = self._new_turn(outlet, token_budget)
        unlisten = self._abort.listen(lambda: turn.stop("abort"))
        self.services.set_status("running")
        try:
            terminal = await self._guarded(turn, blocks, uuid, is_meta=is_meta)
            await turn.begin(init_of(turn))
            seconds = self.services.clock() - began - (self.services.waited_seconds() - waited)
            await turn.end(result_of(turn, terminal, denials=self._conversation.denials, duration_seconds=seconds))
            if terminal.reason in SUCCESS:
                after_turn(turn)
        finally:
            unlisten()
            if turn.stopped == "abort":
                self._abort.reset()  # it has done its work; the next turn starts afresh
            self._turn = None
            self.services.set_status("idle")

    async def _guarded(self, turn: Turn, blocks: tuple[Block, ...], uuid: str, *, is_meta: bool) -> Terminal:
        """The stages of the turn inside the scope that aborts it; whatever happens, the history ends up valid."""
        terminal: Terminal | None = None
        problem: tuple[str, str] | None = None
        try:
            with turn.scope:
                if self._abort.aborted:
                    turn.stop("abort")
                terminal = await self._stages(turn, blocks, uuid, is_meta=is_meta)
        except ToolError as error:  # a setting that cannot work, such as a JSON schema that is none
            problem = str(error), "invalid_setup"
        except Exception:
            logger.exception("the turn crashed")
            problem = "Something went wrong inside the engine; the log has it. The session is intact.", "internal"
        finally:
            self._leave_valid(turn)
        if problem is not None:
            text, kind = problem
            turn.post(turn.error_message(text, kind))
            return Terminal(reason="model_error", error=text)
        return terminal if terminal is not None and turn.stopped is None else self._stopped(turn)

    async def _stages(self, turn: Turn, blocks: tuple[Block, ...], uuid: str, *, is_meta: bool) -> Terminal:
        """Q4, in order. The result comes after, from whoever called."""
        self._reset(turn)
        equip(turn)
        await self._freeze_context(turn)
        orphans, self._orphans = self._orphans, ()
        await settle(turn, orphans, self._note_denial)
        given = await process(turn, blocks, commands=self.services.commands(), is_meta=is_meta)
        if given.command is not None or given.error:
            return await self._answer_locally(turn, given, blocks, uuid)
        if given.model is not None or given.allowed_tools is not None:
            turn.model = given.model or turn.model
            equip(turn, given.allowed_tools)
        if not turn.model.strip():
            raise ToolError("No model is set. Choose one with /model NAME or in the settings.")
        if turn.token_budget is None:
            turn.token_budget = given.token_budget
        message = UserMessage(uuid=uuid, content=given.blocks, timestamp=self.services.now(), is_meta=is_meta)
        blocked = await self._prompt_hooks(turn, message)
        if blocked is not None:
            return blocked
        await self._remember(turn, message, given.attachments)
        turn.prompt_uuid = uuid
        await turn.begin(init_of(turn))
        if turn.config.replay_user_messages:
            await turn.tell(replace(message, is_replay=True))
        for attachment in given.attachments:
            await turn.tell(attachment)
        await attach_at_start(turn)
        if turn.config.max_turns is not None and turn.config.max_turns < 1:
            return Terminal(reason="max_turns", error=f"max_turns is {turn.config.max_turns}: no step is allowed.")
        state = State(messages=turn.history.view(), model=turn.model, tracking=self._conversation.tracking)
        return await run(turn, state)

    def _reset(self, turn: Turn) -> None:
        wake(turn)
        self._conversation.discovered_skills.clear()
        home = turn.app.worktree or turn.config.cwd
        if turn.app.cwd != home:
            turn.app.cwd = home
            turn.app.on_change("cwd")

    async def _freeze_context(self, turn: Turn) -> None:
        known = self._conversation
        if known.context is None or known.context.parts != turn.config.prompt_parts:
            known.context = await freeze(turn.config, self.services, turn.app.cwd, known.background)
        turn.system, turn.user_context = known.context.system, known.context.user
        weigh(turn)

    async def _refresh_context(self) -> None:
        """At a compaction nothing is cached any more: take the contexts as they are now."""
        self._conversation.context = None
        if self._turn is not None:
            await self._freeze_context(self._turn)

    async def _prompt_hooks(self, turn: Turn, message: UserMessage) -> Terminal | None:
        data = {"prompt": "\n".join(str(block.get("text", "")) for block in message.content)}
        for outcome in await turn.run_hooks("UserPromptSubmit", data):
            if outcome.status in ("blocked", "prevented"):
                return Terminal(reason="hook_stopped", error=outcome.text)
        return None

    async def _remember(self, turn: Turn, message: UserMessage, attachments: Sequence[Attachment]) -> None:
        """On disk before any call goes out: whatever dies after this, the words are not lost."""
        for each in (message, *attachments):
            turn.history.add(each)
            if turn.config.persist:
                self.services.transcript.append(each)
        turn.mentioned.clear()
        await self.services.transcript.flush(durable=True)

    async def _answer_locally(self, turn: Turn, given: Input, blocks: tuple[Block, ...], uuid: str) -> Terminal:
        """A command or a refusal: init, the prompt if asked for, the answer, and no model call (Q7)."""
        text = given.error
        turn.costs_nothing = given.command is None or given.command.name != "compact"
        if given.command is not None and given.command.run is not None:
            if given.command.name == "compact":
                await turn.begin(init_of(turn))
            text = await given.command.run(given.arguments, self._host(turn))
        await turn.begin(init_of(turn))
        if turn.config.replay_user_messages:
            now = self.services.now()
            await turn.tell(UserMessage(uuid=uuid, content=blocks, timestamp=now, is_replay=True))
        if given.error:
            await turn.tell(turn.error_message(text, "invalid_prompt"))
            return Terminal(reason="model_error", error=text)
        answer = replace(turn.error_message(text or "Done.", ""), error=None)
        await turn.tell(answer)
        turn.last_text = text
        return Terminal(reason="completed")

    def _host(self, turn: Turn) -> CommandHost:
        return CommandHost(
            turn,
            commands=self.services.commands(),
            context_text=lambda: self._usage().as_text(),
            cost=self.cost,
            set_model=self.set_model,
            set_mode=self._set_mode,
        )

    def _set_mode(self, mode: Mode) -> None:
        def change(state: SessionState) -> SessionState:
            state.mode = mode
            state.on_change("mode")
            return state

        if self.services.set_state is not None:
            self.services.set_state(change)
        else:
            change(self._app())

    def _app(self) -> SessionState:
        return self.services.state() if self.services.state else self._own_state

    def _new_turn(self, outlet: Outlet[Message], token_budget: int | None) -> Turn:
        turn = Turn(
            config=self.config,
            services=self.services,
            outlet=outlet,
            conversation=self._conversation,
            app=self._app(),
            can_use_tool=self._judge,
            refresh_context=self._refresh_context,
            model=self.config.model,
            token_budget=token_budget if token_budget is not None else self.config.token_budget,
        )
        if self.services.agents() and self.config.source == "main":
            turn.agents = Subagents(turn, make_engine=QueryEngine)
        return turn

    async def _judge(self, call: ToolCall) -> Verdict:
        """Whoever decides decides; denials are written down, and nothing is changed by that."""
        if call.action.tool in OWN_TOOLS:
            return Allow(step="tool", reason="it acts only inside the conversation")
        with self._asking():
            verdict = await self.services.can_use_tool(call)
        if isinstance(verdict, Deny):
            self._note_denial(call.action.tool, call.tool_use_id, call.action.input)
        return verdict

    @contextmanager
    def _asking(self) -> Generator[None]:
        """A decision that does not come in the same breath is waited for: the status says so until it is there."""
        told = False

        def tell() -> None:
            nonlocal told
            told = True
            self._asked += 1
            self.services.set_status("waiting")

        later = asyncio.get_running_loop().call_soon(tell)
        try:
            yield
        finally:
            later.cancel()
            if told:
                self._asked -= 1
                if not self._asked:
                    self.services.set_status("running")

    def _note_denial(self, tool: str, tool_use_id: str, given: Mapping[str, Any]) -> None:
        denial = PermissionDenial(tool_name=tool, tool_use_id=tool_use_id, tool_input=dict(given))
        self._conversation.denials.append(denial)

    def _stopped(self, turn: Turn) -> Terminal:
        if turn.stopped == "budget_usd":
            spent = self._conversation.ledger.cost_usd
            return Terminal(
                reason="budget_usd",
                error=f"The budget of ${turn.config.max_budget_usd} is spent (${spent:.4f} so far).",
            )
        return Terminal(reason="aborted_tools" if turn.phase == "tools" else "aborted_streaming", error="Aborted")

    def _leave_valid(self, turn: Turn) -> None:
        """Keep the words that were already shown, and answer every call that is still open (L9, L14)."""
        turn.forget_reads(turn.mentioned)
        if turn.state is not None:
            self._conversation.tracking = turn.state.tracking
        answer, now = turn.answer, turn.services.now()
        if answer is not None and (words := answer.unfinished(model=turn.model, timestamp=now)) is not None:
            turn.post(words)
        waiting = unanswered(turn.history.messages)
        if waiting:
            known = {result.tool_use_id: result.block for result in turn.executor.results()} if turn.executor else {}
            turn.post(turn.user_message(answers(waiting, known, turn.interruption()), is_meta=False))

    def _usage(self) -> ContextUsage:
        known = self._conversation
        context = known.context
        view = known.history.view()
        return context_usage(
            system=context.system if context else system_layers(self.config, memory=False),
            tools=[tool.definition() for tool in self.services.tools() if tool.enabled(self._app())],
            memory=context.memory if context else "",
            view=view,
            marks=thresholds(self.services.model_info(self.config.model)),
            measured=known.window.count(view) if known.window.anchor else None,
        )


def _own(messages: Sequence[ConversationMessage]) -> list[ConversationMessage]:
    """Without what subagents said: that is theirs, and only shown."""
    return [
        message
        for message in messages
        if not (isinstance(message, UserMessage | AssistantMessage) and message.parent_tool_use_id is not None)
    ]
