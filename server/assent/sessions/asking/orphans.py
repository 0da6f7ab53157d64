"""Asks whose process ended before anyone answered (Q11): put once more, at the first attach or turn, then denied.

All of them open again together. A call runs, or not, at the start of the next turn, where the engine takes it up; an
answer given before that is kept for it. An edit is different: its proposal has outlived the process, so it lands when
it is decided, and the engine only takes the outcome to the model. A second end does not ask a third time.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast

import anyio
import orjson

from assent.editor.proposal import Proposal
from assent.editor.proposals import Proposals
from assent.engine.past import OrphanedPermission, OrphanOutcome
from assent.sessions.asking.answers import Answer, LastingRules, read_answer
from assent.sessions.asking.asks import Asks, Question
from assent.sessions.asking.change_review import ChangeReview
from assent.sessions.live.late_decisions import LateDecisions
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

GONE = "The user's answer could not be applied: {}"
OTHER_INPUT = "Nothing was changed. The user wants this edit with another input:\n{}"


@dataclass(slots=True, kw_only=True)
class _Review:
    """The fate of an edit that was left, in every file of it: set once."""

    change: ChangeReview
    outcome: OrphanOutcome | None = None
    decided: anyio.Event = field(default_factory=anyio.Event)


class Owner(Protocol):
    """What the asks need of their session."""

    @property
    def asks(self) -> Asks: ...
    @property
    def rules_kept(self) -> LastingRules: ...
    @property
    def late(self) -> LateDecisions: ...
    @property
    def spawn(self) -> Any: ...


class Orphans:
    def __init__(self, owner: Owner, proposals: Proposals | None) -> None:
        self._owner = owner
        self._proposals = proposals
        self._left: list[Json] = []
        self._presented: dict[str, Question] = {}
        self._reviews: dict[str, _Review] = {}

    def restore(self, asks: list[Json]) -> None:
        """Asks as an earlier process left them; those it had itself inherited had their second chance.

        A subagent's conversation ends with its process, and nobody would hear the answer to what it asked.
        """
        self._left = [ask for ask in asks if not ask.get("orphan") and not ask.get("parentToolUseId")]

    def present(self) -> None:
        for ask in self._left:
            call = str(ask["toolUseId"])
            if call in self._presented or call in self._reviews:
                continue
            proposal = self._proposal(ask)
            if proposal is None:
                bare = {key: value for key, value in ask.items() if key != "proposal"}
                self._presented[call] = self._owner.asks.open("permission", ask["askId"], {**bare, "orphan": True})
                continue
            review = self._reviews[call] = _Review(change=self._change(proposal))
            if not proposal.pending:  # decided while nobody was attached
                self._owner.spawn(partial(self._conclude, review))
                continue
            shown = {**ask, "orphan": True, "proposal": review.change.shown}
            question = self._owner.asks.open("permission", ask["askId"], shown)
            self._owner.spawn(partial(self._watch, ask, question, proposal, review))

    def calls(self) -> tuple[OrphanedPermission, ...]:
        """What the engine should take up."""
        return tuple(
            OrphanedPermission(
                tool_use_id=ask["toolUseId"],
                tool=ask["tool"],
                input=ask["input"],
                outcome=partial(self._outcome, ask) if self._proposal(ask) is not None else None,
            )
            for ask in self._left
        )

    def adopt(self, tool_use_id: str) -> Question | None:
        """The question that is (or was) open for this call, to be waited for instead of a new one; once."""
        if not self._is_left(tool_use_id):
            return None
        self.present()
        self._forget(tool_use_id)
        return self._presented.pop(tool_use_id, None)

    def drop(self) -> None:
        """The conversation went back to before these calls."""
        for ask in self._left:
            self._owner.asks.withdraw(ask["askId"], by="rewind")
        self._left = []

    # --- edits -------------------------------------------------------------------------------------------------------

    async def _watch(self, ask: Json, question: Question, proposal: Proposal, review: _Review) -> None:
        """One edit, one decision: the ask's answer or the review of the last hunk, whichever is first."""
        assert self._proposals is not None
        async with anyio.create_task_group() as group:
            group.start_soon(self._settled_by_review, proposal.proposal_id, question.id)
            await question.settled.wait()
            group.cancel_scope.cancel()
        if question.answer is not None:
            answer = read_answer(question.answer)
            review.outcome = await self._apply(ask, answer, proposal)
        elif question.by != "review":
            self._take_back(proposal)
        await self._conclude(review)

    async def _settled_by_review(self, proposal_id: str, ask_id: str) -> None:
        assert self._proposals is not None
        await self._proposals.wait(proposal_id)
        self._owner.asks.withdraw(ask_id, by="review")

    async def _apply(self, ask: Json, answer: Answer, proposal: Proposal) -> OrphanOutcome | None:
        """Do what was answered; words for the model where the proposal itself has none."""
        assert self._proposals is not None
        if not answer.allowed:
            self._take_back(proposal, answer.message)
            return None
        if answer.updated_input is not None and answer.updated_input != ask["input"]:
            self._take_back(proposal)
            wanted = orjson.dumps(answer.updated_input).decode()
            return OrphanOutcome(text=OTHER_INPUT.format(wanted), made=False)
        suggestions = cast("list[Json]", ask.get("suggestions") or [])
        suggested = next((str(suggestion["rule"]) for suggestion in suggestions), None)
        self._owner.rules_kept.keep(answer, suggested=suggested, lasting=suggested is not None)
        decisions: list[Json] | Json = {"all": "accept"} if answer.hunks is None else answer.hunks
        try:
            await self._proposals.resolve(proposal.proposal_id, decisions, message=answer.message, unnamed="reject")
        except ProtocolError as error:
            self._take_back(proposal)
            return OrphanOutcome(text=GONE.format(error), made=False)
        return None

    def _take_back(self, proposal: Proposal, message: str = "") -> None:
        """The edit and, when its call wanted to change more files than the ask shows, those too."""
        assert self._proposals is not None
        self._proposals.withdraw(proposal.proposal_id, message=message)
        for other in self._change(proposal).others:
            self._proposals.withdraw(other)

    def _change(self, proposal: Proposal) -> ChangeReview:
        """The edit, and the other files that its call wanted to change as far as they are undecided."""
        assert self._proposals is not None
        live = self._proposals.live(proposal.origin.session_id)
        same = [each for each in live if each.tool_use_id == proposal.tool_use_id and each is not proposal]
        return ChangeReview(
            proposals=self._proposals,
            shown=self._proposals.get(proposal.proposal_id),
            others=tuple(each.proposal_id for each in same),
        )

    async def _conclude(self, review: _Review) -> None:
        """The file that was shown has its answer; the others are waited for, as in the turn they come from."""
        assert self._proposals is not None
        if review.outcome is None:
            await review.change.wait(answered=True)
            made = any(self._proposals.outcome(each)[1] for each in review.change.ids)
            review.outcome = OrphanOutcome(text=review.change.outcomes(), made=made)
        review.decided.set()

    async def _outcome(self, ask: Json) -> OrphanOutcome:
        self.present()
        call = str(ask["toolUseId"])
        self._forget(call)
        review = self._reviews[call]
        await review.decided.wait()
        assert review.outcome is not None
        for each in review.change.ids:
            self._owner.late.forget(each)  # the result says it
        return review.outcome

    def _proposal(self, ask: Json) -> Proposal | None:
        shown: Json = ask.get("proposal") or {}
        if self._proposals is None or "proposalId" not in shown:
            return None
        try:
            return self._proposals.find(shown["proposalId"])
        except ProtocolError:
            return None

    def _is_left(self, tool_use_id: str) -> bool:
        return any(ask["toolUseId"] == tool_use_id for ask in self._left)

    def _forget(self, tool_use_id: str) -> None:
        self._left = [ask for ask in self._left if ask["toolUseId"] != tool_use_id]
