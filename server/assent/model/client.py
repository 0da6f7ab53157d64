"""One call to a model, from request to messages: build, send, decode, assemble, and try again where that is right.

`make_call_model(settings)` is the way in. It imports nothing heavy; `warm_up()` does that in the background.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Literal

from assent.model import catalog
from assent.model.clock import Clock, SystemClock
from assent.model.failures import CallFailed, wall_clock
from assent.model.http_transport import Head, SdkTransport, Transport
from assent.model.lacking import Feature, Lacking
from assent.model.model_settings import ModelSettings
from assent.model.requests import RequestBuilder, RequestOptions
from assent.model.retry import FastMode, ThinkingCare, Try, with_retry
from assent.model.streaming.stream import StreamedMessage
from assent.model.streaming.stream_watch import Silence, Watched
from assent.types.errors import StreamInterrupted
from assent.types.ids import new_id
from assent.types.messages import Notice
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest

GRACE = 2.0  # seconds for the end of a body whose message is complete


def make_call_model(
    settings: ModelSettings | None = None,
    *,
    transport: Transport | None = None,
    clock: Clock | None = None,
    ids: Callable[[], str] = new_id,
) -> "ModelClient":
    """A `CallModel` on a real endpoint. It is also where `warm_up` and `aclose` live."""
    settings = settings or ModelSettings()
    return ModelClient(settings, transport or SdkTransport(settings.endpoint), clock or SystemClock(), ids)


class ModelClient:
    def __init__(self, settings: ModelSettings, transport: Transport, clock: Clock, ids: Callable[[], str]) -> None:
        self._settings = settings
        self._transport = transport
        self._clock = clock
        self._ids = ids
        self._builder = RequestBuilder()
        self._fast = FastMode(wanted=settings.fast)
        self._care = ThinkingCare()
        self.lacking = Lacking()
        self._ending: set[asyncio.Task[None]] = set()

    def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        info = self.info(request.model)
        return with_retry(
            lambda this: self._attempt(request, info, this),
            request,
            clock=self._clock,
            policy=self._settings.retry,
            renew=self._transport.renew,
            fast=self._fast if info.accepts_fast_mode else FastMode(),
            care=self._care,
            lacking=self.lacking,
        )

    def info(self, model: str) -> ModelInfo:
        return catalog.info(model, self._settings.models)

    def _refers(self, model: str) -> bool:
        """Whether this endpoint takes references to tools: the first-party one, or one of which the user says so."""
        return self._settings.endpoint.first_party or "accepts_tool_references" in self._settings.models.get(model, {})

    async def warm_up(self) -> None:
        if isinstance(self._transport, SdkTransport):
            await self._transport.warm_up()

    async def aclose(self) -> None:
        for task in list(self._ending):
            task.cancel()
        if self._ending:
            await asyncio.wait(self._ending)
        await self._transport.renew()

    async def _attempt(self, request: ModelRequest, info: ModelInfo, this: Try) -> AsyncGenerator[ModelEvent, None]:
        settings = self._settings
        info = _without(info, this.lacking)
        options = RequestOptions(
            betas=() if "betas" in this.lacking else settings.betas,
            cache=_cache(settings.cache, this.lacking),
            fast=this.fast,
            old_thinking="left_out" if "thinking" in this.lacking else this.old_thinking,
            plain="betas" in this.lacking,
            references=info.accepts_tool_references and self._refers(request.model),
        )
        built = self._builder.build(request, info, options, cap=this.cap)
        answer = StreamedMessage(info, new_id=self._ids, now=self._clock.wall)
        decoder = self._transport.decoder()
        head: Head = {}
        watched = Watched(self._transport.stream(built, head), self._clock, settings.patience)
        try:
            async with watched:
                while (chunk := await watched.next()) is not None:
                    if isinstance(chunk, Silence):
                        yield self._told(chunk)
                        continue
                    events = decoder.feed(chunk)
                    if any(event.get("type") != "ping" for event in events):
                        watched.heard()
                    for event in events:
                        for out in answer.take(event):
                            yield out
                    if answer.complete:
                        self._let_finish(watched)
                        return
            raise CallFailed(message="The answer ended before it was complete", kind="stream_interrupted")
        except (CallFailed, StreamInterrupted) as problem:
            failure = problem
        if (final := answer.broken()) is not None:
            yield final
        failed = _as_seen(failure, answer)
        failed.advised(head, wall_clock())
        raise failed

    def _told(self, silence: Silence) -> Notice:
        seconds = round(silence.seconds)
        if silence.final:
            said = f"The model has said nothing for {seconds} s"
            raise CallFailed(message=said, kind="stalled", stale_connection=True)
        left = round(self._settings.patience.stall - silence.seconds)
        return Notice(level="warning", text=f"No word from the model for {seconds} s; waiting {left} s more.")

    def _let_finish(self, watched: Watched) -> None:
        task = watched.finish_in_background(GRACE)
        if task is not None:
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


def _cache(wanted: Literal["5m", "1h", "off"], lacking: frozenset[Feature]) -> Literal["5m", "1h", "off"]:
    if "cache" in lacking:
        return "off"
    return "5m" if wanted == "1h" and "betas" in lacking else wanted


def _without(info: ModelInfo, lacking: frozenset[Feature]) -> ModelInfo:
    return replace(
        info,
        accepts_thinking=info.accepts_thinking and "thinking" not in lacking,
        accepts_effort=info.accepts_effort and "effort" not in lacking,
        accepts_tool_references=info.accepts_tool_references and "references" not in lacking,
    )


def _as_seen(failure: CallFailed | StreamInterrupted, answer: StreamedMessage) -> CallFailed:
    """A failed try, and whether anyone may have seen something of its answer."""
    failed = failure if isinstance(failure, CallFailed) else CallFailed(message=str(failure), kind=failure.kind)
    failed.shown = answer.shown
    failed.partial = answer.partial_text() if answer.shown else ""
    return failed
