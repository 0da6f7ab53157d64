"""What may happen after a turn that ended well, when nobody waits any more (L13).

Fire and forget, each kind opt-in by name, never in bare mode, never delaying the result: a suggestion for the next
prompt, memory extraction, idle consolidation ("dream", main agent only). The first is ours; what the others do with
the conversation is given by the host as functions.
"""

from __future__ import annotations

from assent.context.steps import as_text
from assent.engine.compaction import ask_small_model
from assent.engine.turn import Turn
from assent.types.blocks import text_block
from assent.types.messages import Attachment

RECENT = 12

SUGGEST = (
    "Below is the end of a coding session. Write the one short prompt the user would most likely send next, in their "
    "voice and language, nothing else. If nothing is obvious, write NONE.\n\n"
)


def after_turn(turn: Turn) -> None:
    if turn.config.bare:
        return
    wanted = turn.config.background_calls
    if "suggestion" in wanted and turn.config.source == "main":
        turn.background.spawn(_suggest(turn), name="suggestion")
    for kind, work in turn.config.after_turn:
        if kind in wanted and (kind != "dream" or turn.config.source == "main"):
            turn.background.spawn(work(turn.history.view()), name=kind)


async def _suggest(turn: Turn) -> None:
    text = await ask_small_model(turn, SUGGEST + as_text(turn.history.view()[-RECENT:]), source="suggestion")
    line = text.strip().partition("\n")[0]
    if line and line != "NONE":
        suggestion = Attachment(
            uuid=turn.config.deps.new_id(),
            kind="suggestion",
            content=(text_block(line),),
            timestamp=turn.config.deps.now(),
        )
        turn.config.publish(suggestion)
