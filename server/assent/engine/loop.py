"""THE loop (L1): one turn, as model calls until there is a reason to stop.

One iteration is one model call. It reads as the happy path; what can go wrong is in `recovery`, what happens when the
model stops is in `stop`, what makes the view fit is in `preparation`. Each of them gives the next `State`, whose
`transition` says why we looped, or the `TurnEnd` that ends the turn:

    continue   next_turn                                                        here
               max_output_tokens_escalate, max_output_tokens_recovery,
               reactive_compact_retry, collapse_drain_retry,
               fallback_model_retry, stream_retry, pause_turn                   recovery
               structured_output_retry, stop_hook_blocking,
               token_budget_continuation                                        stop
    terminal   max_turns, hook_stopped, aborted_tools (a person said stop),
               completed (a tool said so, as StructuredOutput does)             here
               blocking_limit                                                   preparation
               prompt_too_long, image_error, model_error, refusal,
               max_output_tokens_exhausted                                      recovery
               completed, stop_hook_prevented, token_budget_stop                stop
               aborted_streaming, aborted_tools, budget_usd                     query_engine: it cancels the loop

Nothing here yields: messages leave through `turn.publish`, so cancellation may come at any await (L14).
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from assent.engine.prompting.attachments import attach
from assent.engine.prompting.equipment import refresh, take_wishes
from assent.engine.recovery import recover
from assent.engine.reduction.preparation import prepare
from assent.engine.sampling import sample
from assent.engine.side_calls import batch_summaries
from assent.engine.state import State, Step, TurnEnd
from assent.engine.stop import conclude, retry_structured, stop_hooks
from assent.engine.turn import Turn
from assent.tools.run.executor import CallResult
from assent.types.messages import MaxTurnsReached


async def run(turn: Turn, state: State) -> TurnEnd:
    while True:
        turn.state = state
        refresh(turn)
        ready = await prepare(turn, state)
        if isinstance(ready, TurnEnd):
            return ready
        turn.state = ready
        async with turn.new_executor() as tools:
            answer = await sample(turn, ready, tools)
            await batch_summaries.tell(turn, ready)
            step = await recover(turn, ready, answer, tools)
            if step is None:
                await turn.run_hooks("PostSampling", {"stop_reason": answer.stop_reason})
                if tools.asked:
                    turn.phase = "tools"
                    step = await follow_up(turn, ready, await tools.finish())
        if step is None:
            step = await conclude(turn, ready, answer)
        if isinstance(step, TurnEnd):
            return step
        state = step


async def follow_up(turn: Turn, state: State, results: Sequence[CallResult]) -> Step:
    """The calls are answered: give the model their results and whatever else it should know, and go on."""
    await turn.answer_calls(results)
    stopped = await turn.batch_hooks(results)
    if stopped is not None:
        return TurnEnd(reason="hook_stopped", error=stopped)
    for result in results:
        if result.hook_stopped:
            return TurnEnd(reason="hook_stopped", error=result.hook_stopped)
        if result.interrupted:
            return TurnEnd(reason="aborted_tools", error="Aborted")
        if result.stop_turn and result.ended == "done":
            structured = result.input if result.tool == "StructuredOutput" else None
            said = turn.said_before + (turn.answer.text if turn.answer is not None else "")
            turn.last_text = orjson.dumps(structured).decode() if structured is not None else said
            again = await stop_hooks(turn, replace(state, worked_since_block=True))
            return again or TurnEnd(reason="completed", structured_output=structured)
        if result.tool == "Skill":
            turn.conversation.discovered_skills.add(str(result.input.get("skill", "")))
    turn.said_before = ""
    await take_wishes(turn)
    state = replace(state, worked_since_block=True)
    await attach(turn, results)
    turns = state.turn_count + 1
    if turn.config.max_turns is not None and turns > turn.config.max_turns:
        await turn.publish(MaxTurnsReached(max_turns=turn.config.max_turns, turn_count=turns))
        return TurnEnd(reason="max_turns", error=f"Stopped after {turn.config.max_turns} steps, the limit set.")
    if any(result.tool == "StructuredOutput" for result in results):
        return await retry_structured(turn, state, nudge=None)
    return state.proceed(
        "next_turn",
        model=turn.model,
        turn_count=turns,
        pending_summary=batch_summaries.start(turn, results),
        messages=turn.history.view(),
        tries=turn.answer.tries if turn.answer is not None else None,
    )
