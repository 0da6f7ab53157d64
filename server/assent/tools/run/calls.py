"""The way of one tool call (T1, T2): PreToolUse hooks → `prepare` → permit → review → `call` → PostToolUse hooks.

`Caller.make` gives how it ended and never decides when it may run; that is the executor's. Rewritten input, by a hook
or by the person asked, is parsed, classed and prepared like any other. The clock of a timeout stands still while a
person is being waited for.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

import anyio
import anyio.lowlevel

from assent.text.words import one_line
from assent.tools.tool import AnyTool, Input, ToolContext, ToolOutput, as_json
from assent.tools.tool_responses import response_words
from assent.types.blocks import Block, Json, text_block, text_of
from assent.types.errors import ToolError, Unfenced
from assent.types.hooks import HookCall, HookOutcome, Hooks, strictest
from assent.types.messages import ChangedFile, Message, ToolProgress, ToolStarted
from assent.types.permissions import Action, Allow, Deny
from assent.types.ports import (
    CanUseTool,
    EditPlan,
    Elicitation,
    ElicitationAnswer,
    HandleElicitation,
    ReviewEdit,
    ToolCall,
)

logger = logging.getLogger(__name__)

INTERRUPTED = "Interrupted: the user stopped the turn before this call finished."
REASON_LENGTH = 120  # of the model's words beside a hunk

Ended = Literal["done", "failed", "denied", "invalid", "timeout", "cancelled"]
ToolHook = Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """How one call ended, and the block that answers it."""

    tool_use_id: str
    tool: str
    ended: Ended
    block: Json
    input: Json = field(default_factory=dict[str, Any])
    summary: str = ""  # one line for people
    changed: tuple[ChangedFile, ...] = ()
    contexts: tuple[str, ...] = ()  # what hooks want the model to know besides
    stop_turn: bool = False  # the tool itself says the turn is complete
    hook_stopped: str = ""  # a hook said stop, and why
    interrupted: bool = False  # the person who denied it wants the whole turn to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnding:
    """What a call came to, before it is written down as a result."""

    ended: Ended
    content: str | Sequence[Block]
    output: ToolOutput | None = None
    contexts: Sequence[str] = ()
    hook_stopped: str = ""
    interrupted: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class RunningCall:
    """One call of an answer, as far as it has got."""

    id: str
    name: str
    raw: object
    said: str = ""  # the model's words before it
    tool: AnyTool | None = None
    input: Input | None = None
    safe: bool = True
    running: bool = False
    held: bool = False  # running, but waits until it is alone: its input was rewritten to something unsafe
    acted: bool = False  # part of it happened before it began: a hunk was accepted while others are still reviewed
    started: bool = False  # `tool.call` has begun: it may have touched the world
    result: CallResult | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cancel_reason: str = ""  # empty: the turn was stopped
    began: float = 0.0


class MakeContext(Protocol):
    def __call__(self, *, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    can_use_tool: CanUseTool
    review_edit: ReviewEdit
    make_context: MakeContext
    emit: Callable[[Message], None]
    hooks: Hooks
    session_id: str
    cwd: Callable[[], str]
    parent: str | None
    agent_type: str | None
    rewritten: Callable[[RunningCall], Awaitable[None]]  # its input is another one now: is it still safe where it is?
    clock: Callable[[], float]

    async def make(self, call: RunningCall) -> CallEnding:
        """Raises ToolError for what the model should know; anything else that is raised is a bug in the tool."""
        tool, given = call.tool, call.input
        assert tool is not None and given is not None
        contexts: list[str] = []
        before = await self._run_hooks("PreToolUse", call, given, {}, contexts)
        if (refused := _refused(before, contexts)) is not None:
            return refused
        rewritten = [outcome.updated_input for outcome in before if outcome.updated_input is not None]
        if rewritten:
            given = call.input = cast("Input", tool.parse_rewritten(dict(rewritten[-1])))
            await self.rewritten(call)
        context = self.context(call)
        try:
            context.plan = _explained(await tool.prepare(given, context), call.said)
            question = self._question(call, tool, given, context, before)
            verdict = await self.can_use_tool(question)
            while isinstance(verdict, Allow) and verdict.updated_input is not None:
                given = call.input = cast("Input", tool.parse_rewritten(dict(verdict.updated_input)))
                await self.rewritten(call)
                context.plan = _explained(await tool.prepare(given, context), call.said)
                question = self._question(call, tool, given, context, ())
                if context.plan is None or _foreseen(context.plan, tool.action(given, cwd=context.cwd)):
                    break
                # The changed input was judged, but which files it leads to only the plan says.
                verdict = await self.can_use_tool(question)
            if isinstance(verdict, Deny):
                return CallEnding(
                    ended="denied", content=verdict.reason, interrupted=verdict.interrupt, contexts=contexts
                )
            context.fenced = verdict.fenced
            if context.plan is not None:
                context.reviewed = await self.review_edit(question)
            if context.reviewed is not None and context.reviewed.refused:
                return CallEnding(ended="denied", content=context.reviewed.refused, contexts=contexts)
            try:
                output = await self._run(call, tool, given, context)
            except Unfenced:
                # It was allowed because it would run inside a fence, and that did not close. The chain knows by now.
                verdict = await self.can_use_tool(self._question(call, tool, given, context, before))
                if isinstance(verdict, Deny):
                    return CallEnding(
                        ended="denied", content=verdict.reason, interrupted=verdict.interrupt, contexts=contexts
                    )
                if verdict.updated_input is not None:
                    given = call.input = cast("Input", tool.parse_rewritten(dict(verdict.updated_input)))
                    await self.rewritten(call)
                context.fenced = verdict.fenced
                output = await self._run(call, tool, given, context)
        except ToolError as error:
            return await self._failed(call, given, "failed", str(error) or f"{call.name} failed.", contexts)
        except Exception as error:
            logger.exception("tool %s crashed", call.name)
            words = f"{call.name} failed unexpectedly: {type(error).__name__}: {error}"
            return await self._failed(call, given, "failed", words, contexts)
        if output is None:
            words = f"{call.name} timed out after {tool.timeout:g} s."
            return await self._failed(call, given, "timeout", words, contexts)
        if verdict.message:
            output = replace(output, content=_with_text(output.content, f"The user said: {verdict.message}"))
        event: ToolHook = "PostToolUseFailure" if output.is_error else "PostToolUse"
        data: Json = {"is_error": output.is_error}
        if output.is_error:
            data |= {"error": text_of(output.content), "is_interrupt": False}
        elif self.hooks.wants(event):
            data["tool_response"] = output.response() if output.response is not None else output.content
        data["duration_ms"] = round((self.clock() - call.began) * 1000)
        after = await self._run_hooks(event, call, given, data, contexts)
        contexts += [outcome.text for outcome in after if outcome.status == "blocked" and outcome.text]
        output = _replaced(call.name, output, after)
        return CallEnding(
            ended="failed" if output.is_error else "done",
            content=output.content,
            output=output,
            contexts=contexts,
            hook_stopped=_stopped(after),
        )

    async def _failed(
        self, call: RunningCall, given: Input, ended: Ended, words: str, contexts: list[str]
    ) -> CallEnding:
        """It raised, crashed or ran out of time: PostToolUseFailure hooks hear of that as of any failure."""
        data: Json = {"error": words, "is_error": True}
        data["is_interrupt"] = False  # a call that was interrupted has no hooks: its turn is over
        if call.began:
            data["duration_ms"] = round((self.clock() - call.began) * 1000)
        after = await self._run_hooks("PostToolUseFailure", call, given, data, contexts)
        contexts += [outcome.text for outcome in after if outcome.status == "blocked" and outcome.text]
        return CallEnding(ended=ended, content=words, contexts=contexts, hook_stopped=_stopped(after))

    def context(self, call: RunningCall) -> ToolContext:
        context = self.make_context(tool_use_id=call.id, progress=lambda text: self._progress(call, text))
        context.acted = lambda: _acted(call)
        return context

    def _question(
        self, call: RunningCall, tool: AnyTool, given: Input, context: ToolContext, hooks: Sequence[HookOutcome]
    ) -> ToolCall:
        said = strictest(hooks)
        decision = said.decision if said is not None and said.decision != "deny" else None
        action = tool.action(given, cwd=context.cwd)
        if context.plan is not None:
            action = _with_places(action, context.plan)
        return ToolCall(
            tool_use_id=call.id,
            action=action,
            title=tool.title(given),
            plan=context.plan,
            parent_tool_use_id=self.parent,
            hook_decision=decision,
            hook_reason=said.text if said is not None else "",
            for_hooks=lambda: tool.for_hooks(given, context),
            agent_type=self.agent_type,
            acted=lambda: _acted(call),
        )

    async def _run(self, call: RunningCall, tool: AnyTool, given: Input, context: ToolContext) -> ToolOutput | None:
        """The call itself, under its timeout; None when that ran out. Its time counts from here, without what a person
        took to answer before it or inside it."""
        # Whoever withdrew the answer while its verdict was on the way counts on nothing starting any more (L10).
        await anyio.lowlevel.checkpoint_if_cancelled()
        if call.safe or not (call.name == "Bash" or call.name.startswith("mcp__")):
            return await self._started(call, tool, given, context)
        async with context.services.effects():  # the look at the files comes first: what is started can be moved
            return await self._started(call, tool, given, context)

    async def _started(self, call: RunningCall, tool: AnyTool, given: Input, context: ToolContext) -> ToolOutput | None:
        call.began = self.clock()
        if not call.started:
            call.started = True
            if context.elicit is not None:
                context.elicit = self._uncounted(call, context.elicit)
            self.emit(
                ToolStarted(
                    tool_use_id=call.id,
                    tool=call.name,
                    input=as_json(given),
                    title=tool.title(given),
                    parent_tool_use_id=self.parent,
                )
            )
        return await self._under_timeout(tool, given, context)

    async def _under_timeout(self, tool: AnyTool, given: Input, context: ToolContext) -> ToolOutput | None:
        if tool.timeout is None:
            return await tool.call(given, context)
        with anyio.move_on_after(tool.timeout) as scope:
            if context.elicit is not None:
                context.elicit = _outside(scope, context.elicit)
            return await tool.call(given, context)
        return None

    def _uncounted(self, call: RunningCall, elicit: HandleElicitation) -> HandleElicitation:
        async def asking(question: Elicitation) -> ElicitationAnswer:
            asked = self.clock()
            try:
                return await elicit(question)
            finally:
                call.began += self.clock() - asked

        return asking

    async def _run_hooks(
        self, event: ToolHook, call: RunningCall, given: Input, data: Json, contexts: list[str]
    ) -> list[HookOutcome]:
        if not self.hooks.wants(event):
            return []
        assert call.tool is not None
        seen = call.tool.for_hooks(given, self.context(call))
        payload: Json = {"tool_name": call.name, "tool_use_id": call.id, "tool_input": seen, **data}
        outcomes = await self.hooks.run(
            HookCall(
                event=event,
                session_id=self.session_id,
                cwd=self.cwd(),
                subject=call.name,
                data=payload,
                tool_use_id=call.id,
                agent_id=self.parent,
                agent_type=self.agent_type,
            )
        )
        for outcome in outcomes:
            self.emit(outcome.ran(event, call.id))
            if outcome.context:
                contexts.append(outcome.context)
        return outcomes

    def _progress(self, call: RunningCall, text: str) -> None:
        if call.result is None:
            self.emit(ToolProgress(tool_use_id=call.id, text=text, parent_tool_use_id=self.parent))


def _acted(call: RunningCall) -> None:
    call.acted = True


def _explained(plan: EditPlan | None, said: str) -> EditPlan | None:
    """The plan with the model's own reason for it: the last paragraph it wrote before the call, cut to a line."""
    if plan is None or not (paragraphs := [part for part in said.split("\n\n") if part.strip()]):
        return plan
    reason = one_line(paragraphs[-1].rstrip().removesuffix(":"), most=REASON_LENGTH)
    return replace(plan, reason=reason, others=tuple(replace(other, reason=reason) for other in plan.others))


def _with_places(action: Action, plan: EditPlan) -> Action:
    """Every file is judged, and where links lead when the plan is made: that very place will be written."""
    places = [plan.target, *(place for other in plan.others for place in (other.path, other.target))]
    return replace(action, writes=tuple(dict.fromkeys((*action.writes, *filter(None, places)))))


def _foreseen(plan: EditPlan, action: Action) -> bool:
    return all(file.path in action.writes for file in (plan, *plan.others))


def _refused(outcomes: Sequence[HookOutcome], contexts: Sequence[str]) -> CallEnding | None:
    for outcome in outcomes:
        if outcome.status in ("blocked", "prevented") or outcome.decision == "deny":
            reason = outcome.text or "A PreToolUse hook refused this call."
            return CallEnding(ended="denied", content=reason, contexts=contexts, hook_stopped=_stopped(outcomes))
    return None


def _replaced(tool: str, output: ToolOutput, outcomes: Iterable[HookOutcome]) -> ToolOutput:
    """What the model reads instead, where a PostToolUse hook gave it; the last one counts."""
    keys = ("updatedToolOutput", "updatedMCPToolOutput") if tool.startswith("mcp__") else ("updatedToolOutput",)
    for outcome in outcomes:
        for key in keys:
            if key in outcome.specific:
                output = replace(output, content=response_words(outcome.specific[key]))
    return output


def _stopped(outcomes: Iterable[HookOutcome]) -> str:
    return next((o.text or "A hook stopped the turn." for o in outcomes if o.status == "prevented"), "")


def _outside(scope: anyio.CancelScope, elicit: HandleElicitation) -> HandleElicitation:
    """The same question to the user, with the call's clock stopped until the answer."""

    async def asking(question: Elicitation) -> ElicitationAnswer:
        left = scope.deadline - anyio.current_time()
        scope.deadline = float("inf")
        try:
            return await elicit(question)
        finally:
            scope.deadline = anyio.current_time() + left

    return asking


def _with_text(content: str | Sequence[Block], text: str) -> str | list[Block]:
    if isinstance(content, str):
        return f"{content}\n\n{text}" if content else text
    return [*content, text_block(text)]
