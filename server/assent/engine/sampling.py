"""One model call: the request goes out, closed blocks come in, and tools start while the model still talks (T2).

A failure is kept in the `ModelAnswer` and not shown; `recovery` decides whether anyone sees it (L5).
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import assert_never

import anyio.lowlevel

from assent.engine.answer import ModelAnswer
from assent.engine.state import State
from assent.engine.turn import Turn
from assent.tools.run.executor import ToolExecutor
from assent.types.blocks import Block
from assent.types.errors import ModelError
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    Heartbeat,
    Notice,
    RequestStart,
    StreamEvent,
)
from assent.types.ports import ModelRequest

CUT_INPUT = (
    "This call did not run: its input was cut off before it was complete. "
    "Send the whole call again, in smaller pieces if it is long."
)


async def sample(turn: Turn, state: State, tools: ToolExecutor) -> ModelAnswer:
    answer = turn.answer = ModelAnswer()
    turn.phase = "streaming"
    looped, step_id = state.transition, turn.services.new_id()
    chain = turn.link(step_id=step_id, transition=looped.reason if looped else None)
    request = replace(request_for(turn, state), chain=chain)
    await turn.services.transcript.flush(durable=True)
    await turn.publish(
        RequestStart(
            step_id=step_id,
            model=request.model,
            transition=looped.reason if looped else None,
            attempt=looped.attempt if looped else 0,
            committed=looped.committed if looped else 0,
        )
    )
    meter = turn.ledger.meter(request.model)
    meter.open()
    began = turn.window.last_call = turn.services.clock()
    try:
        async with aclosing(turn.services.call_model(request)) as events:
            async for event in events:
                match event:
                    case StreamEvent():
                        meter.watch(event.event)
                        answer.watch(event)
                        await turn.tell(event)
                        continue
                    case AssistantMessage():
                        answer.messages.append(event)
                        answer.open_uuid = ""
                    case AssistantFinal():
                        answer.final = event
                        meter.final(event)
                        turn.output_tokens += event.usage.output_tokens
                        turn.last_stop_reason = event.stop_reason
                        if event.stop_reason is not None:
                            tokens = event.context_tokens or event.usage.context_tokens
                            turn.window.measured(event.message_id, tokens)
                        if event.cleared_tool_uses:
                            turn.window.cleared(state.messages, event.cleared_tool_uses)
                    case ApiRetry() | Heartbeat() | Notice():
                        pass
                    case _:
                        assert_never(event)
                await turn.publish(event)
                if isinstance(event, AssistantMessage):
                    await _start_tools(turn, answer, event, tools)
    except ModelError as failure:
        answer.failure = failure
    finally:
        meter.close()
        turn.api_seconds += turn.services.clock() - began
    return answer


def request_for(turn: Turn, state: State) -> ModelRequest:
    config = turn.config
    return ModelRequest(
        model=state.model,
        messages=state.messages,
        system=turn.system,
        user_context=turn.user_context,
        tools=turn.definitions,
        max_tokens=state.max_tokens_override or config.max_tokens,
        thinking=config.thinking,
        effort=config.effort,
        temperature=1.0,  # sent only to models that take one (M7)
        task_budget_remaining=turn.conversation.task_budget_remaining,
        task_budget_total=config.task_budget.total if config.task_budget else None,
        context_edits=config.context_edits,
        fallback_model=config.fallback_model if state.model != config.fallback_model else None,
        source=config.source,
        persistent=config.persistent,
        after=state.tries,
    )


async def _start_tools(turn: Turn, answer: ModelAnswer, message: AssistantMessage, tools: ToolExecutor) -> None:
    for block in message.content:
        if block.get("type") == "text":
            tools.heard(str(block.get("text", "")))
        elif block.get("type") == "tool_use":
            if complete(block):
                answer.calls += 1
                turn.services.owners.claim(str(block.get("id", "")), turn.config.parent_tool_use_id)
                tools.add(block)
            else:
                tools.reject(block, CUT_INPUT)
            await anyio.lowlevel.checkpoint()  # let it start now, however many events are already decoded


def complete(block: Block) -> bool:
    """Whether a tool_use block's input arrived whole; what was cut is no object."""
    return isinstance(block.get("input"), dict)
