"""What happens to proposals, told to whoever listens: sessions, and the surfaces of plain clients."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assent.editor.decisions import Choice
from assent.editor.line_choices import told_of
from assent.editor.proposal import Proposal
from assent.editor.reports import late_report
from assent.types.blocks import Json

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalEvent:
    """`proposed` → editProposed, `updated` → editUpdated, `resolved` → editResolved{proposalId, decisions}."""

    kind: Literal["proposed", "updated", "resolved"]
    session_id: str
    turn_id: str
    proposal: Json  # protocol.md's object
    decisions: tuple[Json, ...] = ()  # on resolved: [{hunkId, decision, newText?}]
    message: str = ""
    complete: bool = False  # no hunk is pending any more
    late: str = ""  # on resolved: words for the model, when its call had its result before


Listener = Callable[[ProposalEvent], None]


class ProposalNews:
    def __init__(self, on_wire: Callable[[Proposal], Json]) -> None:
        self._on_wire = on_wire
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(
        self,
        kind: Literal["proposed", "updated", "resolved"],
        proposal: Proposal,
        *,
        decisions: Sequence[Choice] = (),
        message: str = "",
    ) -> None:
        proposal.shown = proposal.shown or kind == "proposed"
        if not self._listeners or not proposal.shown:
            return
        event = ProposalEvent(
            kind=kind,
            session_id=proposal.origin.session_id,
            turn_id=proposal.origin.turn_id,
            proposal=self._on_wire(proposal),
            decisions=tuple(told_of(choice) for choice in decisions),
            message=message,
            complete=not proposal.pending,
            late=late_report(proposal) if kind == "resolved" and proposal.told else "",
        )
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on proposal %s", proposal.proposal_id)
