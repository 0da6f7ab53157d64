"""Proposals: signatures first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assent.types.blocks import Json
from assent.types.ports import EditPlan

Review = Literal["before", "after", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which conversation an edit belongs to; the hover tells the prompt."""

    session_id: str
    turn_id: str = ""
    prompt: str = ""


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


class Proposals:
    """All proposals of the process. Wire objects are JSON dicts exactly as protocol.md writes them."""

    def propose(self, plan: EditPlan, origin: Origin, *, review: Review = "before") -> Json:
        """Publish a reviewed edit (`proposed` is sent before this returns). Nothing has landed."""
        ...

    async def resolve(
        self,
        proposal_id: str,
        decisions: Sequence[Json] | Json,
        *,
        version: int | None = None,
        message: str = "",
        unnamed: Literal["pending", "reject"] = "pending",
    ) -> Json:
        """assent/edit/resolve, and an ask's reply (unnamed="reject"; `{"all": "accept"}` for an allow without hunks).

        Lands what was accepted, before it returns. `{proposal, refused: [{hunkId, reason}], report}`.
        Raises ProtocolError: unknownProposal, unknownHunk, staleProposal (data.proposal is the fresh one), invalidParams.
        """
        ...

    async def wait(self, proposal_id: str) -> Json:
        """Until no hunk is pending (decided, typed over, withdrawn): the proposal as it then is."""
        ...

    def get(self, proposal_id: str) -> Json: ...
    def list(self, session_id: str | None = None) -> list[Json]:
        """Those with a hunk that still wants a decision or can still be rejected."""
        ...

    def report(self, proposal_id: str) -> str:
        """What the model is told of the decisions; empty when everything was accepted as proposed."""
        ...

    def withdraw(self, proposal_id: str) -> None:
        """The turn was interrupted or the ask denied: what is pending is rejected."""
        ...

    def drop_session(self, session_id: str) -> None:
        """Session deleted: pending hunks are rejected, the rest forgotten."""
        ...

    def dump(self, session_id: str) -> list[Json]: ...
    def load(self, session_id: str, saved: Sequence[Json]) -> None: ...
    def listen(self, listener: Callable[[ProposalEvent], None]) -> Callable[[], None]: ...
