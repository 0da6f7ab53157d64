"""One turn's surroundings: what the loop's modules share while it runs, and the one way out for messages.

Everything that happens is told through `publish`, which keeps the order: history, transcript, consumer. The dollar
limit is checked there and nowhere else (Q9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.lowlevel

from assent.engine.budget import Ledger
from assent.engine.config import QueryEngineConfig
from assent.engine.history import History
from assent.engine.merge import Background, Outlet
from assent.tools.executor import CallResult, ToolExecutor
from assent.tools.tool import AgentRunner, AnyTool, SessionState, ToolContext
from assent.types.blocks import Block, Json, text_block
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    CompactBoundary,
    HookRan,
    Message,
    Notice,
    Result,
    StreamEvent,
    Tombstone,
    ToolProgress,
    ToolUseSummary,
    UserMessage,
)
from assent.types.ports import CanUseTool, ModelInfo

if TYPE_CHECKING:
    from assent.engine.sampling import Answer

Phase = Literal["streaming", "tools"]
StopReason = Literal["abort", "budget_usd"]

KEPT = (
    UserMessage, AssistantMessage, AssistantFinal, Attachment, CompactBoundary, Tombstone, ToolUseSummary, Result,
)  # fmt: skip
"""What goes into the transcript; the rest only describes a turn while it runs."""

CONVERSATION = (UserMessage, AssistantMessage, Attachment, CompactBoundary)


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    config: QueryEngineConfig
    outlet: Outlet[Message]
    history: History
    ledger: Ledger
    background: Background
    app: SessionState
    can_use_tool: CanUseTool
    tools: Mapping[str, AnyTool]
    definitions: tuple[Json, ...] = ()
    system: tuple[str, ...] = ()
    user_context: str = ""
    model: str = ""
    token_budget: int | None = None
    agents: AgentRunner | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped: StopReason | None = None
    phase: Phase = "streaming"
    executor: ToolExecutor | None = None
    output_tokens: int = 0  # of this turn, for the token budget
    context_tokens: int = 0  # of the last answer, as the API counted them
    api_seconds: float = 0.0
    last_stop_reason: str | None = None
    last_text: str = ""
    initialised: bool = False
    steps: int = 0
    answer: Answer | None = None  # of the call under way, so that an abort can keep its words
    task_budget_remaining: int | None = None

    async def publish(self, message: Message) -> None:
        """Tell everyone, in this order: the history, the transcript, the consumer; then look at the purse."""
        self._keep(message)
        if isinstance(message, StreamEvent) and not self.config.include_partial_messages:
            return
        await self.outlet.send(message)
        if self.ledger.spent(self.config.max_budget_usd) and self.initialised:
            self.stop("budget_usd")
            await anyio.lowlevel.checkpoint()

    def post(self, message: Message) -> None:
        """Tell from code that cannot wait. Progress is dropped when nobody reads; nothing else is."""
        self._keep(message)
        self.outlet.post(message, droppable=isinstance(message, ToolProgress))

    def _keep(self, message: Message) -> None:
        if isinstance(message, CONVERSATION):
            self.history.add(message)
        if self.config.persist and isinstance(message, KEPT):
            self.config.transcript.append(message)

    def stop(self, reason: StopReason) -> None:
        """End the loop at its next await; the first reason counts."""
        if self.stopped is None:
            self.stopped = reason
            self.scope.cancel()

    @property
    def info(self) -> ModelInfo:
        return self.info_of(self.model)

    def info_of(self, model: str) -> ModelInfo:
        return self.config.deps.model_info(model)

    def new_executor(self) -> ToolExecutor:
        self.executor = ToolExecutor(
            tools=self.tools,
            can_use_tool=self.can_use_tool,
            make_context=self.tool_context,
            emit=self.post,
            clock=self.config.deps.clock,
            hooks=self.config.hooks,
            session_id=self.config.session_id,
            cwd=lambda: self.app.cwd,
            parent_tool_use_id=self.config.parent_tool_use_id,
        )
        return self.executor

    def tool_context(self, *, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        services = self.config.services
        return ToolContext(
            session_id=self.config.session_id,
            tool_use_id=tool_use_id,
            state=self.app,
            workspace=services.workspace,
            roots=services.roots,
            progress=progress,
            elicit=self.config.handle_elicitation,
            editor=services.editor,
            agents=self.agents,
            jobs=services.jobs,
            spill=services.spill,
            env=dict(services.env),
            search_web=services.search_web,
            summarise=services.summarise,
        )

    async def answer_calls(self, results: Sequence[CallResult]) -> None:
        """One user message for the whole batch, results in the order asked; then what hooks had to add."""
        await self.publish(self.user_message([result.block for result in results], is_meta=False))
        for result in results:
            for context in result.contexts:
                await self.publish(self.attachment("hook", context, {"tool_use_id": result.tool_use_id}))

    def structured_output(self, result: CallResult) -> object:
        """The validated value of the StructuredOutput call that ended the turn (Q10)."""
        for message in reversed(self.history.messages):
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if block.get("id") == result.tool_use_id:
                        return block.get("input")
        return None

    def stop_failed(self, text: str) -> None:
        """StopFailure hooks hear of an API error; nobody waits for them and they change nothing (L8)."""
        if self.config.hooks.wants("StopFailure"):
            call = HookCall(
                event="StopFailure", session_id=self.config.session_id, cwd=self.app.cwd, data={"error": text}
            )
            self.background.spawn(self.config.hooks.run(call), name="StopFailure hooks")

    async def notice(self, text: str, level: Literal["info", "warning", "error"] = "info") -> None:
        await self.publish(Notice(level=level, text=text))

    def user_message(self, content: str | Sequence[Block], *, is_meta: bool = True) -> UserMessage:
        blocks = (text_block(content),) if isinstance(content, str) else tuple(content)
        return UserMessage(
            uuid=self.config.deps.new_id(), content=blocks, timestamp=self.config.deps.now(), is_meta=is_meta
        )

    def attachment(self, kind: str, text: str, data: Json | None = None) -> Attachment:
        return Attachment(
            uuid=self.config.deps.new_id(),
            kind=kind,
            content=(text_block(text),),
            data=data or {},
            timestamp=self.config.deps.now(),
        )

    def error_message(self, text: str, kind: str) -> AssistantMessage:
        """A synthetic message that shows a failure to people; the model never reads it."""
        new_id = self.config.deps.new_id()
        return AssistantMessage(
            uuid=new_id,
            message_id=new_id,
            content=(text_block(text),),
            model="assent",
            timestamp=self.config.deps.now(),
            error=kind,
        )

    async def run_hooks(self, event: HookEvent, data: Json | None = None, *, subject: str = "") -> list[HookOutcome]:
        """Run the hooks of one event; each outcome is shown, and what one wants the model to know is attached."""
        if not self.config.hooks.wants(event):
            return []
        call = HookCall(
            event=event, session_id=self.config.session_id, cwd=self.app.cwd, subject=subject, data=data or {}
        )
        outcomes = await self.config.hooks.run(call)
        for outcome in outcomes:
            await self.publish(HookRan(event=event, outcome=outcome.status, text=outcome.text))
            if outcome.context:
                await self.publish(self.attachment("hook", outcome.context, {"event": event}))
        return outcomes
