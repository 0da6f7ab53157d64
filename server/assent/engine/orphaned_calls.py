"""Calls whose permission ask was open when its process ended (Q11): asked again, and answered, before the next turn.

`ConversationPast` lists these asks; the session asks the person.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.engine.conversation_past import OrphanedPermission
from assent.engine.pairing import unanswered
from assent.engine.prompting.equipment import init_of
from assent.engine.turn import Turn
from assent.tools.run.executor import CallResult
from assent.types.blocks import tool_result_block


async def settle(turn: Turn, orphans: Sequence[OrphanedPermission]) -> None:
    """Run, or refuse, those that still wait for a result, all in one batch."""
    waiting = {call.get("id") for call in unanswered(turn.history.messages)}
    orphans = [orphan for orphan in orphans if orphan.tool_use_id in waiting]
    if not orphans:
        return
    await turn.begin(init_of(turn))
    turn.phase = "tools"
    async with turn.new_executor() as tools:
        for each in orphans:
            if each.outcome is None:
                tools.add({"type": "tool_use", "id": each.tool_use_id, "name": each.tool, "input": each.input})
        decided = [await _decided(turn, orphan) for orphan in orphans if orphan.outcome is not None]
        results = {result.tool_use_id: result for result in (*await tools.finish(), *decided)}
    await turn.answer_calls([results[orphan.tool_use_id] for orphan in orphans])


async def _decided(turn: Turn, orphan: OrphanedPermission) -> CallResult:
    """An edit whose proposal outlived its process: it has landed, or not, when it was decided."""
    assert orphan.outcome is not None
    outcome = await orphan.outcome()
    if not outcome.made:
        turn.conversation.note_denial(orphan.tool, orphan.tool_use_id, orphan.input)
    return CallResult(
        tool_use_id=orphan.tool_use_id,
        tool=orphan.tool,
        ended="done" if outcome.made else "denied",
        block=tool_result_block(orphan.tool_use_id, outcome.text, is_error=not outcome.made),
        input=orphan.input,
    )
