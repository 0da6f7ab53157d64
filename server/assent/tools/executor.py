"""Runs the tool calls of one answer while the model is still talking (T2).

    1 A call starts at its content_block_stop. Safe calls run together; an unsafe one waits for all before it, runs
      alone, and holds back all after it.
    2 Results come back in the order asked, each call answered exactly once, whatever happens (L9).
    3 A Bash call that fails cancels its running and queued siblings; other failures cancel nothing.
    4 The clock of a timeout stands still while a person is being waited for.

A call goes: parse, PreToolUse hooks, `prepare`, `can_use_tool`, `call`, PostToolUse hooks. The executor decides
nothing about permissions and knows nothing of the loop: it is handed two callables to ask and to tell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

import anyio
import anyio.abc

from assent.tools.tool import AnyTool, Input, ToolContext, ToolOutput, as_json
from assent.types.blocks import Block, Json, text_block, tool_result_block
from assent.types.errors import ToolError
from assent.types.hooks import HookCall, HookOutcome, Hooks, NoHooks
from assent.types.messages import HookRan, Message, ToolFinished, ToolProgress, ToolStarted
from assent.types.permissions import Deny
from assent.types.ports import CanUseTool, Elicitation, ElicitationAnswer, HandleElicitation, ToolCall

logger = logging.getLogger(__name__)

MAX_PARALLEL = 10
CANCELS_SIBLINGS = frozenset({"Bash"})
INTERRUPTED = "Interrupted: the user stopped the turn before this call finished."
SIBLING_FAILED = "Cancelled: a Bash call in the same answer failed."
WITHDRAWN = "Cancelled: the answer that asked for this call was withdrawn."

Ended = Literal["done", "failed", "denied", "invalid", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """How one call ended, and the block that answers it."""

    tool_use_id: str
    tool: str
    ended: Ended
    block: Json
    input: Json = field(default_factory=dict[str, Any])
    summary: str = ""  # one line for people
    contexts: tuple[str, ...] = ()  # what hooks want the model to know besides
    stop_turn: bool = False  # the tool itself says the turn is complete
    hook_stopped: str = ""  # a hook said stop, and why
    interrupted: bool = False  # the person who denied it wants the whole turn to stop


class MakeContext(Protocol):
    def __call__(self, *, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext: ...


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    id: str
    name: str
    raw: object
    tool: AnyTool | None = None
    input: Input | None = None
    safe: bool = True
    running: bool = False
    started: bool = False  # `tool.call` has begun: it may have touched the world
    result: CallResult | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cancel_reason: str = INTERRUPTED
    began: float = 0.0


class ToolExecutor:
    """One per answer. An async context manager: leaving it ends every call still running."""

    def __init__(
        self,
        *,
        tools: Mapping[str, AnyTool],
        can_use_tool: CanUseTool,
        make_context: MakeContext,
        emit: Callable[[Message], None],
        clock: Callable[[], float],
        hooks: Hooks | None = None,
        session_id: str = "",
        cwd: Callable[[], str] = lambda: "",
        parent_tool_use_id: str | None = None,
    ) -> None:
        self._tools = tools
        self._can_use_tool = can_use_tool
        self._make_context = make_context
        self._emit = emit
        self._clock = clock
        self._hooks = hooks or NoHooks()
        self._session_id = session_id
        self._cwd = cwd
        self._parent = parent_tool_use_id
        self._calls: list[_Call] = []
        self._failed_bash = False
        self._changed = anyio.Event()
        self._group: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> ToolExecutor:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        assert self._group is not None
        if any(call.result is None for call in self._calls):
            self._group.cancel_scope.cancel()
        try:
            return await self._group.__aexit__(kind, error, trace)
        finally:
            self._settle_all(INTERRUPTED)

    @property
    def asked(self) -> int:
        return len(self._calls)

    @property
    def unsafe_started(self) -> bool:
        """From here on the answer cannot be taken back (L10)."""
        return any(call.started and not call.safe for call in self._calls)

    def add(self, block: Block) -> None:
        """One closed tool_use block. Returns at once; the call starts as soon as the rules let it."""
        call = _Call(id=str(block.get("id", "")), name=str(block.get("name", "")), raw=block.get("input"))
        self._calls.append(call)
        call.tool = self._tools.get(call.name)
        if call.tool is None:
            self._settle(call, "invalid", _unknown(call.name, self._tools))
            return
        try:
            call.input = cast("Input", call.tool.parse(call.raw))
            call.safe = call.tool.concurrency_safe(call.input)
        except ToolError as error:
            self._settle(call, "invalid", str(error))
            return
        except Exception:
            logger.exception("%s could not judge its own input", call.name)
            self._settle(call, "invalid", f"{call.name} could not read this input.")
            return
        self._pump()

    def reject(self, block: Block, reason: str) -> None:
        """Answer a call that must not run: its input was cut off, say."""
        call = _Call(id=str(block.get("id", "")), name=str(block.get("name", "")), raw=block.get("input"))
        self._calls.append(call)
        self._settle(call, "invalid", reason)

    async def finish(self) -> tuple[CallResult, ...]:
        """Every result, in the order asked, once all calls have ended."""
        while any(call.result is None for call in self._calls):
            self._changed = anyio.Event()
            await self._changed.wait()
        return self.results()

    async def withdraw(self, reason: str = WITHDRAWN) -> None:
        """Take back all calls that have not ended: the answer that asked for them is void."""
        for call in self._calls:
            self._cancel(call, reason)
        await self.finish()

    def results(self) -> tuple[CallResult, ...]:
        return tuple(call.result for call in self._calls if call.result is not None)

    def _pump(self) -> None:
        """Start what may start now, in the order asked."""
        running = [call for call in self._calls if call.running]
        if any(not call.safe for call in running):
            return
        for call in self._calls:
            if call.result is not None or call.running:
                continue
            if self._failed_bash:
                self._settle(call, "cancelled", SIBLING_FAILED)
            elif call.safe and len(running) < MAX_PARALLEL:
                self._start(call)
                running.append(call)
            elif not call.safe and not running:
                self._start(call)
                return
            else:
                return

    def _start(self, call: _Call) -> None:
        assert self._group is not None
        call.running = True
        self._group.start_soon(self._run, call, name=f"tool {call.name}")

    def _cancel(self, call: _Call, reason: str) -> None:
        if call.result is None:
            call.cancel_reason = reason
            if call.running:
                call.scope.cancel()
            else:
                self._settle(call, "cancelled", reason)

    async def _run(self, call: _Call) -> None:
        call.began = self._clock()
        try:
            with call.scope:
                await self._attempt(call)
        except ToolError as error:
            self._settle(call, "failed", str(error) or f"{call.name} failed.")
        except Exception as error:
            logger.exception("tool %s crashed", call.name)
            self._settle(call, "failed", f"{call.name} failed unexpectedly: {type(error).__name__}: {error}")
        finally:
            self._settle(call, "cancelled", call.cancel_reason)

    async def _attempt(self, call: _Call) -> None:
        assert call.tool is not None and call.input is not None
        contexts: list[str] = []
        before = await self._run_hooks("PreToolUse", call, {"tool_input": as_json(call.input)}, contexts)
        if self._blocked(call, before, contexts):
            return
        call.input = self._rewritten(call, before) or call.input
        context = self._make_context(tool_use_id=call.id, progress=lambda text: self._progress(call, text))
        context.plan = await call.tool.prepare(call.input, context)
        verdict = await self._can_use_tool(self._question(call, context, before))
        if isinstance(verdict, Deny):
            self._settle(call, "denied", verdict.reason, interrupted=verdict.interrupt, contexts=contexts)
            return
        if verdict.updated_input is not None:
            call.input = cast("Input", call.tool.parse(dict(verdict.updated_input)))
            context.plan = await call.tool.prepare(call.input, context)
        context.proposal_id = verdict.proposal_id
        output = await self._call(call, context)
        if output is None:
            self._settle(call, "timeout", f"{call.name} timed out after {call.tool.timeout:g} s.", contexts=contexts)
            return
        if verdict.message:
            output = replace(output, content=_with_text(output.content, f"The user said: {verdict.message}"))
        event = "PostToolUseFailure" if output.is_error else "PostToolUse"
        data: Json = {"tool_input": as_json(call.input), "tool_response": output.content, "is_error": output.is_error}
        after = await self._run_hooks(event, call, data, contexts)
        for outcome in after:
            if outcome.status == "blocked" and outcome.text:
                contexts.append(outcome.text)
        self._settle(
            call,
            "failed" if output.is_error else "done",
            output.content,
            output=output,
            contexts=contexts,
            hook_stopped=_stopped(after),
        )

    def _question(self, call: _Call, context: ToolContext, hooks: Sequence[HookOutcome]) -> ToolCall:
        assert call.tool is not None and call.input is not None
        said = {outcome.decision: outcome.text for outcome in hooks if outcome.decision in ("allow", "ask")}
        decision: Literal["allow", "ask"] | None = "ask" if "ask" in said else "allow" if "allow" in said else None
        action = call.tool.action(call.input, cwd=context.cwd)
        if context.plan is not None and context.plan.target and context.plan.target not in action.writes:
            # Where links led when the change was planned is what will be written: it is judged, too.
            action = replace(action, writes=(*action.writes, context.plan.target))
        return ToolCall(
            tool_use_id=call.id,
            action=action,
            title=call.tool.title(call.input),
            plan=context.plan,
            parent_tool_use_id=self._parent,
            hook_decision=decision,
            hook_reason=said[decision] if decision else "",
        )

    async def _call(self, call: _Call, context: ToolContext) -> ToolOutput | None:
        """The call itself, under its timeout; None when that ran out."""
        assert call.tool is not None and call.input is not None
        call.started = True
        self._emit(
            ToolStarted(
                tool_use_id=call.id,
                tool=call.name,
                input=as_json(call.input),
                title=call.tool.title(call.input),
                parent_tool_use_id=self._parent,
            )
        )
        if call.tool.timeout is None:
            return await call.tool.call(call.input, context)
        with anyio.move_on_after(call.tool.timeout) as scope:
            if context.elicit is not None:
                context.elicit = _outside(scope, context.elicit)
            return await call.tool.call(call.input, context)
        return None

    async def _run_hooks(
        self,
        event: Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"],
        call: _Call,
        data: Json,
        contexts: list[str],
    ) -> list[HookOutcome]:
        if not self._hooks.wants(event):
            return []
        payload: Json = {"tool_name": call.name, "tool_use_id": call.id, **data}
        outcomes = await self._hooks.run(
            HookCall(event=event, session_id=self._session_id, cwd=self._cwd(), subject=call.name, data=payload)
        )
        for outcome in outcomes:
            self._emit(HookRan(event=event, outcome=outcome.status, text=outcome.text))
            if outcome.context:
                contexts.append(outcome.context)
        return outcomes

    def _blocked(self, call: _Call, outcomes: Sequence[HookOutcome], contexts: Sequence[str]) -> bool:
        for outcome in outcomes:
            if outcome.status in ("blocked", "prevented") or outcome.decision == "deny":
                reason = outcome.text or "A PreToolUse hook refused this call."
                self._settle(call, "denied", reason, contexts=contexts, hook_stopped=_stopped(outcomes))
                return True
        return False

    def _rewritten(self, call: _Call, outcomes: Sequence[HookOutcome]) -> Input | None:
        """The input as the last rewriting hook left it, validated like any other."""
        rewritten = [outcome.updated_input for outcome in outcomes if outcome.updated_input is not None]
        if not rewritten or call.tool is None:
            return None
        return cast("Input", call.tool.parse(dict(rewritten[-1])))

    def _progress(self, call: _Call, text: str) -> None:
        if call.result is None:
            self._emit(ToolProgress(tool_use_id=call.id, text=text, parent_tool_use_id=self._parent))

    def _settle(
        self,
        call: _Call,
        ended: Ended,
        content: str | Sequence[Block],
        *,
        output: ToolOutput | None = None,
        contexts: Sequence[str] = (),
        hook_stopped: str = "",
        interrupted: bool = False,
    ) -> None:
        """Answer a call, once; later answers are ignored."""
        if call.result is not None:
            return
        is_error = ended != "done"
        body = content if isinstance(content, str) else [dict(block) for block in content]
        block = tool_result_block(call.id, body or "(no output)", is_error=is_error)
        call.result = CallResult(
            tool_use_id=call.id,
            tool=call.name,
            ended=ended,
            block=block,
            input=as_json(call.input) if call.input is not None else {},
            summary=(output.summary if output else "") or _first_line(body),
            contexts=tuple(contexts),
            stop_turn=output is not None and output.stop_turn,
            hook_stopped=hook_stopped,
            interrupted=interrupted,
        )
        if call.started or content != WITHDRAWN:  # what was never shown as running and is void needs no end
            self._tell_finished(call)
        call.running = False
        if ended == "failed" and call.started and call.name in CANCELS_SIBLINGS:
            self._failed_bash = True
            for sibling in self._calls:
                self._cancel(sibling, SIBLING_FAILED)
        self._changed.set()
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._pump()

    def _tell_finished(self, call: _Call) -> None:
        assert call.result is not None
        content = call.result.block["content"]
        blocks = (text_block(content),) if isinstance(content, str) else tuple(cast("list[Block]", content))
        self._emit(
            ToolFinished(
                tool_use_id=call.id,
                tool=call.name,
                is_error=call.result.ended != "done",
                summary=call.result.summary,
                content=blocks,
                duration_ms=int((self._clock() - call.began) * 1000) if call.running else 0,
                parent_tool_use_id=self._parent,
            )
        )

    def _settle_all(self, reason: str) -> None:
        for call in self._calls:
            self._settle(call, "cancelled", reason)


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


def _unknown(name: str, tools: Iterable[str]) -> str:
    return f"There is no tool named {name!r}. The tools are: {', '.join(sorted(tools)) or 'none'}."


def _stopped(outcomes: Iterable[HookOutcome]) -> str:
    return next((o.text or "A hook stopped the turn." for o in outcomes if o.status == "prevented"), "")


def _with_text(content: str | Sequence[Block], text: str) -> str | list[Block]:
    if isinstance(content, str):
        return f"{content}\n\n{text}" if content else text
    return [*content, text_block(text)]


def _first_line(content: object) -> str:
    return content.strip().partition("\n")[0][:200] if isinstance(content, str) else ""
