"""The engine: one per conversation, owner of everything that lasts between turns (Q1).

`submit` is a generator of messages, `system/init` first and `result` last on every path (Q3). The turn behind it is a
plain coroutine in a task that `merge` owns; an abort cancels that task (L14). However the task ends, the history stays
valid: every tool_use has a result, and the next turn can start.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import replace
from functools import partial

from assent.context.context_usage import ContextUsage, context_usage
from assent.context.reread import without_dangling
from assent.context.snip import Snippable, largest, snip
from assent.context.thresholds import thresholds
from assent.engine.abort import Abort
from assent.engine.agents.runs import AgentRuns
from assent.engine.agents.subagents import Subagents
from assent.engine.budget import Ledger
from assent.engine.call_decisions import CallDecisions
from assent.engine.chains import served
from assent.engine.command_host import TurnCommands
from assent.engine.config import EngineConfig
from assent.engine.conversation import Conversation, Priority
from assent.engine.conversation_past import ConversationPast
from assent.engine.history import History, view_of
from assent.engine.merge import Outlet, merged
from assent.engine.pairing import answers, repaired, unanswered
from assent.engine.prompting.equipment import init_of
from assent.engine.prompting.prompt import system_layers
from assent.engine.reduction.window import Marked
from assent.engine.result import SUCCESS, result_of
from assent.engine.services import Services
from assent.engine.side_calls.aftermath import after_turn
from assent.engine.stages import Submitted, run_stages
from assent.engine.state import TurnEnd
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
    Result,
    Spent,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Mode
from assent.types.usage import Usage

logger = logging.getLogger(__name__)


class QueryEngine:
    def __init__(self, config: EngineConfig, services: Services, past: ConversationPast | None = None) -> None:
        past = past or ConversationPast()
        self.config = config
        self.services = services
        self._orphans = past.orphans
        history = History(
            repaired(_own(past.messages), leave=[orphan.tool_use_id for orphan in self._orphans]),
            snipped=past.snipped,
            collapsed=past.collapsed,
        )
        ledger = Ledger(model_info=services.model_info, on_spend=self._spent)
        runs = services.agent_runs or AgentRuns()
        self._conversation = Conversation(history=history, ledger=ledger, note_spend=self._note_spend, agents=runs)
        self._restore(past.result, past.spent)
        if past.snipped:
            history.replay(Tombstone(message_uuids=tuple(past.snipped), reason="snip"), services.snip_replay)
        for boundary in [m for m in history.messages if isinstance(m, CompactBoundary)][-1:]:
            history.replay(boundary, services.snip_replay)
        self._conversation.window.spared.update(past.spared)
        self._conversation.window.told = past.context_tokens
        read_files = past.read_files if past.read_files is not None else {}
        self._own_state = SessionState(cwd=config.cwd, read_files=read_files)
        self._abort = services.abort or Abort()
        self._turn: Turn | None = None
        self._decisions = CallDecisions(services, self._conversation)

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
        submitted = Submitted(blocks, uuid or self.services.new_id(), is_meta)
        drive = partial(self._drive, submitted, token_budget)
        return merged(drive, capacity=max(1, self.config.ahead))

    def abort(self) -> None:
        """Ask the running turn to end; its result still comes."""
        if self._turn is not None:
            self._turn.stop("abort")

    async def announce(self) -> None:
        """Someone is about to be asked about what the prompt itself needs: the turn is on from here (Q3)."""
        if self._turn is not None:
            await self._turn.begin(init_of(self._turn))

    def book(self, model: str, usage: Usage, cost_usd: float, opened: int = 0) -> None:
        """Count a call made beside the conversation, a classifier's or a web search, as the session's (Q9)."""
        self._conversation.ledger.book(model, usage, cost_usd, opened)

    def enqueue(self, message: UserMessage | Attachment, priority: Priority = "next") -> None:
        """Something for the model to read between steps of the running turn, or with the next one (L11)."""
        self._conversation.inbox.put(message, priority)

    def snip(self, uuids: Collection[str], *, snip_id: str = "", told: bool = False) -> None:
        """Mark messages as no longer needed: they leave the model's view before the next call (C2).

        `told`: the event was published and recorded already.
        """
        marked = Marked(uuids=tuple(uuids), by="user", snip_id=snip_id or self.services.new_id(), told=told)
        self._conversation.window.marked.append(marked)

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

    def unsnip(self, uuids: Collection[str], *, snipped: Collection[str], collapsed: Sequence[Collapsed]) -> None:
        """Put these messages back: the view is built again from the history and reduced before the next call if it is
        too large. Automatic snips skip them from now on."""
        known = self._conversation
        known.window.spared.update(uuids)
        known.window.marked = [each for each in known.window.marked if not set(each.uuids) & set(uuids)]
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

    def largest(self) -> list[Snippable]:
        """What fills the model's view most, the largest first (C2)."""
        return largest(self._conversation.history.view())

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

    def holds(self, id: str) -> bool:
        """Whether news of this agent or job waits for the next step or turn."""
        return self._conversation.inbox.holds(id)

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
            "unreported": ledger.unreported,
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

    def _spent(self, model: str, usage: Usage, cost_usd: float, opened: int) -> None:
        if self.services.on_spend is not None:
            self.services.on_spend(model, usage, cost_usd, opened)
        self._note_spend()

    def _note_spend(self) -> None:
        """Whenever something was reported, so that neither a crash nor a rebuild forgets it."""
        ledger, budget = self._conversation.ledger, self.config.task_budget
        if self.config.persist:
            self.services.transcript.append(
                Spent(
                    total_cost_usd=ledger.cost_usd,
                    usage=ledger.usage,
                    model_usage=dict(ledger.by_model),
                    open_calls=ledger.open_calls,
                    unreported=ledger.unreported,
                    task_budget_total=budget.total if budget else None,
                    task_budget_remaining=self._conversation.task_budget_remaining,
                )
            )

    # --- one turn ----------------------------------------------------------------------------------------------------

    async def _drive(self, submitted: Submitted, token_budget: int | None, outlet: Outlet[Message]) -> None:
        if self._turn is not None:
            raise RuntimeError("This conversation is already in a turn; wait for its result or abort it.")
        began, waited = self.services.clock(), self.services.waited_seconds()
        turn = self._turn = self._new_turn(outlet, token_budget)
        served.set(turn.link())  # this task is the turn's own
        unlisten = self._abort.listen(lambda: turn.stop("abort"))
        self.services.set_status("running")
        try:
            terminal = await self._guarded(turn, submitted)
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

    async def _guarded(self, turn: Turn, submitted: Submitted) -> TurnEnd:
        """Run the stages inside the scope that aborts the turn. The history is valid however they end."""
        terminal: TurnEnd | None = None
        problem: tuple[str, str] | None = None
        try:
            with turn.scope:
                if self._abort.aborted:
                    turn.stop("abort")
                orphans, self._orphans = self._orphans, ()
                terminal = await run_stages(turn, submitted, orphans=orphans, host=self._host)
        except ToolError as error:  # a setting that cannot work, such as an invalid JSON schema
            problem = str(error), "invalid_setup"
        except Exception:
            logger.exception("the turn crashed")
            problem = "Something went wrong inside the engine; the log has it. The session is intact.", "internal"
        finally:
            self._leave_valid(turn)
        if problem is not None:
            text, kind = problem
            turn.post(turn.error_message(text, kind))
            return TurnEnd(reason="model_error", error=text)
        return terminal if terminal is not None and turn.stopped is None else self._stopped(turn)

    def _host(self, turn: Turn) -> TurnCommands:
        return TurnCommands(
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
            can_use_tool=self._decisions.permit,
            review_edit=self._decisions.review,
            model=self.config.model,
            chain=self.config.chain or self.services.new_id(),
            token_budget=token_budget if token_budget is not None else self.config.token_budget,
        )
        if self.services.agents():
            turn.agents = Subagents(turn, make_engine=QueryEngine)
        return turn

    def _stopped(self, turn: Turn) -> TurnEnd:
        if turn.stopped == "budget_usd":
            spent = self._conversation.ledger.cost_usd
            return TurnEnd(
                reason="budget_usd",
                error=f"The budget of ${turn.config.max_budget_usd} is spent (${spent:.4f} so far).",
            )
        return TurnEnd(reason="aborted_tools" if turn.phase == "tools" else "aborted_streaming", error="Aborted")

    def _leave_valid(self, turn: Turn) -> None:
        """Keep the text that was already shown, and answer every call that is still open (L9, L14)."""
        turn.forget_calls(turn.mentioned)
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
            measured=known.window.count(view) if known.window.anchor else known.window.told or None,
        )


def _own(messages: Sequence[ConversationMessage]) -> list[ConversationMessage]:
    """Without what subagents said: that is theirs, and only shown."""
    return [
        message
        for message in messages
        if not (isinstance(message, UserMessage | AssistantMessage) and message.parent_tool_use_id is not None)
    ]
