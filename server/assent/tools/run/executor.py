"""Runs the tool calls of one answer while the model is still talking (T2).

    1 A call starts at its content_block_stop. Safe calls run together; an unsafe one waits for all before it, runs
      alone, and holds back all after it.
    2 Results come back in the order asked, each call answered exactly once, whatever happens (L9).
    3 A Bash call that fails cancels its running and queued siblings; other failures cancel nothing.

It decides when a call may run; the way of one call is in `calls`. It knows nothing of permissions or of the loop: it
is handed callables to ask and to tell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import anyio
import anyio.abc

from assent.tools.run.calls import INTERRUPTED, CallEnding, Caller, CallResult, MakeContext, RunningCall
from assent.tools.tool import AnyTool, Input, as_json
from assent.types.blocks import Block, text_block, tool_result_block
from assent.types.errors import ToolError
from assent.types.hooks import Hooks, NoHooks
from assent.types.messages import Message, ToolFinished
from assent.types.ports import CanUseTool, ReviewEdit, unreviewed

__all__ = ["INTERRUPTED", "CallResult", "ToolExecutor"]

logger = logging.getLogger(__name__)

MAX_PARALLEL = 10
CANCELS_SIBLINGS = frozenset({"Bash"})
SIBLING_FAILED = "Cancelled: a Bash call in the same answer failed."
WITHDRAWN = "Cancelled: the answer that asked for this call was withdrawn."


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
        review_edit: ReviewEdit = unreviewed,
        hooks: Hooks | None = None,
        session_id: str = "",
        cwd: Callable[[], str] = lambda: "",
        parent_tool_use_id: str | None = None,
        agent_type: str | None = None,
        interrupted: Callable[[], str] = lambda: INTERRUPTED,
    ) -> None:
        self._tools = tools
        self._emit = emit
        self._clock = clock
        self._parent = parent_tool_use_id
        self._interrupted = interrupted
        self._caller = Caller(
            can_use_tool=can_use_tool,
            review_edit=review_edit,
            make_context=make_context,
            emit=emit,
            hooks=hooks or NoHooks(),
            session_id=session_id,
            cwd=cwd,
            parent=parent_tool_use_id,
            agent_type=agent_type,
            rewritten=self._class_again,
            clock=clock,
        )
        self._calls: list[RunningCall] = []
        self._said = ""
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
            for call in self._calls:
                self._settle(call, CallEnding(ended="cancelled", content=self._interrupted()))

    @property
    def asked(self) -> int:
        return len(self._calls)

    @property
    def unsafe_started(self) -> bool:
        """From here on the answer cannot be taken back (L10)."""
        return any(call.acted or (call.started and not call.safe) for call in self._calls)

    def heard(self, text: str) -> None:
        """What the model says between its calls; the calls after it are shown with these words as their reason."""
        self._said = text

    def add(self, block: Block) -> None:
        """One closed tool_use block. Returns at once; the call starts as soon as the rules let it."""
        call = self._new_call(block)
        call.tool = self._tools.get(call.name)
        if call.tool is None:
            self._settle(call, CallEnding(ended="invalid", content=_unknown(call.name, self._tools)))
            return
        try:
            call.input = cast("Input", call.tool.parse(call.raw))
            call.safe = self._is_safe(call)
        except ToolError as error:
            self._settle(call, CallEnding(ended="invalid", content=str(error)))
        except Exception:
            logger.exception("%s could not judge its own input", call.name)
            self._settle(call, CallEnding(ended="invalid", content=f"{call.name} could not read this input."))
        else:
            self._pump()

    def reject(self, block: Block, reason: str) -> None:
        """Answer a call that must not run: its input was cut off, say."""
        self._settle(self._new_call(block), CallEnding(ended="invalid", content=reason))

    async def finish(self) -> tuple[CallResult, ...]:
        """Every result, in the order asked, once all calls have ended."""
        while any(call.result is None for call in self._calls):
            await self._changed.wait()
        return self.results()

    async def withdraw(self, reason: str = WITHDRAWN) -> None:
        """Take back all calls that have not ended: the answer that asked for them is void."""
        for call in self._calls:
            self._cancel(call, reason)
        await self.finish()

    def results(self) -> tuple[CallResult, ...]:
        return tuple(call.result for call in self._calls if call.result is not None)

    def _new_call(self, block: Block) -> RunningCall:
        name = str(block.get("name", ""))
        call = RunningCall(id=str(block.get("id", "")), name=name, raw=block.get("input"), said=self._said)
        self._calls.append(call)
        return call

    def _is_safe(self, call: RunningCall) -> bool:
        assert call.tool is not None and call.input is not None
        return call.tool.safe_in(call.input, self._caller.context(call))

    async def _class_again(self, call: RunningCall) -> None:
        """A rewritten call is judged by what it does now. One that became unsafe goes on once it is alone (L10, T2)."""
        call.safe = self._is_safe(call)
        call.held = not call.safe
        self._tell_change()
        self._pump()
        try:
            while call.held and any(self._goes_before(other, call) for other in self._calls):
                await self._changed.wait()
        finally:
            call.held = False

    def _goes_before(self, other: RunningCall, call: RunningCall) -> bool:
        """What is at work, and of several that wait to be alone the one asked for first."""
        if other is call or not other.running:
            return False
        return not other.held or self._calls.index(other) < self._calls.index(call)

    def _tell_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _pump(self) -> None:
        """Start what may start now, in the order asked."""
        running = [call for call in self._calls if call.running]
        if any(not call.safe for call in running):
            return
        for call in self._calls:
            if call.result is not None or call.running:
                continue
            if self._failed_bash:
                self._settle(call, CallEnding(ended="cancelled", content=SIBLING_FAILED))
            elif call.safe and len(running) < MAX_PARALLEL:
                self._start(call)
                running.append(call)
            elif not call.safe and not running:
                self._start(call)
                return
            else:
                return

    def _start(self, call: RunningCall) -> None:
        assert self._group is not None
        call.running = True
        self._group.start_soon(self._run, call, name=f"tool {call.name}")

    def _cancel(self, call: RunningCall, reason: str) -> None:
        if call.result is None:
            call.cancel_reason = reason
            if call.running:
                call.scope.cancel()
            else:
                self._settle(call, CallEnding(ended="cancelled", content=reason))

    async def _run(self, call: RunningCall) -> None:
        call.began = self._clock()
        try:
            with call.scope:
                self._settle(call, await self._caller.make(call))
        except ToolError as error:
            self._settle(call, CallEnding(ended="failed", content=str(error) or f"{call.name} failed."))
        except Exception as error:
            logger.exception("tool %s crashed", call.name)
            words = f"{call.name} failed unexpectedly: {type(error).__name__}: {error}"
            self._settle(call, CallEnding(ended="failed", content=words))
        finally:
            self._settle(call, CallEnding(ended="cancelled", content=call.cancel_reason or self._interrupted()))

    def _settle(self, call: RunningCall, ending: CallEnding) -> None:
        """Answer a call, once; later answers are ignored."""
        if call.result is not None:
            return
        content, output = ending.content, ending.output
        body = content if isinstance(content, str) else [dict(block) for block in content]
        call.result = CallResult(
            tool_use_id=call.id,
            tool=call.name,
            ended=ending.ended,
            block=tool_result_block(call.id, body or "(no output)", is_error=ending.ended != "done"),
            input=as_json(call.input) if call.input is not None else {},
            summary=(output.summary if output else "") or _first_line(body),
            changed=output.changed if output else (),
            contexts=tuple(ending.contexts),
            stop_turn=output is not None and output.stop_turn,
            hook_stopped=ending.hook_stopped,
            interrupted=ending.interrupted,
        )
        if call.started or content != WITHDRAWN:  # what was never shown as running and is void needs no end
            self._tell_finished(call, call.result)
        call.running = False
        if ending.ended == "failed" and call.started and call.name in CANCELS_SIBLINGS:
            self._failed_bash = True
            for sibling in self._calls:
                self._cancel(sibling, SIBLING_FAILED)
        self._tell_change()
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._pump()

    def _tell_finished(self, call: RunningCall, result: CallResult) -> None:
        content = result.block["content"]
        blocks = (text_block(content),) if isinstance(content, str) else tuple(cast("list[Block]", content))
        self._emit(
            ToolFinished(
                tool_use_id=call.id,
                tool=call.name,
                is_error=result.ended != "done",
                summary=result.summary,
                content=blocks,
                duration_ms=int((self._clock() - call.began) * 1000) if call.started else 0,
                changed=result.changed,
                parent_tool_use_id=self._parent,
            )
        )


def _unknown(name: str, tools: Collection[str]) -> str:
    searchable = name.startswith("mcp__") and "ToolSearch" in tools
    hint = f" ToolSearch with `select:{name}` loads it if its server has it." if searchable else ""
    return f"There is no tool named {name!r}.{hint} The tools are: {', '.join(sorted(tools)) or 'none'}."


def _first_line(content: object) -> str:
    return content.strip().partition("\n")[0][:200] if isinstance(content, str) else ""
