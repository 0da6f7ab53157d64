"""Putting an answer on the wire: whole or streamed, in pieces, held at gates, broken off where the script says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from fakeapi import frames
from fakeapi.caching import prefix_segments, tokens
from fakeapi.gates import Gates
from fakeapi.script import Answer, Cut, Drop, Failure, Hold, Json, Reply
from fakeapi.signing import Prefix
from fakeapi.wire import Connection

if TYPE_CHECKING:
    from fakeapi.server import Request

JSON = {"content-type": "application/json"}


class Delivery:
    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self._tool_ids = (f"toolu_{number:04d}" for number in itertools.count(1))
        self._message_ids = (f"msg_{number:04d}" for number in itertools.count(1))

    def settle(self, request: Request, reply: Reply) -> Reply:
        """The reply with ids and signatures, which need the request it answers."""
        prefix = Prefix()
        for role, block in request.blocks:
            prefix.add(role, block)
        model = reply.model or str(request.body["model"])
        return frames.settled(reply, model=model, prefix=prefix, next_tool_id=self._tool_ids)

    async def send(self, connection: Connection, request: Request, answer: Answer) -> bool:
        """False when the connection is done for."""
        headers = {"request-id": f"req_{request.number:04d}"}
        match answer:
            case Drop(how=how):
                connection.close(reset=how == "reset")
                return False
            case Failure():
                await self._send_failure(connection, answer, headers)
                return True
            case Reply() if request.counts_tokens:
                segments = prefix_segments(request.body)
                count = {"input_tokens": segments[-1].end if segments else 0}
                await connection.send_whole(200, JSON | headers, orjson.dumps(count))
                return True
            case Reply():
                return await self._send_reply(connection, request, answer, headers | dict(answer.headers))

    async def _send_failure(self, connection: Connection, failure: Failure, headers: dict[str, str]) -> None:
        if failure.hold is not None:
            await self._gates[failure.hold].passed()
        error: Json = {"type": failure.type, "message": failure.message}
        if failure.details is not None:
            error["details"] = failure.details
        body = {"type": "error", "error": error, "request_id": headers["request-id"]}
        sent = failure.body if failure.body is not None else orjson.dumps(body)
        kind = JSON if failure.body is None else {"content-type": "text/html"}
        await connection.send_whole(failure.status, kind | headers | dict(failure.headers), sent)

    async def _send_reply(
        self, connection: Connection, request: Request, reply: Reply, headers: dict[str, str]
    ) -> bool:
        written = frames.content(reply)
        message = frames.Message(
            id=next(self._message_ids),
            model=reply.model or str(request.body["model"]),
            usage=(request.cache.usage() if request.cache else {}) | {"output_tokens": 1} | dict(reply.usage or {}),
            output_tokens=sum(map(tokens, written)) if reply.output_tokens is None else reply.output_tokens,
        )
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if not request.body.get("stream"):
            whole = orjson.dumps(frames.whole_message(reply, message))
            await connection.send_whole(200, JSON | headers, whole)
            return True
        events = frames.stream(reply, message)
        if request.provider == "bedrock":
            kind, events = "application/vnd.amazon.eventstream", frames.in_aws_frames(events)
        else:
            kind = "text/event-stream; charset=utf-8"
        connection.start_stream({"content-type": kind} | headers)
        return await self._stream(connection, reply, events)

    async def _stream(self, connection: Connection, reply: Reply, events: Iterator[bytes | Hold]) -> bool:
        budget = _Budget(reply.cut)
        held = bytearray()
        for number, event in enumerate(events, 1):
            if isinstance(event, Hold):
                connection.write_chunk(bytes(held))
                held.clear()
                await connection.drain()
                await self._gates[event.name].passed()
                continue
            allowed = budget.allowed(event)
            held += event[:allowed]
            if reply.chunking == "byte":
                for byte in held:
                    connection.write_chunk(bytes((byte,)))
                held.clear()
            elif reply.chunking == "event" or allowed < len(event):
                connection.write_chunk(bytes(held))
                held.clear()
            if allowed < len(event) or budget.spent:
                break
            if reply.every:
                await connection.drain()
                await asyncio.sleep(reply.every)
            elif number % 64 == 0:
                await connection.drain()
        connection.write_chunk(bytes(held))
        if reply.cut is not None:
            return await _break(connection, reply.cut)
        await connection.end_stream()
        return True


class _Budget:
    """How much of the stream may go out before it is cut."""

    def __init__(self, cut: Cut | None) -> None:
        self._bytes = cut.at_byte if cut is not None else None
        self._events = cut.at_event if cut is not None else None
        self._extra = cut.extra_bytes if cut is not None else 0
        self._seen = 0

    @property
    def spent(self) -> bool:
        """Nothing more may be sent; asked after each event."""
        return self._bytes == 0 or (self._events is not None and self._seen >= self._events and self._extra <= 0)

    def allowed(self, event: bytes) -> int:
        self._seen += 1
        if self._bytes is not None:
            part = min(len(event), self._bytes)
            self._bytes -= part
            return part
        if self._events is None or self._seen < self._events:
            return len(event)
        if self._seen == self._events:
            return max(0, len(event) + min(0, self._extra))
        part = min(len(event), max(0, self._extra))
        self._extra -= part
        return part


async def _break(connection: Connection, cut: Cut) -> bool:
    await connection.drain()
    match cut.how:
        case "clean":
            await connection.end_stream()
            return True
        case "stall":
            await connection.gone()
        case "close" | "reset":
            connection.close(reset=cut.how == "reset")
    return False
