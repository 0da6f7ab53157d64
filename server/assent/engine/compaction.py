"""Compaction: the conversation so far becomes a summary, and the view starts again there (C5, C6).

The summarising call is a fork of the conversation on the same cached prefix. The words for it, and what is kept beside
the summary, are pure functions in `context/compact.py`; here is the I/O: hooks, the call, the boundary.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Literal

import anyio

from assent.context.compact import KEPT_FILES, KEPT_SHARE, KeptFile, kept_blocks, request_text, shortened, summary_of
from assent.context.thresholds import SUMMARY_ROOM, thresholds
from assent.context.tokens import estimate_all
from assent.engine.budget import task_budget_after_compaction
from assent.engine.config import Summary
from assent.engine.state import State
from assent.engine.turn import Turn
from assent.types.blocks import Block, text_block, text_of
from assent.types.errors import ModelError, PromptTooLong, ToolError
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    CompactBoundary,
    Compacting,
    StreamEvent,
    UserMessage,
)
from assent.types.ports import ModelRequest, QuerySource
from assent.types.usage import Usage

logger = logging.getLogger(__name__)

SHORTENINGS = 4

Trigger = Literal["auto", "manual", "reactive"]


async def compact(
    turn: Turn,
    state: State,
    *,
    trigger: Trigger,
    instructions: str = "",
    without: Collection[str] = (),
    summarised: Callable[[], Awaitable[None]] | None = None,
) -> bool:
    """Summarise the view and start it anew. False when that failed; nothing has changed then.

    `without` names messages that are to be taken back: they are not summarised, and `summarised` takes them back once
    the summary is there, so that they are not lost if it never comes.
    """
    for outcome in await turn.run_hooks("PreCompact", {"trigger": trigger}, subject=trigger):
        if outcome.status in ("blocked", "prevented"):
            await turn.notice(f"A hook stopped the compaction. {outcome.text}".strip(), "warning")
            return False
    turn.config.set_status("compacting")
    await turn.publish(Compacting(trigger=trigger))
    view = turn.history.view()
    before = turn.window.count(view)
    try:
        summary = await _summarise(turn, state, trigger, instructions, without)
    except ModelError as error:
        logger.warning("compaction failed: %s", error)
        await turn.notice(f"The conversation could not be compacted: {error}", "warning")
        return False
    finally:
        turn.config.set_status("running")
    if summarised is not None:
        await summarised()
    kept = await _kept(turn, state)
    boundary = CompactBoundary(
        uuid=turn.config.deps.new_id(),
        trigger=trigger,
        tokens_before=before,
        tokens_after=0,
        summary=summary,
        kept=kept,
        timestamp=turn.config.deps.now(),
    )
    await start_anew(turn, boundary)
    await turn.run_hooks("PostCompact", {"trigger": trigger, "summary": summary}, subject=trigger)
    return True


async def start_anew(turn: Turn, boundary: CompactBoundary) -> None:
    """The view begins at this boundary; what was frozen at the start of the session is taken afresh (Q8)."""
    remaining = turn.conversation.task_budget_remaining
    if remaining is not None:
        turn.conversation.task_budget_remaining = task_budget_after_compaction(remaining, turn.window.last_answer)
    await turn.refresh_context()
    turn.window.restarted(turn.app)
    size = turn.window.overhead + estimate_all((boundary,))
    await turn.publish(replace(boundary, tokens_after=size))
    turn.history.restart()


async def ask_small_model(
    turn: Turn, prompt: str, *, source: QuerySource, max_tokens: int = 1_000, whole: bool = False
) -> str:
    """One background question to the small model (M10): no tools, no history, counted in the cost.

    Empty when it fails, or with `whole` when it was cut: nobody waits for it, and the turn goes on without.
    """
    model = turn.config.small_model or turn.model
    message = UserMessage(uuid=turn.config.deps.new_id(), content=(text_block(prompt),))
    request = ModelRequest(model=model, messages=(message,), source=source, foreground=False, max_tokens=max_tokens)
    try:
        answer = await _call(turn, request, foreground=False)
    except ModelError as error:
        logger.info("the small model did not answer (%s): %s", source, error)
        return ""
    return "" if whole and answer.stop_reason != "end_turn" else answer.text.strip()


async def _summarise(turn: Turn, state: State, trigger: Trigger, instructions: str, without: Collection[str]) -> str:
    """Ask for the summary; while even that does not fit, without the oldest part."""
    info = turn.info_of(state.model)
    question = UserMessage(uuid=turn.config.deps.new_id(), content=(text_block(request_text(instructions)),))
    view = tuple(message for message in turn.history.view() if message.uuid not in without)
    if trigger == "reactive":
        view = shortened(view) or view
    for attempt in range(SHORTENINGS):
        request = ModelRequest(
            model=state.model,
            messages=(*view, question),
            system=turn.system,
            user_context=turn.user_context,
            tools=turn.definitions,
            max_tokens=min(info.max_output_tokens, SUMMARY_ROOM),
            thinking=turn.config.thinking,
            effort=turn.config.effort,
            source="compact",
        )
        try:
            summary = await _asked(turn, request)
        except PromptTooLong:
            shorter = shortened(view)
            if shorter is None or attempt == SHORTENINGS - 1:
                raise
            view = shorter
            continue
        if text := summary_of(summary.text):
            return text
        raise ModelError("the model gave no summary")
    raise ModelError("the conversation does not fit even in parts")


async def _asked(turn: Turn, request: ModelRequest) -> Summary:
    """The summary by whoever was given for it, or by the model itself; either way it is counted."""
    if turn.config.deps.compact is None:
        return await _call(turn, request, foreground=True)
    summary = await turn.config.deps.compact(request)
    if summary.usage != Usage():
        turn.ledger.book(request.model, summary.usage, summary.cost_usd)
    return summary


async def _call(turn: Turn, request: ModelRequest, *, foreground: bool) -> Summary:
    """A call whose answer is only its text. Retries are shown while a person waits for it."""
    meter = turn.ledger.meter(request.model)
    words: list[str] = []
    usage = Usage()
    stop_reason: str | None = None
    try:
        async with aclosing(turn.config.deps.call_model(request)) as events:
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
                    case ApiRetry() if foreground:
                        await turn.publish(event)
                    case _:
                        pass
    finally:
        meter.close()
    return Summary(text="\n".join(words), usage=usage, stop_reason=stop_reason)


async def _kept(turn: Turn, state: State) -> tuple[Block, ...]:
    app = turn.app
    files: list[KeptFile] = []
    with anyio.move_on_after(2 * turn.config.deps.look_seconds):
        for path in list(reversed(app.read_files))[:KEPT_FILES]:
            try:
                files.append(KeptFile(path=path, text=(await turn.config.services.workspace.read(path)).text))
            except ToolError:
                continue
    jobs = turn.config.services.jobs
    running = [f"{job['jobId']} {job['command']}" for job in jobs.list() if job["state"] == "running"] if jobs else []
    return kept_blocks(
        files=files,
        todos=app.todos,
        plan=app.plan,
        tasks=[*running, *turn.conversation.agents_running.values()],
        skills=sorted(turn.conversation.discovered_skills),
        room=int(thresholds(turn.info_of(state.model)).autocompact * KEPT_SHARE),
    )
