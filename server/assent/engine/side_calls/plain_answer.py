"""One call beside the conversation: its blocks, why it stopped, and its spend, counted as it is reported (Q9)."""

from collections.abc import Callable
from contextlib import aclosing
from functools import partial

from assent.engine.budget import Meter
from assent.types.blocks import Block
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.ports import CallModel, ModelRequest
from assent.types.usage import Usage

BookFor = Callable[[str, str, Usage, float, int], None]
"""(session id, and what the ledger's `Book` takes): whose conversation a call is counted for."""


async def plain_answer(
    call_model: CallModel, request: ModelRequest, book: BookFor, session_id: str
) -> tuple[list[Block], str]:
    """Raises ModelError."""
    blocks: list[Block] = []
    stop = ""
    meter = Meter(book=partial(book, session_id), model=request.model)
    meter.open()
    try:
        async with aclosing(call_model(request)) as events:
            async for event in events:
                match event:
                    case StreamEvent():
                        meter.watch(event.event)
                    case AssistantMessage():
                        blocks += event.content
                    case AssistantFinal():
                        meter.final(event)
                        stop = event.stop_reason or ""
                        if not stop:
                            blocks.clear()  # it broke off, and is asked again
                    case _:
                        pass
    finally:
        meter.close()
    return blocks, stop
