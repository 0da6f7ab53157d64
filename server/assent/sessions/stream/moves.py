"""Proposals that only moved: typing beside a review sends small, coalesced events to clients that claim `editMoved`.

A change of anything but ranges and version goes out at once as `editUpdated`, and so does every move while no client
claims `editMoved`. Otherwise moves of one proposal are merged to at most `MOVES_PER_SECOND`; the event is numbered
once, and clients without the claim get it as `editUpdated` under the same number, as does a replay.
"""

import asyncio

from assent.sessions.stream.event_log import EventLog
from assent.wire.events import EditMoved, EditUpdated, MovedHunk
from assent.wire.shapes import Hunk, Proposal

MOVES_PER_SECOND = 20


class ProposalMoves:
    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._told: dict[str, Proposal] = {}  # as clients know it
        self._waiting: dict[str, Proposal] = {}
        self._next = 0.0  # before this moment of the loop's clock nothing more goes out
        self._timer: asyncio.TimerHandle | None = None

    def told(self, proposal: Proposal) -> None:
        """Another event has sent the whole proposal: moves count from that state on."""
        self._waiting.pop(proposal.proposal_id, None)
        if any(hunk.open for hunk in proposal.hunks):
            self._told[proposal.proposal_id] = proposal
        else:
            self._told.pop(proposal.proposal_id, None)

    def updated(self, proposal: Proposal) -> None:
        """The proposal was rebased; say what changed of it."""
        known = self._told.get(proposal.proposal_id)
        if known is None or not _only_moved(known, proposal) or not self._claimed():
            self._events.publish(EditUpdated(proposal))
            self.told(proposal)
            return
        self._waiting[proposal.proposal_id] = proposal
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next:
            self.flush()
        elif self._timer is None:
            self._timer = loop.call_at(self._next, self.flush)

    def flush(self) -> None:
        self.close()
        waiting, self._waiting = self._waiting, {}
        for proposal in waiting.values():
            known = self._told[proposal.proposal_id]
            self._events.publish(EditUpdated(proposal), brief=_moved(known, proposal))
            self._told[proposal.proposal_id] = proposal
        self._next = asyncio.get_running_loop().time() + 1 / MOVES_PER_SECOND

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _claimed(self) -> bool:
        return any(found.front.flags.edit_moved for found in self._events.subscriptions.values())


def _only_moved(known: Proposal, now: Proposal) -> bool:
    same = known.uri == now.uri and known.review == now.review and len(known.hunks) == len(now.hunks)
    return same and all(_meaning(one) == _meaning(other) for one, other in zip(known.hunks, now.hunks, strict=True))


def _meaning(hunk: Hunk) -> tuple[object, ...]:
    """Everything of a hunk except its position."""
    return hunk.hunk_id, hunk.state, hunk.open, hunk.placed, hunk.why, hunk.old_text, hunk.new_text


def _moved(known: Proposal, now: Proposal) -> EditMoved:
    changed = [new for old, new in zip(known.hunks, now.hunks, strict=True) if old.range != new.range]
    return EditMoved(now.proposal_id, now.version, [MovedHunk(hunk.hunk_id, hunk.range) for hunk in changed])
