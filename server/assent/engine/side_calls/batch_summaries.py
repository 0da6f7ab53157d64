"""One line for a batch of calls, written by the small model in the background (L15). Opt-in; never waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assent.engine.reduction.compaction import ask_small_model
from assent.engine.state import State
from assent.engine.turn import Turn
from assent.tools.run.executor import CallResult
from assent.types.messages import ToolUseSummary

QUOTED = 300

PROMPT = (
    "Say in one line of at most ten words, past tense, what these tool calls of a coding agent achieved. No quotes.\n\n"
)


def start(turn: Turn, results: Sequence[CallResult]) -> asyncio.Task[ToolUseSummary | None] | None:
    if "summary" not in turn.config.background_calls or turn.config.source == "subagent":
        return None
    return turn.background.spawn(_summarise(turn, results), name="tool-use summary")


async def tell(turn: Turn, state: State) -> None:
    """Publish the summary of the batch before, if it is there by now."""
    task = state.pending_summary
    if task is not None and task.done() and not task.cancelled():
        summary = task.result()
        if summary is not None:
            await turn.publish(summary)


async def _summarise(turn: Turn, results: Sequence[CallResult]) -> ToolUseSummary | None:
    calls = "\n".join(f"{r.tool} {str(r.input)[:QUOTED]} -> {r.summary[:QUOTED]}" for r in results)
    text = await ask_small_model(turn, PROMPT + calls, source="summary")
    line = text.strip().partition("\n")[0]
    return ToolUseSummary(text=line, tool_use_ids=tuple(r.tool_use_id for r in results)) if line else None
