"""The context of one turn: what the loop's modules share while it runs, and the one way to publish messages.

Every message goes through `publish`, which keeps the order: history, transcript, consumer. The dollar
limit is checked there and nowhere else (Q9).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.lowlevel

from assent.context.tool_results import BATCH_CHARS, capped_batch
from assent.engine.budget import Ledger
from assent.engine.config import EngineConfig
from assent.engine.conversation import Conversation
from assent.engine.eliciting import elicit_with_hooks
from assent.engine.history import History
from assent.engine.hook_facts import failure_name
from assent.engine.merge import Background, Outlet
from assent.engine.reduction.window import Marked, Window
from assent.engine.services import Services
from assent.engine.state import State
from assent.tools.files.read_marks import take_back
from assent.tools.run.executor import INTERRUPTED, CallResult, ToolExecutor
from assent.tools.tool import AgentRunner, AnyTool, Mine, ReadMark, SessionState, ToolContext, TurnWish
from assent.types.blocks import Block, Json, text_block, text_of
from assent.types.errors import ToolError
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    Collapsed,
    CompactBoundary,
    Message,
    Notice,
    Result,
    StreamEvent,
    SystemInit,
    Tombstone,
    ToolProgress,
    ToolUseSummary,
    UserMessage,
)
from assent.types.ports import CanUseTool, Chain, Elicitation, ElicitationAnswer, ModelInfo, ReviewEdit

if TYPE_CHECKING:
    from assent.engine.answer import ModelAnswer

Phase = Literal["streaming", "tools"]
StopReason = Literal["abort", "budget_usd"]

KEPT = (
    UserMessage, AssistantMessage, AssistantFinal, Attachment, CompactBoundary, Tombstone, Collapsed, ToolUseSummary,
    Result,
)  # fmt: skip
"""What goes into the transcript; the rest only describes a turn while it runs."""

CONVERSATION = (UserMessage, AssistantMessage, Attachment, CompactBoundary)


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    config: EngineConfig
    services: Services
    outlet: Outlet[Message]
    conversation: Conversation
    app: SessionState
    can_use_tool: CanUseTool
    review_edit: ReviewEdit
    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    definitions: tuple[Json, ...] = ()
    offered: tuple[AnyTool, ...] = ()  # what the sources had when `tools` was made
    allowed: tuple[str, ...] | None = None  # the only ones a command allows
    without: tuple[str, ...] = ()  # what commands and skills take away
    wishes: list[TurnWish] = field(default_factory=list[TurnWish])  # of skills loaded since the last request
    system: tuple[str, ...] = ()
    user_context: str = ""
    model: str = ""
    chain: str = ""  # the id that all calls of this turn share, those of its subagents too
    prompt_uuid: str = ""  # of the user's message this turn answers
    token_budget: int | None = None
    agents: AgentRunner | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped: StopReason | None = None
    phase: Phase = "streaming"
    executor: ToolExecutor | None = None
    mentioned: list[str] = field(default_factory=list[str])  # calls that read mentions of a prompt not yet taken in
    marks_before: Mapping[str, ReadMark] = field(default_factory=dict[str, ReadMark])  # before the calls under way
    undos: list[tuple[str, Callable[[], None]]] = field(default_factory=list["tuple[str, Callable[[], None]]"])
    answer: ModelAnswer | None = None  # of the call under way, so that an abort can keep its words
    state: State | None = None  # of the iteration under way
    output_tokens: int = 0  # of this turn, for the token budget
    api_seconds: float = 0.0
    last_stop_reason: str | None = None
    last_text: str = ""
    costs_nothing: bool = False  # a command that is answered here: a spent budget does not keep it from answering
    said_before: str = ""  # the text of an answer that was cut or paused, and goes on in the next
    initialised: bool = False
    held: list[Message] = field(default_factory=list[Message])  # what was said before `system/init`: that comes first

    @property
    def history(self) -> History:
        return self.conversation.history

    @property
    def ledger(self) -> Ledger:
        return self.conversation.ledger

    @property
    def window(self) -> Window:
        return self.conversation.window

    @property
    def background(self) -> Background:
        return self.conversation.background

    @property
    def agent_type(self) -> str | None:
        """The name of the agent that works here; None in the main conversation."""
        return self.config.lineage[-1] if self.config.lineage else None

    @property
    def steps(self) -> int:
        return self.state.turn_count if self.state else 0

    def link(self, *, beside: bool = False, step_id: str = "", transition: str | None = None) -> Chain:
        """Where a model call of this turn stands; `beside` the conversation it is one deeper."""
        return Chain(
            id=self.chain,
            session_id=self.config.session_id,
            depth=self.config.depth + beside,
            parent_tool_use_id=self.config.parent_tool_use_id,
            step_id=step_id,
            transition=transition,
        )

    async def publish(self, message: Message) -> None:
        """Pass a message to the history, the transcript and the consumer, in this order."""
        self._keep(message)
        await self.tell(message)

    async def tell(self, message: Message) -> None:
        """Send to the consumer only; then check the budget."""
        if isinstance(message, StreamEvent) and not self.config.include_partial_messages:
            return
        if not self.initialised:
            self.held.append(message)
            return
        await self.outlet.send(message)
        await self._check_budget()

    def post(self, message: Message) -> None:
        """Publish from code that cannot wait. Only progress is dropped while the consumer does not read."""
        self._keep(message)
        if self.initialised:
            self.outlet.post(message, droppable=isinstance(message, ToolProgress))
        else:
            self.held.append(message)

    async def publish_all(self, messages: Iterable[Message]) -> None:
        """Publish what was just taken out of a queue: all of it is kept before an interruption can come."""
        for message in messages:
            self.post(message)
        await self.outlet.room()
        await self._check_budget()

    async def begin(self, init: SystemInit) -> None:
        """The first message of the turn, then what had to wait for it."""
        if self.initialised:
            return
        self.initialised = True
        self.outlet.post(init, droppable=False)
        for message in self.held:
            self.outlet.post(message, droppable=False)
        self.held.clear()
        await self.outlet.room()
        await self._check_budget()

    async def end(self, result: Result) -> None:
        """The last message: written to the transcript before the consumer gets it."""
        self._keep(result)
        await self.services.transcript.flush(durable=False)
        self.outlet.post(result, droppable=False)

    def _keep(self, message: Message) -> None:
        if isinstance(message, CONVERSATION):
            self.history.add(message)
        if self.config.persist and isinstance(message, KEPT):
            self.services.transcript.append(message)

    async def _check_budget(self) -> None:
        """The one place where the dollar limit ends a turn (Q9)."""
        if not self.costs_nothing and self.ledger.spent(self.config.max_budget_usd):
            self.stop("budget_usd")
            await anyio.lowlevel.checkpoint()

    def stop(self, reason: StopReason) -> None:
        """End the loop at its next await; the first reason counts."""
        if self.stopped is None:
            self.stopped = reason
            self.scope.cancel()

    @property
    def info(self) -> ModelInfo:
        return self.info_of(self.model)

    def info_of(self, model: str) -> ModelInfo:
        return self.services.model_info(model)

    def source_tools(self) -> tuple[AnyTool, ...]:
        """What the sources offer now: the session's own tools, and those of MCP servers."""
        servers = self.services.mcp_clients()
        return (*self.services.tools(), *(tool for client in servers for tool in client.tools))

    def new_executor(self) -> ToolExecutor:
        """One for the answer under way; an abort finds its results here."""
        self.executor = self.quiet_executor(emit=self.post)
        self.marks_before = dict(self.app.read_files)
        self.undos.clear()
        return self.executor

    def forget_calls(self, calls: Collection[str]) -> None:
        """The model never gets the results of these calls: what only they showed was not read (C7, T3), and what they
        noted is undone, the latest first."""
        take_back(self.app.read_files, self.marks_before, calls)
        for call, undo in reversed(self.undos):
            if call in calls:
                undo()
        self.undos = [each for each in self.undos if each[0] not in calls]

    def quiet_executor(self, emit: Callable[[Message], None] = lambda _message: None) -> ToolExecutor:
        return ToolExecutor(
            tools=self.tools,
            can_use_tool=self.can_use_tool,
            review_edit=self.review_edit,
            make_context=self.tool_context,
            emit=emit,
            clock=self.services.clock,
            hooks=self.services.hooks,
            session_id=self.config.session_id,
            cwd=lambda: self.app.cwd,
            parent_tool_use_id=self.config.parent_tool_use_id,
            agent_type=self.agent_type,
            interrupted=self.interruption,
        )

    def interruption(self) -> str:
        """The result text of a call that the end of the turn cut off."""
        return (self.services.abort.why if self.services.abort else "") or INTERRUPTED

    def tool_context(self, *, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return ToolContext(
            session_id=self.config.session_id,
            tool_use_id=tool_use_id,
            state=self.app,
            services=self.services,
            progress=progress,
            elicit=self._elicit,
            agents=self.agents,
            in_view=lambda call: self.window.result(self.history.view(), call),
            snip=lambda numbers: self._snip(numbers, tool_use_id),
            if_withdrawn=lambda undo: self.undos.append((tool_use_id, undo)),
            wish=lambda wish: self._wished(wish, tool_use_id),
        )

    def _wished(self, wish: TurnWish, tool_use_id: str) -> None:
        self.wishes.append(wish)
        self.undos.append((tool_use_id, lambda: self.wishes.remove(wish)))

    async def _elicit(self, question: Elicitation) -> ElicitationAnswer:
        """Ask the user; without a user to ask, the answer is a decline and the turn goes on (Q2)."""
        if self.services.handle_elicitation is None:
            return ElicitationAnswer(action="decline")
        handle = self.services.handle_elicitation

        async def asked() -> ElicitationAnswer:
            self.services.set_status("waiting")
            try:
                return await handle(question)
            finally:
                self.services.set_status("running")

        return await elicit_with_hooks(question, self._elicitation_hooks, asked)

    async def _elicitation_hooks(self, event: HookEvent, data: Json, server: str) -> list[HookOutcome]:
        return await self.run_hooks(event, data, subject=server)

    def _snip(self, numbers: list[int], tool_use_id: str) -> str:
        """Mark results that were offered by number; they leave the view before the next call (C2)."""
        offered = self.window.offered
        chosen = [offered[number - 1] for number in numbers if 1 <= number <= len(offered)]
        if not chosen:
            raise ToolError("None of these numbers was offered. Use the numbers of the latest list.")
        uuids = tuple(each.uuid for each in chosen)
        marked = Marked(uuids=uuids, by="model", snip_id=self.services.new_id())
        self.window.marked.append(marked)
        self.undos.append((tool_use_id, lambda: self.window.marked.remove(marked)))
        freed = sum(each.tokens for each in chosen)
        return f"{len(chosen)} results leave your view before the next step; that frees about {freed:,} tokens."

    async def answer_calls(self, results: Sequence[CallResult]) -> None:
        """One user message for the whole batch, results in the order asked; then what hooks had to add."""
        spill = self.services.spill
        caps = [self.tools[r.tool].max_result_chars if r.tool in self.tools else BATCH_CHARS for r in results]
        blocks = capped_batch([result.block for result in results], caps, spill.write if spill else None)
        await self.publish(self.user_message(blocks, is_meta=False))
        for result in results:
            for context in result.contexts:
                await self.publish(self.attachment("hook", context, {"tool_use_id": result.tool_use_id}))

    async def batch_hooks(self, results: Sequence[CallResult]) -> str | None:
        """PostToolBatch, once all calls of an answer have their results; a reason where a hook ends the turn."""
        if not self.services.hooks.wants("PostToolBatch"):
            return None
        calls = [
            {
                "tool_name": result.tool,
                "tool_input": dict(result.input),
                "tool_use_id": result.tool_use_id,
                "tool_response": text_of(result.block.get("content", "")),
            }
            for result in results
        ]
        outcomes = await self.run_hooks("PostToolBatch", {"tool_calls": calls})
        return next((each.text for each in outcomes if each.status in ("blocked", "prevented")), None)

    @property
    def mine(self) -> Mine:
        """Which calls are this agent's own."""
        return self.services.owners.of(self.config.parent_tool_use_id)

    def stop_failed(self, text: str, kind: str = "unknown") -> None:
        """Notify StopFailure hooks of an API error. The turn does not wait for them, and they change nothing (L8)."""
        if self.services.hooks.wants("StopFailure"):
            call = HookCall(
                event="StopFailure",
                session_id=self.config.session_id,
                cwd=self.app.cwd,
                subject=failure_name(kind),
                data={"error": failure_name(kind), "error_details": text, "last_assistant_message": self.last_text},
                detached=True,
            )
            self.background.spawn(self.services.hooks.run(call), name="StopFailure hooks")

    async def notice(self, text: str, level: Literal["info", "warning", "error"] = "info") -> None:
        await self.publish(Notice(level=level, text=text))

    def user_message(self, content: str | Sequence[Block], *, is_meta: bool = True) -> UserMessage:
        blocks = (text_block(content),) if isinstance(content, str) else tuple(content)
        return UserMessage(uuid=self.services.new_id(), content=blocks, timestamp=self.services.now(), is_meta=is_meta)

    def attachment(self, kind: str, text: str, data: Json | None = None) -> Attachment:
        return Attachment(
            uuid=self.services.new_id(),
            kind=kind,
            content=(text_block(text),),
            data=data or {},
            timestamp=self.services.now(),
        )

    def error_message(self, text: str, kind: str) -> AssistantMessage:
        """A synthetic message that shows a failure to people; the model never reads it."""
        new_id = self.services.new_id()
        return AssistantMessage(
            uuid=new_id,
            message_id=new_id,
            content=(text_block(text),),
            model="assent",
            timestamp=self.services.now(),
            error=kind,
        )

    async def run_hooks(self, event: HookEvent, data: Json | None = None, *, subject: str = "") -> list[HookOutcome]:
        """Run the hooks of one event; each outcome is shown, and what one wants the model to know is attached."""
        if not self.services.hooks.wants(event):
            return []
        call = HookCall(
            event=event,
            session_id=self.config.session_id,
            cwd=self.app.cwd,
            subject=subject,
            data=data or {},
            agent_id=self.config.parent_tool_use_id,
            agent_type=self.agent_type,
        )
        outcomes = await self.services.hooks.run(call)
        for outcome in outcomes:
            await self.publish(outcome.ran(event))
            if outcome.context:
                await self.publish(self.attachment("hook", outcome.context, {"event": event}))
        return outcomes
