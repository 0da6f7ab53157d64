"""Replaces the view by a smaller one and updates the token count (L4)."""

from __future__ import annotations

from assent.context.reread import without_dangling
from assent.context.view import Reduced
from assent.engine.turn import Turn


async def apply(turn: Turn, name: str, reduced: Reduced) -> None:
    if not reduced.changed:
        return
    take(turn, reduced)
    await told(turn, name, reduced)


async def told(turn: Turn, name: str, reduced: Reduced) -> None:
    if turn.config.verbose:
        await turn.notice(f"{name} freed about {reduced.freed:,} tokens")


def take(turn: Turn, reduced: Reduced) -> None:
    """Whatever left the view, nothing in it may point there (C7)."""
    turn.history.reduce(without_dangling(reduced.view, turn.history.messages, cleared=turn.window.cleared_results))
    turn.window.freed(reduced)
    turn.window.budgeted = len(reduced.view)
