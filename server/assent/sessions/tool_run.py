"""Tools run by the client, without a model, through the same permission chain (T10)."""

import time
from collections.abc import Callable
from typing import cast

import anyio

from assent.engine.eliciting import elicit_with_hooks
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.tools.run.executor import CallResult, ToolExecutor
from assent.tools.tool import ToolContext
from assent.types.blocks import Block, Json, text_block, text_of
from assent.types.errors import ProtocolError
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.ids import new_id
from assent.types.messages import Message, ToolProgress
from assent.types.ports import Elicitation, ElicitationAnswer
from assent.wire.requests import ToolRun
from assent.wire.results import ToolInfo, ToolRan, Tools


def listed(session: Session) -> Tools:
    tools = [tool for tool in session.tools.all() if tool.enabled(session.state)]
    return Tools([ToolInfo(tool.name, tool.description(), tool.input_schema()) for tool in tools])


async def run(session: Session, params: ToolRun, call: Call) -> ToolRan:
    tool = session.tools.named(params.name)
    if tool is None:
        names = ", ".join(sorted(tool.name for tool in session.tools.all()))
        raise ProtocolError("invalidParams", f"There is no tool named {params.name!r}", hint=f"The tools are: {names}.")
    block: Json = {"type": "tool_use", "id": new_id("x"), "name": tool.name, "input": params.input}
    began = time.monotonic()
    result = await _executed(session, block, call)
    if result is None:
        raise ProtocolError("cancelled", f"{tool.name} was cancelled")
    content = cast("str | list[Block]", result.block["content"])
    if result.ended == "denied":
        raise ProtocolError("permissionDenied", text_of(content), hint="Allow it with a rule, or answer the question.")
    return ToolRan(
        content=[text_block(content)] if isinstance(content, str) else [dict(part) for part in content],
        is_error=result.ended != "done",
        duration_ms=int((time.monotonic() - began) * 1000),
    )


async def _executed(session: Session, block: Json, call: Call) -> CallResult | None:
    """The call's result, or None when the client cancelled it."""

    def emit(message: Message) -> None:
        if isinstance(message, ToolProgress):
            call.progress(message.text)
        session.turns.output.show(message)

    def make_context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return ToolContext(
            session_id=session.id,
            tool_use_id=tool_use_id,
            state=session.state,
            services=session.services,
            progress=progress,
            elicit=elicit,
        )

    async def run_hooks(event: HookEvent, data: Json, server: str) -> list[HookOutcome]:
        hooks = session.services.hooks
        asked = HookCall(event=event, session_id=session.id, cwd=session.state.cwd, subject=server, data=data)
        return await hooks.run(asked) if hooks.wants(event) else []

    async def elicit(question: Elicitation) -> ElicitationAnswer:
        return await elicit_with_hooks(question, run_hooks, lambda: session.elicit(question))

    results: tuple[CallResult, ...] = ()
    async with anyio.create_task_group() as group:

        async def stop_when_cancelled() -> None:
            await call.cancelled.wait()
            group.cancel_scope.cancel()

        group.start_soon(stop_when_cancelled)
        async with ToolExecutor(
            tools={tool.name: tool for tool in session.tools.all() if tool.enabled(session.state)},
            can_use_tool=session.gate.can_use_tool,
            review_edit=session.edit_review.run,
            make_context=make_context,
            emit=emit,
            clock=time.monotonic,
            hooks=session.services.hooks,
            session_id=session.id,
            cwd=lambda: session.state.cwd,
        ) as executor:
            executor.add(block)
            results = await executor.finish()
        group.cancel_scope.cancel()
    return results[0] if results and not call.cancelled.is_set() else None
