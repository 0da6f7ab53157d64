"""Tools run by the client, without a model, through the same permission chain (T10)."""

import time
from collections.abc import Callable
from typing import cast

import anyio

from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.tools.run.executor import CallResult, ToolExecutor
from assent.tools.tool import ToolContext
from assent.types.blocks import Block, Json, text_block, text_of
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Message, ToolProgress


def listed(session: Session) -> Json:
    tools = [tool for tool in session.tools() if tool.enabled(session.state)]
    return {
        "tools": [
            {"name": tool.name, "description": tool.description(), "inputSchema": tool.input_schema()} for tool in tools
        ]
    }


async def run(session: Session, params: Json, call: Call) -> Json:
    name = params.get("name")
    tool = session.tool(str(name))
    if tool is None:
        names = ", ".join(sorted(tool.name for tool in session.tools()))
        raise ProtocolError("invalidParams", f"There is no tool named {name!r}", hint=f"The tools are: {names}.")
    given = params.get("input", {})
    if not isinstance(given, dict):
        raise ProtocolError("invalidParams", "input must be an object")
    block: Json = {"type": "tool_use", "id": new_id("x"), "name": tool.name, "input": cast("Json", given)}
    began = time.monotonic()
    result = await _executed(session, block, call)
    if result is None:
        raise ProtocolError("cancelled", f"{tool.name} was cancelled")
    content = cast("str | list[Block]", result.block["content"])
    if result.ended == "denied":
        raise ProtocolError("permissionDenied", text_of(content), hint="Allow it with a rule, or answer the question.")
    return {
        "content": [text_block(content)] if isinstance(content, str) else [dict(part) for part in content],
        "isError": result.ended != "done",
        "durationMs": int((time.monotonic() - began) * 1000),
    }


async def _executed(session: Session, block: Json, call: Call) -> CallResult | None:
    """The call's result, or None when the client cancelled it."""

    def emit(message: Message) -> None:
        if isinstance(message, ToolProgress):
            call.progress(message.text)
        session.turns.show(message)

    def make_context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return ToolContext(
            session_id=session.id,
            tool_use_id=tool_use_id,
            state=session.state,
            services=session.services,
            progress=progress,
            elicit=session.elicit,
        )

    results: tuple[CallResult, ...] = ()
    async with anyio.create_task_group() as group:

        async def stop_when_cancelled() -> None:
            await call.cancelled.wait()
            group.cancel_scope.cancel()

        group.start_soon(stop_when_cancelled)
        async with ToolExecutor(
            tools={tool.name: tool for tool in session.tools() if tool.enabled(session.state)},
            can_use_tool=session.gate.can_use_tool,
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
