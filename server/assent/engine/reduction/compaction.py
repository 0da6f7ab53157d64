"""Compaction: the conversation so far becomes a summary, and the view starts again there (C5, C6).

The summarising call is a fork of the conversation on the same cached prefix. Its prompt, and the content that is
kept beside the summary, are pure functions in `context/compact.py`; this module does the I/O: hooks, call, boundary.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

import anyio

from assent.context.compact import (
    KEPT_FILES,
    KEPT_SHARE,
    KeptFile,
    kept_blocks,
    open_prompt,
    prompts_since,
    with_left_out,
)
from assent.context.thresholds import thresholds
from assent.context.tokens import estimate_all, estimate_block
from assent.engine.budget import task_budget_after_compaction
from assent.engine.prompting.equipment import refresh_context
from assent.engine.reduction.summarising import Trigger, WrittenSummary, call_for_text, summarise
from assent.engine.state import State
from assent.engine.turn import Turn
from assent.types.blocks import Block, text_block
from assent.types.errors import ModelError, ToolError
from assent.types.messages import CompactBoundary, Compacting, UserMessage
from assent.types.ports import ModelRequest, QuerySource

logger = logging.getLogger(__name__)


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
    the summary is there, so that they are not lost if it never comes. The words of the user that nobody has answered
    yet are kept word for word (C6).
    """
    prompt, uuids = _open(turn)
    view = tuple(message for message in turn.history.view() if message.uuid not in without)
    by = "manual" if trigger == "manual" else "auto"  # as hooks know it
    asked = {"trigger": by, "custom_instructions": instructions or ""}
    for outcome in await turn.run_hooks("PreCompact", asked, subject=by):
        if outcome.status in ("blocked", "prevented"):
            await turn.notice(f"A hook stopped the compaction. {outcome.text}".strip(), "warning")
            return False
    turn.services.set_status("compacting")
    await turn.publish(Compacting(trigger=trigger))
    before = turn.window.count(turn.history.view())
    try:
        written = await summarise(turn, state, view, trigger=trigger, instructions=instructions, prompts=uuids)
    except ModelError as error:
        logger.warning("compaction failed: %s", error)
        await turn.notice(f"The conversation could not be compacted: {error}", "warning")
        return False
    finally:
        turn.services.set_status("running")
    if summarised is not None:
        await summarised()
    summary = with_left_out(written.text, written.left_out)
    kept = await _kept(turn, state, trigger, written, prompt)
    boundary = CompactBoundary(
        uuid=turn.services.new_id(),
        trigger=trigger,
        tokens_before=before,
        tokens_after=0,
        summary=summary,
        kept=kept,
        timestamp=turn.services.now(),
    )
    await start_anew(turn, boundary)
    await turn.run_hooks("PostCompact", {"trigger": by, "compact_summary": summary}, subject=by)
    await turn.run_hooks("SessionStart", {"source": "compact", "model": turn.model}, subject="compact")
    return True


async def start_anew(turn: Turn, boundary: CompactBoundary) -> None:
    """The view begins at this boundary; what was frozen at the start of the session is taken afresh (Q8)."""
    remaining = turn.conversation.task_budget_remaining
    if remaining is not None:
        turn.conversation.task_budget_remaining = task_budget_after_compaction(remaining, turn.window.last_answer)
        turn.conversation.note_spend()
    await refresh_context(turn)
    turn.window.restarted()
    size = turn.window.told = turn.window.overhead + estimate_all((boundary,))
    boundary = replace(boundary, tokens_after=size)
    await turn.publish(boundary)
    turn.history.replay(boundary, turn.services.snip_replay)
    turn.history.restart()
    turn.conversation.forget_told()
    turn.window.warned = turn.window.count(turn.history.view()) >= thresholds(turn.info).warning


async def ask_small_model(
    turn: Turn, prompt: str, *, source: QuerySource, max_tokens: int = 1_000, whole: bool = False
) -> str:
    """One background question to the small model (M10): no tools, no history, counted in the cost.

    Returns an empty string when it fails, or with `whole` when it was cut; the turn goes on without it.
    """
    model = turn.config.small_model or turn.model
    message = UserMessage(uuid=turn.services.new_id(), content=(text_block(prompt),))
    request = ModelRequest(
        model=model,
        messages=(message,),
        source=source,
        foreground=False,
        max_tokens=max_tokens,
        thinking={"type": "disabled"},
        whole=True,
        forked=True,
        chain=turn.link(beside=True),
    )
    try:
        answer = await call_for_text(turn, request, foreground=False)
    except ModelError as error:
        logger.info("the small model did not answer (%s): %s", source, error)
        return ""
    return "" if whole and answer.stop_reason != "end_turn" else answer.text.strip()


def kept_prompt(turn: Turn, state: State) -> tuple[Block, ...]:
    """The words of the user this turn answers, as far as they can be kept (C6)."""
    return _fitting(turn, state, _open(turn)[0])


def _fitting(turn: Turn, state: State, prompt: tuple[Block, ...]) -> tuple[Block, ...]:
    """None of it where it would not fit even alone."""
    size = turn.window.overhead + sum(map(estimate_block, prompt))
    return prompt if size < thresholds(turn.info_of(state.model)).blocking else ()


def _open(turn: Turn) -> tuple[tuple[Block, ...], frozenset[str]]:
    """The words of the user this turn answers; in a slash command, those that still wait for an answer."""
    if turn.prompt_uuid:
        return prompts_since(turn.history.messages, turn.prompt_uuid)
    return open_prompt(turn.history.view())


async def _kept(
    turn: Turn, state: State, trigger: Trigger, written: WrittenSummary, prompt: tuple[Block, ...]
) -> tuple[Block, ...]:
    app = turn.app
    marks = thresholds(turn.info_of(state.model))
    size = sum(map(estimate_block, prompt))
    room = int(marks.autocompact * KEPT_SHARE)
    if trigger == "reactive":  # the window is smaller than we think: nothing beyond what the endpoint just took
        room = max(0, min(room, written.tokens - size))
    files: list[KeptFile] = []
    with anyio.move_on_after(2 * turn.services.look_seconds):
        for path in list(reversed(app.read_files))[:KEPT_FILES]:
            try:
                files.append(KeptFile(path=path, text=(await turn.services.workspace.read(path)).text))
            except ToolError:
                continue
    jobs = turn.services.jobs
    running = [f"{job['jobId']} {job['command']}" for job in jobs.list() if job["state"] == "running"] if jobs else []
    return kept_blocks(
        files=files,
        todos=app.todos,
        plan=app.plan,
        tasks=[*running, *turn.conversation.agents.in_background()],
        skills=app.skills,
        room=room,
        prompt=_fitting(turn, state, prompt),
    )
