"""A reply as the bytes of an event stream, or as the one JSON object of an answer that does not stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from fakeapi.script import Block, Hold, Json, Raw, Reply
from fakeapi.signing import Prefix, sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Everything about one answer that the script leaves to the fake."""

    id: str
    model: str
    usage: Json  # as of message_start
    output_tokens: int


def settled(reply: Reply, *, model: str, prefix: Prefix, next_tool_id: Iterator[str]) -> Reply:
    """The reply with what only the server can fill in: ids of tool calls and signatures of thinking."""
    parts: list[Block | Hold | Raw] = []
    for part in reply.parts:
        if isinstance(part, Block):
            part = _settled_block(part, model=model, prefix=prefix, next_tool_id=next_tool_id)
            prefix.add("assistant", part.whole)
        parts.append(part)
    return replace(reply, parts=tuple(parts))


def content(reply: Reply) -> list[Json]:
    return [part.whole for part in reply.parts if isinstance(part, Block)]


def stop_reason(reply: Reply) -> str:
    if reply.stop_reason is not None:
        return reply.stop_reason
    return "tool_use" if any(each.get("type") == "tool_use" for each in content(reply)) else "end_turn"


def whole_message(reply: Reply, message: Message) -> Json:
    return _envelope(message) | {
        "content": content(reply),
        "stop_reason": stop_reason(reply),
        "stop_sequence": reply.stop_sequence,
        "stop_details": reply.stop_details,
        "usage": message.usage | {"output_tokens": message.output_tokens},
    }


def stream(reply: Reply, message: Message) -> Iterator[bytes | Hold]:
    """The events one by one, as bytes, with holds where the script put them."""
    start: Json = _envelope(message) | {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": message.usage,
    }
    yield _frame("message_start", {"type": "message_start", "message": start})
    index = 0
    for part in reply.parts:
        match part:
            case Hold():
                yield part
            case Raw(data=data):
                yield data
            case Block():
                yield from _block_events(part, index)
                index += 1
    if reply.error is not None:
        yield _frame("error", {"type": "error", "error": reply.error})
        return
    delta: Json = {"stop_reason": stop_reason(reply), "stop_sequence": reply.stop_sequence}
    if reply.stop_details is not None:
        delta["stop_details"] = reply.stop_details
    usage = {"output_tokens": message.output_tokens} | dict(reply.usage or {})
    yield _frame("message_delta", {"type": "message_delta", "delta": delta, "usage": usage})
    yield _frame("message_stop", {"type": "message_stop"})


def _block_events(part: Block, index: int) -> Iterator[bytes | Hold]:
    yield _frame("content_block_start", {"type": "content_block_start", "index": index, "content_block": part.start})
    for delta in part.deltas:
        if isinstance(delta, Hold):
            yield delta
        else:
            yield _frame("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
    if not part.unclosed:
        yield _frame("content_block_stop", {"type": "content_block_stop", "index": index})


def _settled_block(part: Block, *, model: str, prefix: Prefix, next_tool_id: Iterator[str]) -> Block:
    match part.start.get("type"):
        case "tool_use" if not part.start["id"]:
            id = next(next_tool_id)
            return replace(part, start=part.start | {"id": id}, whole=part.whole | {"id": id})
        case "thinking":
            signature = part.whole.get("signature") or sign(part.whole["thinking"], model=model, prefix=prefix)
            delta: Json = {"type": "signature_delta", "signature": signature}
            return replace(part, deltas=(*part.deltas, delta), whole=part.whole | {"signature": signature})
        case _:
            return part


def _envelope(message: Message) -> dict[str, Any]:
    return {"id": message.id, "type": "message", "role": "assistant", "model": message.model}


def _frame(name: str, data: Json) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def in_aws_frames(events: Iterator[bytes | Hold]) -> Iterator[bytes | Hold]:
    """The same events as Bedrock sends them: base64 inside binary frames, without the SSE lines around."""
    from assent.model.streaming.eventstream import encode

    for event in events:
        if isinstance(event, Hold):
            yield event
            continue
        data = next((line[6:] for line in event.split(b"\n") if line.startswith(b"data: ")), None)
        if data is not None:
            yield encode(orjson.loads(data))
