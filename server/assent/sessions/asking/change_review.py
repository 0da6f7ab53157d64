"""One planned change while people decide on it: a proposal for each of its files, one verdict at the end.

An ask shows the first file, and its reply decides that one. The others are proposed along with it, so that they can be
looked at before anyone answers, and wait for their own hunks like any edit that needs no asking.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from assent.editor.proposals import Origin, Proposals, Review
from assent.types.blocks import Json
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import EditPlan

DECIDED_STATES = frozenset({"accepted", "edited", "landed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReview:
    proposals: Proposals
    shown: Json  # the first file's proposal, as the ask carries it
    others: tuple[str, ...]

    @classmethod
    def of(
        cls, proposals: Proposals, plan: EditPlan, origin: Callable[[], Origin], *, review: Review
    ) -> "ChangeReview":
        """Under review "after" only what the ask shows is proposed; the other files land once it is allowed."""
        shown = proposals.propose(plan, origin(), review="before")
        waiting = plan.others if review == "before" else ()
        others = [proposals.propose(other, origin(), review="before")["proposalId"] for other in waiting]
        return cls(proposals=proposals, shown=shown, others=tuple(others))

    @property
    def proposal_id(self) -> str:
        return self.shown["proposalId"]

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.proposal_id, *self.others)

    @property
    def landed(self) -> bool:
        """Whether anything of it was accepted, in any file."""
        return any(hunk["state"] in DECIDED_STATES for each in self.ids for hunk in self.proposals.get(each)["hunks"])

    async def wait(self, *, answered: bool) -> None:
        """Until every file is decided; the one that was shown may have its answer already."""
        for each in self.others if answered else self.ids:
            await self.proposals.wait(each)

    def pending(self, *, answered: bool) -> list[Json]:
        """What people are waited for, as `reviewPending` tells it: one entry per file."""
        proposals = [self.proposals.get(each) for each in (self.others if answered else self.ids)]
        return [
            {
                "proposalId": proposal["proposalId"],
                "toolUseId": proposal["toolUseId"],
                "hunks": [hunk["hunkId"] for hunk in proposal["hunks"] if hunk["state"] == "pending"],
            }
            for proposal in proposals
        ]

    def withdraw(self) -> None:
        for each in self.ids:
            self.proposals.withdraw(each)

    def carried_by(self, allowed: Allow) -> Allow:
        """The permission with what was decided: the tool takes the outcome of each file to the model."""
        return replace(allowed, proposal_id=self.proposal_id, other_proposals=self.others)

    def verdict(self, allowed: Allow) -> Verdict:
        return self.carried_by(allowed) if self.landed else Deny(step="tool", reason=self._refusal())

    def outcomes(self) -> str:
        return "\n".join(self.proposals.outcome(each)[0] for each in self.ids)

    def _refusal(self) -> str:
        if self.others:
            return self.outcomes()
        return self.proposals.report(self.proposal_id) or "The user rejected the whole edit."
