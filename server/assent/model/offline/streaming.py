"""What the offline model says, as the stream of events a real answer would be: partials, closed blocks, a final."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import orjson

from assent.model.catalog import OFFLINE_MODEL
from assent.model.streaming.stream import StreamedMessage
from assent.types.blocks import Json
from assent.types.messages import CompactBoundary, ConversationMessage
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest

PIECE = 18  # characters of one delta


async def stream(
    blocks: list[Json], request: ModelRequest, *, message_id: str, ids: Callable[[], str], pace: float
) -> AsyncGenerator[ModelEvent, None]:
    """`pace` is seconds between deltas, for people who watch; 0 only lets others run in between."""
    answer = StreamedMessage(ModelInfo(id=request.model), new_id=ids, now=time.time)
    for event in _events(blocks, request, message_id):
        for out in answer.take(event):
            yield out
        if event["type"] == "content_block_delta":
            if pace:
                await anyio.sleep(pace)
            else:
                await anyio.lowlevel.checkpoint()


def _events(blocks: list[Json], request: ModelRequest, message_id: str) -> Iterator[Json]:
    start: Json = {"id": message_id, "type": "message", "role": "assistant", "model": OFFLINE_MODEL, "content": []}
    prompt = (request.system, request.user_context, request.tools, [_content(each) for each in request.messages])
    usage = {"input_tokens": _tokens(prompt), "output_tokens": 1}
    yield {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}}
    for index, block in enumerate(blocks):
        yield from _block_events(index, block)
    calls = any(block["type"] == "tool_use" for block in blocks)
    delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": _tokens(blocks)}}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        deltas = ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))
    else:
        empty = {**block, "input": {}}
        written = orjson.dumps(block["input"]).decode()
        deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written))
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _content(message: ConversationMessage) -> object:
    return message.summary if isinstance(message, CompactBoundary) else message.content


def _tokens(value: object) -> int:
    """Nobody bills for these; they only have to grow as a real count would."""
    return len(repr(value)) // 4 + 1
