"""A stream that says nothing: told within 20 seconds, given up after 90 (M5). All in virtual time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from anyio import fail_after

from assent.model.client import ModelSettings, make_call_model
from assent.model.http_transport import Decoder, Head
from assent.model.requests import ApiRequest
from assent.model.retry import RetryPolicy
from assent.model.streaming.sse import SseDecoder
from assent.types.errors import ModelError, StreamInterrupted
from assent.types.messages import ApiRetry, AssistantFinal, Notice, StreamEvent
from assent.types.ports import ModelEvent, ModelRequest
from fakeapi import VirtualClock, settle
from fakeapi.talk import user

START = b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":7}}}\n\n'
BLOCK = (
    b"event: content_block_start\n"
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)
DELTA = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}\n\n'
)
PING = b'event: ping\ndata: {"type":"ping"}\n\n'


class Line:
    """A transport whose bytes the test sends by hand."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self.opened = self.closed = self.renewed = 0

    def decoder(self) -> Decoder:
        return SseDecoder()

    async def stream(self, request: ApiRequest, head: Head) -> AsyncGenerator[bytes, None]:
        self.opened += 1
        try:
            while True:
                yield await self.chunks.get()
        finally:
            self.closed += 1

    async def renew(self) -> None:
        self.renewed += 1


class Listener:
    """Runs one call in the background and keeps what it said."""

    def __init__(self, line: Line, clock: VirtualClock, **policy: int) -> None:
        call = make_call_model(ModelSettings(retry=RetryPolicy(**policy)), transport=line, clock=clock)
        self.events: list[ModelEvent] = []
        self.error: ModelError | None = None
        self.task = asyncio.create_task(self._listen(call(ModelRequest(model="x", messages=(user("hi"),)))))

    async def _listen(self, stream: AsyncGenerator[ModelEvent, None]) -> None:
        async with aclosing(stream):
            try:
                async for event in stream:
                    self.events.append(event)
            except ModelError as error:
                self.error = error

    def said(self, kind: type[ModelEvent]) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


async def test_silence_is_shown_within_twenty_seconds_and_given_up_after_ninety() -> None:
    clock, line = VirtualClock(), Line()
    with fail_after(60):
        call = Listener(line, clock)
        for chunk in (START, BLOCK, DELTA):
            line.chunks.put_nowait(chunk)
        await settle()
        await clock.advance(14)
        assert call.said(Notice) == 0
        await clock.advance(6)
        assert call.said(Notice) == 1
        await clock.advance(69)
        assert (call.error, call.said(Notice)) == (None, 1)
        await clock.advance(2)
    assert isinstance(call.error, StreamInterrupted)
    assert (call.error.kind, call.error.partial) == ("stalled", "word ")
    assert isinstance(call.events[-1], AssistantFinal)
    assert call.events[-1].usage.input_tokens == 7
    assert line.closed == 1


async def test_pings_do_not_count_as_life() -> None:
    clock, line = VirtualClock(), Line()
    with fail_after(60):
        call = Listener(line, clock)
        for chunk in (START, BLOCK):
            line.chunks.put_nowait(chunk)
        for _ in range(19):
            line.chunks.put_nowait(PING)
            await settle()
            await clock.advance(5)
    assert isinstance(call.error, StreamInterrupted)


async def test_any_event_in_time_keeps_the_stream_alive() -> None:
    clock, line = VirtualClock(), Line()
    with fail_after(60):
        call = Listener(line, clock)
        for chunk in (START, BLOCK):
            line.chunks.put_nowait(chunk)
        for _ in range(5):
            await settle()
            await clock.advance(80)
            line.chunks.put_nowait(DELTA)
        await settle()
        assert call.error is None
        assert call.said(Notice) == 5  # every silence is told anew
        assert call.said(StreamEvent) == 7
        await call.end()
    assert line.closed == 1


async def test_an_endpoint_that_never_answers_is_tried_again_on_a_fresh_connection() -> None:
    clock, line = VirtualClock(), Line()
    with fail_after(60):
        call = Listener(line, clock)
        await settle()
        await clock.advance(91)
        assert call.said(ApiRetry) == 1
        assert line.renewed == 1
        await clock.advance(1)
        assert line.opened == 2
        await call.end()


async def test_one_that_never_answers_at_all_is_an_error_in_the_end() -> None:
    clock, line = VirtualClock(), Line()
    with fail_after(60):
        call = Listener(line, clock, max_retries=2)
        for _ in range(400):
            await clock.advance(1)
    assert isinstance(call.error, StreamInterrupted)
    assert call.error.kind == "stalled"
    assert line.opened == 3
