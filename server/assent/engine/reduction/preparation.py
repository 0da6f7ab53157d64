"""Makes the view small enough before each model call, with the cheapest reduction that suffices (L4).

In this order: tool-result budget, snip, microcompact, collapse, autocompact, and last the blocking limit, above which
no call goes out. The reductions are pure functions in `context/`; here they are applied and accounted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assent.context.collapse import Collapse, CollapseSpan, commit, next_span, still_there
from assent.context.compact import MAX_FAILURES
from assent.context.media import strip_media as without_media
from assent.context.microcompact import ENDPOINT_EDIT, microcompact
from assent.context.thresholds import Thresholds, thresholds
from assent.context.tool_results import BATCH_CHARS, budget
from assent.context.view import Reduced
from assent.engine.reduction.compaction import ask_small_model, compact
from assent.engine.reduction.reducing import apply, take
from assent.engine.reduction.snipping import snip_marked, snip_unneeded
from assent.engine.state import CompactTracking, State, TurnEnd
from assent.engine.turn import Turn
from assent.types.messages import Collapsed, CompactSoon

TOO_LONG = (
    "The conversation is too long to go on: about {tokens:,} of {window:,} tokens. Use /compact to summarise it, or "
    "/clear to start afresh."
)


async def prepare(turn: Turn, state: State) -> State | TurnEnd:
    marks = thresholds(turn.info_of(state.model))
    state = replace(state, tracking=replace(state.tracking, just_compacted=False))
    if len(state.messages) > turn.window.budgeted:
        await apply(turn, "tool-result budget", _budgeted(turn))
    await snip_marked(turn)
    await snip_unneeded(turn, marks)
    await _microcompact(turn, marks)
    if turn.window.cleared_results:  # by the endpoint, after an earlier call
        take(turn, Reduced(view=turn.history.view()))
    await _collapse(turn, marks)
    state = replace(state, messages=turn.history.view())
    await _warn(turn, marks)
    if turn.window.count(state.messages) >= marks.autocompact and state.tracking.failures < MAX_FAILURES:
        done = await compact(turn, state, trigger="auto")
        helped = done and turn.window.count(turn.history.view()) < marks.autocompact
        # One that did not help counts as failed, or a window too small for its own summary would never stop compacting.
        tracking = CompactTracking(failures=0 if helped else state.tracking.failures + 1, just_compacted=done)
        state = replace(state, messages=turn.history.view(), tracking=tracking)
    return await _blocking_limit(turn, state, marks) or state


async def _warn(turn: Turn, marks: Thresholds) -> None:
    """Warn once that a compaction is near, and what it would remove; again only after the view was smaller (C5)."""
    view = turn.history.view()
    tokens = turn.window.count(view)
    if tokens < marks.warning:
        turn.window.warned = False
    elif tokens < marks.autocompact and not turn.window.warned and turn.config.source == "main":
        turn.window.warned = True
        would_go = f"{len(view)} messages become a summary; your last prompt stays word for word"
        await turn.publish(CompactSoon(tokens=tokens, threshold=marks.autocompact, would_go=would_go))


def drain_collapses(turn: Turn) -> int:
    """On an overflow every staged collapse is committed at once; how many there were (L7)."""
    staged = still_there(turn.history.view(), turn.window.staged)
    reduced, committed = commit(turn.history.view(), staged)
    turn.window.staged.clear()
    if committed:
        take(turn, reduced)
        _write_down(turn, staged)
    return committed


def strip_media(turn: Turn) -> bool:
    """Whether there were images or documents to take out of the view."""
    reduced = without_media(turn.history.view())
    if reduced.changed:
        take(turn, reduced)
    return reduced.changed


def _budgeted(turn: Turn) -> Reduced:
    """Results made in this process were capped when they were made; this is for what was loaded."""
    view = turn.history.view()
    start = min(turn.window.budgeted, len(view))
    spill = turn.services.spill
    reduced = budget(view[start:], BATCH_CHARS, spill.write if spill else None)
    turn.window.budgeted = len(view)
    return replace(reduced, view=(*view[:start], *reduced.view)) if reduced.changed else reduced


async def _microcompact(turn: Turn, marks: Thresholds) -> None:
    if any(edit.get("type") == ENDPOINT_EDIT for edit in turn.config.context_edits):
        return  # the endpoint clears old results itself
    view = turn.history.view()
    reduced = microcompact(
        view,
        tokens=turn.window.count(view),
        marks=marks,
        idle_seconds=turn.window.idle(turn.services.clock()),
        cache_seconds=turn.config.cache_seconds,
    )
    await apply(turn, "microcompact", reduced)


async def _collapse(turn: Turn, marks: Thresholds) -> None:
    """Above the first mark stage collapses in the background; above the second commit them (C4)."""
    view = turn.history.view()
    tokens = turn.window.count(view)
    if turn.window.staged and tokens >= marks.commit_collapses:
        turn.window.staged = list(still_there(view, turn.window.staged))
        reduced, committed = commit(view, turn.window.staged, tokens=tokens, until=marks.microcompact)
        _write_down(turn, turn.window.staged[:committed])
        del turn.window.staged[:committed]
        await apply(turn, "collapse", reduced)
    if "collapse" in turn.config.background_calls and tokens >= marks.stage_collapses:
        _stage_next(turn, marks)


def _write_down(turn: Turn, collapses: Sequence[Collapse]) -> None:
    """Record the summaries, so that a resumed session shows the model the same ones."""
    for each in collapses:
        turn.post(Collapsed(message_uuids=each.uuids, summary=each.summary))


def _stage_next(turn: Turn, marks: Thresholds) -> None:
    """Summarise the oldest span that is not staged, one at a time; a small model that keeps failing is left alone."""
    window = turn.window
    if window.staging or window.staging_failures >= MAX_FAILURES:
        return
    span = next_span(turn.history.view(), window.staged, marks.window)
    if span is not None:
        window.staging = True
        turn.background.spawn(_stage(turn, span), name="collapse")


async def _stage(turn: Turn, span: CollapseSpan) -> None:
    window = turn.window
    try:
        summary = await ask_small_model(turn, span.prompt(), source="collapse", whole=True)
        if summary:
            window.staged.append(Collapse(uuids=span.uuids, summary=summary))
        window.staging_failures = 0 if summary else window.staging_failures + 1
    finally:
        window.staging = False


async def _blocking_limit(turn: Turn, state: State, marks: Thresholds) -> TurnEnd | None:
    if state.tracking.just_compacted:
        return None
    if state.transition is not None and state.transition.reason == "reactive_compact_retry":
        return None
    tokens = turn.window.count(state.messages)
    if tokens < marks.blocking:
        return None
    text = TOO_LONG.format(tokens=tokens, window=marks.window)
    await turn.publish(turn.error_message(text, "prompt_too_long"))
    return TurnEnd(reason="blocking_limit", error=text)
