"""Background work after a turn that ended well (L13).

Fire and forget, each kind opt-in by name, main agent only, never in bare mode, never delaying the result: a suggestion
for the next prompt, facts noted in the auto memory, and, once the session is idle, that memory put in order ("dream").
All of it ends with the engine; a turn that begins ends the dream.
"""

from __future__ import annotations

from assent.context.steps import as_text
from assent.engine.reduction.compaction import ask_small_model
from assent.engine.side_calls.remembering import dream, remember, said_in
from assent.engine.turn import Turn
from assent.types.blocks import text_block
from assent.types.messages import Attachment

RECENT = 12

SUGGEST = (
    "Below is the end of a coding session. Write the one short prompt the user would most likely send next, in their "
    "voice and language, nothing else. If nothing is obvious, write NONE.\n\n"
)


def after_turn(turn: Turn) -> None:
    config = turn.config
    asked_the_model = turn.state is not None  # a slash command answered here leaves nothing to think about
    if config.bare or config.source != "main" or not asked_the_model or turn.ledger.spent(config.max_budget_usd):
        return
    wanted, background = config.background_calls, turn.background
    if "suggestion" in wanted:
        background.spawn(_suggest(turn), name="suggestion")
    # A session that leaves no transcript leaves no notes.
    memory = turn.services.auto_memory if config.persist and config.memory else None
    if memory is None:
        return
    if "memory" in wanted and (said := said_in(turn.history.view())):
        background.spawn(remember(turn, memory, said), name="memory")
    if "dream" in wanted:
        turn.conversation.dream = background.spawn(dream(turn, memory), name="dream")


def wake(turn: Turn) -> None:
    """The user is back: not idle any more."""
    if turn.conversation.dream is not None:
        turn.conversation.dream.cancel()
        turn.conversation.dream = None


async def _suggest(turn: Turn) -> None:
    text = await ask_small_model(turn, SUGGEST + as_text(turn.history.view()[-RECENT:]), source="suggestion")
    line = text.strip().partition("\n")[0]
    if line and line != "NONE":
        suggestion = Attachment(
            uuid=turn.services.new_id(),
            kind="suggestion",
            content=(text_block(line),),
            timestamp=turn.services.now(),
        )
        turn.services.publish(suggestion)
