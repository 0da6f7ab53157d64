"""A change of a proposal, as events of the session that made it."""

from functools import partial

import msgspec

from assent.editor.news import ProposalEvent
from assent.sessions.live.session import Session
from assent.text.uris import path_of
from assent.wire.events import EditProposed, EditResolved, ToldDecision
from assent.wire.shapes import Proposal


def publish_change(session: Session, event: ProposalEvent) -> None:
    proposal = msgspec.convert(event.proposal, Proposal)
    match event.kind:
        case "proposed":
            session.publish(EditProposed(proposal))
            session.moves.told(proposal)
            session.files.proposals.save_now()  # an ask that is left behind must find its proposal again (Q11)
        case "updated":
            session.moves.updated(proposal)
        case "resolved":
            decisions = msgspec.convert(event.decisions, list[ToldDecision])
            session.publish(EditResolved(proposal.proposal_id, decisions, proposal=proposal))
            session.moves.told(proposal)
            session.late.note(proposal.proposal_id, event.late, tool_use_id=proposal.tool_use_id or "")
            path = path_of(event.proposal["uri"])
            if path is not None and not session.closed:  # no turn of a closed session reads the file
                session.spawn(partial(session.files.workspace.settled, path))
    session.files.proposals.changed()
