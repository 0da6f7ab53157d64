"""Recovery from a model call that failed or was cut (L5–L7, L10, M9).

`recover` takes an answer and returns the next state, the end of the turn, or None if there is nothing to recover from.
Errors are withheld until recovery has failed; only `surface` shows one. A retry of an answer that was partly shown
withdraws it first, and is no longer possible once an unsafe call of it has started.
"""

from functools import partial

from assent.engine.answer import ModelAnswer
from assent.engine.pairing import unanswered
from assent.engine.reduction.compaction import compact, kept_prompt, start_anew
from assent.engine.reduction.preparation import drain_collapses, strip_media
from assent.engine.state import State, Step, TurnEnd
from assent.engine.turn import Turn
from assent.tools.run.executor import ToolExecutor
from assent.types.blocks import text_block
from assent.types.errors import (
    FallbackTriggered,
    MediaTooLarge,
    ModelError,
    PromptTooLong,
    StreamInterrupted,
)
from assent.types.messages import CompactBoundary, ContinueReason, TerminalReason, Tombstone

ESCALATED_MAX_TOKENS = 64_000
OUTPUT_RECOVERIES = 3
STREAM_RETRIES = 3  # where the model layer does not count (M3)
PAUSES = 25

GO_ON = "Go on from here."
ENDED = "Cancelled: the turn ended before this call did."
RESUME = (
    "Your answer reached the output limit. Resume directly where it was cut, mid-sentence if need be: no apology, no "
    "recap. Do what is left in smaller pieces."
)


async def recover(turn: Turn, state: State, answer: ModelAnswer, tools: ToolExecutor) -> Step | None:
    failure = answer.failure
    if failure is not None:
        if tools.unsafe_started:  # the world may have changed: keep what was said, answer every call, go on
            await _keep_words(turn, answer)
            if isinstance(failure, FallbackTriggered):
                await _take_fallback(turn, failure)
            return None
        match failure:
            case FallbackTriggered():
                return await _fall_back(turn, state, answer, tools, failure)
            case PromptTooLong():
                return await _overflow(turn, state, answer, tools, str(failure))
            case MediaTooLarge():
                return await _strip_media(turn, state, answer, tools, str(failure))
            case StreamInterrupted() if _may_stream_again(state, failure):
                await _withdraw(turn, answer, tools, "stream_retry")
                attempt = state.stream_retry_count + 1
                return state.proceed(
                    "stream_retry",
                    attempt=attempt,
                    stream_retry_count=attempt,
                    tries=failure.tries,
                    messages=turn.history.view(),
                )
            case _:
                return await surface(turn, "model_error", str(failure), answer=answer, tools=tools, failure=failure)
    match answer.stop_reason:
        case "refusal":
            text = "The model declined to answer this. Rephrase the request, or start from an earlier message."
            return await surface(turn, "refusal", text, answer=answer, tools=tools)
        case "pause_turn" if not tools.asked:
            turn.said_before += answer.text
            return await _pause(turn, state)
        case "compaction" if not tools.asked:
            return await _compacted_by_server(turn, state, answer)
        case "max_tokens" if not answer.calls:
            return await _output_cap(turn, state, answer, tools)
        case "model_context_window_exceeded" if not answer.calls:
            return await _overflow(turn, state, answer, tools, "The conversation reached the model's context window.")
        case _:
            return None


async def surface(
    turn: Turn,
    reason: TerminalReason,
    text: str,
    *,
    answer: ModelAnswer | None = None,
    tools: ToolExecutor | None = None,
    failure: ModelError | None = None,
) -> TurnEnd:
    """Recovery has failed: show the error, keep the partial answer, and end the turn."""
    if answer is not None:
        await _keep_words(turn, answer)
    if tools is not None and unanswered(turn.history.messages):
        await tools.withdraw(ENDED)
        await turn.answer_calls(tools.results())
    await turn.publish(turn.error_message(text, failure.kind if failure else reason))
    if reason in ("model_error", "prompt_too_long", "image_error", "max_output_tokens_exhausted"):
        turn.stop_failed(text, failure.kind if failure else reason)
    return TurnEnd(reason=reason, error=text)


def _may_stream_again(state: State, failure: StreamInterrupted) -> bool:
    """The model layer counts its tries and says when it is enough; one that does not count gets a few."""
    return failure.again and (failure.tries is not None or state.stream_retry_count < STREAM_RETRIES)


async def _fall_back(
    turn: Turn, state: State, answer: ModelAnswer, tools: ToolExecutor, failure: FallbackTriggered
) -> State:
    await _withdraw(turn, answer, tools, "fallback_model_retry")
    await _take_fallback(turn, failure)
    return state.proceed("fallback_model_retry", model=failure.fallback, messages=turn.history.view())


async def _take_fallback(turn: Turn, failure: FallbackTriggered) -> None:
    """For the rest of the turn."""
    await turn.notice(str(failure), "warning")
    turn.model = failure.fallback


async def _output_cap(turn: Turn, state: State, answer: ModelAnswer, tools: ToolExecutor) -> Step:
    """First the same request with a higher cap, then up to three nudges to resume, then the truth (L6)."""
    info = turn.info_of(state.model)
    raised = min(ESCALATED_MAX_TOKENS, info.max_output_tokens)
    if turn.config.max_tokens is None and state.max_tokens_override is None and raised > info.default_max_tokens:
        await _withdraw(turn, answer, tools, "max_output_tokens_escalate")
        return state.proceed("max_output_tokens_escalate", max_tokens_override=raised, messages=turn.history.view())
    if state.output_recovery_count < OUTPUT_RECOVERIES:
        if tools.asked:
            await turn.answer_calls(await tools.finish())
        await turn.publish(turn.user_message(RESUME))
        turn.said_before += answer.text
        attempt = state.output_recovery_count + 1
        return state.proceed(
            "max_output_tokens_recovery",
            attempt=attempt,
            output_recovery_count=attempt,
            messages=turn.history.view(),
        )
    text = "The answer kept reaching the output limit. Ask for it in smaller parts."
    return await surface(turn, "max_output_tokens_exhausted", text, tools=tools)


async def _overflow(turn: Turn, state: State, answer: ModelAnswer, tools: ToolExecutor, text: str) -> Step:
    """Commit the staged collapses once, compact once, then say so (L7)."""
    if not state.reactive_compact_attempted:
        drained = state.transition is not None and state.transition.reason == "collapse_drain_retry"
        if not drained and (committed := drain_collapses(turn)):
            await _withdraw(turn, answer, tools, "collapse_drain_retry")
            return state.proceed("collapse_drain_retry", committed=committed, messages=turn.history.view())
        take_back = partial(_withdraw, turn, answer, tools, "reactive_compact_retry")
        if await compact(turn, state, trigger="reactive", without=answer.uuids, summarised=take_back):
            return state.proceed(
                "reactive_compact_retry", reactive_compact_attempted=True, messages=turn.history.view()
            )
    text = f"{text} Use /compact, or start a new session."
    return await surface(turn, "prompt_too_long", text, answer=answer, tools=tools)


async def _strip_media(turn: Turn, state: State, answer: ModelAnswer, tools: ToolExecutor, text: str) -> Step:
    if not state.reactive_compact_attempted and strip_media(turn):
        await _withdraw(turn, answer, tools, "reactive_compact_retry")
        return state.proceed("reactive_compact_retry", reactive_compact_attempted=True, messages=turn.history.view())
    text = f"{text} Send smaller or fewer images."
    return await surface(turn, "image_error", text, answer=answer, tools=tools)


async def _pause(turn: Turn, state: State) -> Step:
    """The API wants to go on with the same answer: hand it back as it is."""
    if state.pause_count >= PAUSES:
        return await surface(turn, "model_error", f"The model paused {PAUSES} times in a row without finishing.")
    attempt = state.pause_count + 1
    return state.proceed("pause_turn", attempt=attempt, pause_count=attempt, messages=turn.history.view())


async def _compacted_by_server(turn: Turn, state: State, answer: ModelAnswer) -> Step:
    """The API compacted the conversation itself: its summary is our boundary. Without a summary it has failed, and the
    view stays; the words that this turn answers are kept beside it (C6)."""
    blocks = [block for message in answer.messages for block in message.content if block.get("type") == "compaction"]
    summary = "\n".join(str(block["content"]) for block in blocks if block.get("content"))
    if not summary.strip():
        await turn.publish(turn.user_message(GO_ON))
        return await _pause(turn, state)
    prompt = kept_prompt(turn, state)
    boundary = CompactBoundary(
        uuid=turn.services.new_id(),
        trigger="server",
        tokens_before=turn.window.last_answer,
        tokens_after=0,
        summary=summary,
        kept=tuple(blocks),  # goes back to the API as it came
        timestamp=turn.services.now(),
    )
    await start_anew(turn, boundary)
    await turn.publish(turn.user_message([*prompt, text_block(GO_ON)]))
    return await _pause(turn, state)


async def _keep_words(turn: Turn, answer: ModelAnswer) -> None:
    """The text block that was being written when the stream broke stays, as far as it got."""
    words = answer.unfinished(model=turn.model, timestamp=turn.services.now())
    answer.open_uuid = ""
    if words is not None:
        await turn.publish(words)


async def _withdraw(
    turn: Turn,
    answer: ModelAnswer,
    tools: ToolExecutor,
    reason: ContinueReason,
) -> None:
    """Take back what was shown of an answer, before it is asked for again (L10). A second time does nothing."""
    await tools.withdraw()
    turn.forget_calls({result.tool_use_id for result in tools.results()})
    uuids = answer.uuids
    answer.messages.clear()
    answer.open_uuid = ""
    if uuids:
        turn.history.withdraw(uuids)
        await turn.publish(Tombstone(message_uuids=uuids, reason=reason))
