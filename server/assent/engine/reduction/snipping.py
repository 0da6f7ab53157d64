"""Applies snips before a call: results that the user or the model marked, and results that are provably unneeded (C2).

Each is a tombstone that people see and that the transcript keeps; the messages leave the model's view only.
"""

from __future__ import annotations

from assent.context.snip import snip
from assent.context.thresholds import Thresholds
from assent.context.unneeded import pays, unneeded, why
from assent.engine.reduction.reducing import take, told
from assent.engine.reduction.window import Marked
from assent.engine.turn import Turn
from assent.types.messages import Tombstone


async def snip_marked(turn: Turn) -> None:
    while turn.window.marked:
        await _snip(turn, turn.window.marked.pop(0))


async def snip_unneeded(turn: Turn, marks: Thresholds) -> None:
    """Reads that a later one replaced, and failures of calls that later succeeded: when that pays, all in one go."""
    view = turn.history.view()
    idle = turn.window.idle(turn.services.clock())
    tokens = turn.window.count(view)
    if not pays(tokens, marks, idle_seconds=idle, cache_seconds=turn.config.cache_seconds):
        return
    found = [each for each in unneeded(view) if each.uuid not in turn.window.spared]
    freed = sum(each.tokens for each in found)
    if pays(tokens, marks, idle_seconds=idle, cache_seconds=turn.config.cache_seconds, freed=freed):
        uuids = tuple(each.uuid for each in found)
        await _snip(turn, Marked(uuids=uuids, by="auto", snip_id=turn.services.new_id(), why=why(found)))


async def _snip(turn: Turn, marked: Marked) -> None:
    reduced = snip(turn.history.view(), marked.uuids)
    if not reduced.changed:
        return
    tombstone = Tombstone(
        message_uuids=marked.uuids,
        reason="snip",
        snip_id=marked.snip_id,
        by=marked.by,
        tokens_freed=reduced.freed,
        why=marked.why,
    )
    take(turn, reduced)
    turn.history.replay(tombstone, turn.services.snip_replay)
    if not marked.told:
        await turn.publish(tombstone)
    await told(turn, "snip", reduced)
