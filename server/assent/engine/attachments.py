"""What the engine tells the model between steps (L11)."""

from collections.abc import Sequence

from assent.engine.turn import Turn
from assent.tools.executor import CallResult


async def attach(turn: Turn, results: Sequence[CallResult]) -> None:
    if turn.config.take_queued is not None:
        for message in turn.config.take_queued():
            await turn.publish(message)
