"""The model call that writes a summary, and other calls of which only the text is used.

A summary counts only if it is whole: a refusal, an answer that was cut or an empty one is asked for again, and then
fails (C6). What does not fit into the call is left out of it, oldest first, and named.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from assent.context.compact import Portion, request_text, summary_of
from assent.context.thresholds import SUMMARY_ROOM
from assent.engine.services import CallSummary
from assent.engine.state import State
from assent.engine.turn import Turn
from assent.types.blocks import Json, text_block, text_of
from assent.types.errors import FallbackTriggered, ModelError, PromptTooLong
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    ConversationMessage,
    Heartbeat,
    StreamEvent,
    UserMessage,
)
from assent.types.ports import ModelRequest
from assent.types.usage import Usage

WHOLE_TRIES = 3
FINISHED = frozenset({"end_turn", "stop_sequence"})

Trigger = Literal["auto", "manual", "reactive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSummary:
    """A summary, what it does not speak of, and how much the endpoint took to write it."""

    text: str
    left_out: tuple[ConversationMessage, ...] = ()
    tokens: int = 0


async def summarise(
    turn: Turn,
    state: State,
    view: Sequence[ConversationMessage],
    *,
    trigger: Trigger,
    instructions: str,
    prompts: Collection[str],
) -> WrittenSummary:
    """Ask for the summary. While even that does not fit: without `prompts`, which are kept anyway, and without the
    oldest rounds. When nothing is left to show, there is only the name of what is left out."""
    others = _without(view, prompts)
    apart = trigger == "reactive" and bool(others)  # all of it was just refused
    portion = Portion(view=others if apart else tuple(view))
    while portion.view:
        try:
            shared = portion.view == tuple(view[: len(portion.view)])
            text = await _whole(turn, state, portion, request_text(instructions, prompt_apart=apart), shared=shared)
            return WrittenSummary(text=text, left_out=portion.left_out, tokens=portion.tokens)
        except PromptTooLong:
            if not others:
                raise  # nothing could go
            if not apart and len(others) < len(view):
                apart, portion = True, Portion(view=others)
            else:
                portion = portion.smaller(portion.tokens // 2)
    return WrittenSummary(text="", left_out=portion.left_out)


async def call_for_text(turn: Turn, request: ModelRequest, *, foreground: bool) -> CallSummary:
    """A call whose answer is only its text. Retries are shown while a person waits for it."""
    meter = turn.ledger.meter(request.model)
    words: list[str] = []
    usage = Usage()
    stop_reason: str | None = None
    meter.open()
    try:
        async with aclosing(turn.services.call_model(request)) as events:
            async for event in events:
                match event:
                    case StreamEvent():
                        meter.watch(event.event)
                    case AssistantMessage():
                        words.append(text_of(event.content))
                    case AssistantFinal():
                        meter.final(event)
                        usage, stop_reason = event.usage, event.stop_reason
                        if event.stop_reason is None:
                            words.clear()
                    case ApiRetry() | Heartbeat() if foreground:
                        await turn.publish(event)
                    case _:
                        pass
    finally:
        meter.close()
    return CallSummary(text="\n".join(words), usage=usage, stop_reason=stop_reason)


async def _whole(turn: Turn, state: State, portion: Portion, asked: str, *, shared: bool) -> str:
    """A summary that the model finished. Raises ModelError when it never does. `shared`: the cache may have it."""
    config = turn.config
    info = turn.info_of(state.model)
    question = UserMessage(uuid=turn.services.new_id(), content=(text_block(asked),))
    request = ModelRequest(
        model=state.model,
        messages=(*portion.view, question),
        system=turn.system,
        user_context=turn.user_context,
        tools=turn.definitions,
        max_tokens=min(info.max_output_tokens, SUMMARY_ROOM),
        thinking=config.thinking,
        effort=config.effort,
        source="compact",
        whole=True,
        forked=True,
        unshared=not shared,
        chain=turn.link(beside=True),
        persistent=config.persistent,
        fallback_model=config.fallback_model if state.model != config.fallback_model else None,
    )
    ended: str | None = None
    for _ in range(WHOLE_TRIES):
        try:
            summary = await _asked(turn, request)
        except FallbackTriggered as failure:
            await turn.notice(str(failure), "warning")
            request = replace(request, model=failure.fallback, fallback_model=None)
            continue
        ended = summary.stop_reason
        if ended == "model_context_window_exceeded":
            raise PromptTooLong("the conversation reached the model's context window")
        if (text := summary_of(summary.text)) and ended in FINISHED:
            return text
        if ended == "max_tokens":
            request = replace(request, thinking=_no_thinking())  # its room goes to the summary
    why = {"refusal": "it declined", "max_tokens": "it was cut at the output limit"}.get(ended or "", "it was empty")
    raise ModelError(f"the model gave no whole summary: {why}")


async def _asked(turn: Turn, request: ModelRequest) -> CallSummary:
    """The summary, from the given summariser or from the model itself; both are counted."""
    if turn.services.compact is None:
        return await call_for_text(turn, request, foreground=True)
    summary = await turn.services.compact(request)
    if summary.usage != Usage():
        turn.ledger.book(request.model, summary.usage, summary.cost_usd)
    return replace(summary, stop_reason=summary.stop_reason or "end_turn")


def _without(view: Sequence[ConversationMessage], uuids: Collection[str]) -> tuple[ConversationMessage, ...]:
    return tuple(message for message in view if message.uuid not in uuids)


def _no_thinking() -> Json:
    return {"type": "disabled"}
