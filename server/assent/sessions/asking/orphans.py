"""Asks whose process ended before anyone answered (Q11): put once more, at the first attach or turn, then denied.

All of them open again together. A call runs, or not, at the start of the next turn, where the engine takes it up; an
answer given before that is kept for it. An edit is different: its proposal has outlived the process, so it lands when
it is decided, and the engine only takes the outcome to the model. A second end does not ask a third time.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import anyio
import msgspec
import orjson
from msgspec.structs import replace

from assent.editor.proposal import Proposal
from assent.editor.proposals import Proposals
from assent.engine.conversation_past import OrphanedPermission, OrphanOutcome
from assent.sessions.asking.ask_answers import AskAnswer, LastingRules, read_answer
from assent.sessions.asking.asks import Asks, OpenQuestion
from assent.sessions.asking.change import AskedChange
from assent.sessions.asking.review import EditReview
from assent.sessions.live.late_decisions import LateDecisions
from assent.types.errors import ProtocolError
from assent.wire import shapes as wire
from assent.wire.asks import PendingAsk

OTHER_INPUT = "Nothing was changed. The user wants this edit with another input:\n{}"


@dataclass(slots=True, kw_only=True)
class _Review:
    """The fate of an edit that was left, in every file of it: set once."""

    change: AskedChange
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
    def __init__(self, owner: Owner, proposals: Proposals | None, review: EditReview) -> None:
        self._owner = owner
        self._proposals = proposals
        self._review = review
        self._left: list[PendingAsk] = []
        self._presented: dict[str, OpenQuestion] = {}
        self._reviews: dict[str, _Review] = {}

    def restore(self, asks: list[PendingAsk]) -> None:
        """Asks as an earlier process left them; those it had itself inherited had their second chance.

        A subagent's conversation ends with its process, so its asks are dropped.
        """
        self._left = [ask for ask in asks if not ask.orphan and not ask.parent_tool_use_id]

    def present(self) -> None:
        for ask in self._left:
            call = ask.tool_use_id
            if call in self._presented or call in self._reviews:
                continue
            proposal = self._proposal(ask)
            if proposal is None:
                self._presented[call] = self._owner.asks.open(replace(ask, orphan=True, proposal=None))
                continue
            review = self._reviews[call] = _Review(change=self._review.left(proposal))
            if not proposal.pending:  # decided while nobody was attached
                self._owner.spawn(partial(self._conclude, review, None))
                continue
            shown = msgspec.convert(review.change.shown, wire.Proposal)
            question = self._owner.asks.open(replace(ask, orphan=True, proposal=shown))
            self._owner.spawn(partial(self._watch, ask, question, review))

    def calls(self) -> tuple[OrphanedPermission, ...]:
        """What the engine should take up."""
        return tuple(
            OrphanedPermission(
                tool_use_id=ask.tool_use_id,
                tool=ask.tool,
                input=ask.input,
                outcome=partial(self._outcome, ask) if self._proposal(ask) is not None else None,
            )
            for ask in self._left
        )

    def adopt(self, tool_use_id: str) -> OpenQuestion | None:
        """The question that is (or was) open for this call, to be waited for instead of a new one; once."""
        if not self._is_left(tool_use_id):
            return None
        self.present()
        self._forget(tool_use_id)
        return self._presented.pop(tool_use_id, None)

    def drop(self) -> None:
        """The conversation went back to before these calls."""
        for ask in self._left:
            self._owner.asks.withdraw(ask.ask_id, by="rewind")
        self._left = []

    # --- edits -------------------------------------------------------------------------------------------------------

    async def _watch(self, ask: PendingAsk, question: OpenQuestion, review: _Review) -> None:
        async with review.change.deciding(self._owner.asks, question):
            await question.settled.wait()
        answer = None if question.answer is None else read_answer(question.answer)
        if answer is None and question.by != "review":
            review.change.withdraw()
        elif answer is not None and not answer.allowed:
            review.change.withdraw(answer.message)
            answer = None
        elif answer is not None and answer.updated_input not in (None, ask.input):
            review.change.withdraw()
            wanted = orjson.dumps(answer.updated_input).decode()
            review.outcome = OrphanOutcome(text=OTHER_INPUT.format(wanted), made=False)
        elif answer is not None:
            suggested = [suggestion.rule for suggestion in ask.suggestions[:1]]
            self._owner.rules_kept.keep(answer, suggested=suggested, lasting=bool(suggested))
        await self._conclude(review, answer)

    async def _conclude(self, review: _Review, answer: AskAnswer | None) -> None:
        """The file that was shown has its answer; the others are waited for, as in the turn they come from."""
        if review.outcome is None:
            text, made = await self._review.finish(review.change, answer)
            review.outcome = OrphanOutcome(text=text, made=made)
        review.decided.set()

    async def _outcome(self, ask: PendingAsk) -> OrphanOutcome:
        self.present()
        call = ask.tool_use_id
        self._forget(call)
        review = self._reviews[call]
        await review.decided.wait()
        assert review.outcome is not None
        for each in review.change.ids:
            self._owner.late.forget(each)  # the result says it
        return review.outcome

    def _proposal(self, ask: PendingAsk) -> Proposal | None:
        if self._proposals is None or ask.proposal is None:
            return None
        try:
            return self._proposals.find(ask.proposal.proposal_id)
        except ProtocolError:
            return None

    def _is_left(self, tool_use_id: str) -> bool:
        return any(ask.tool_use_id == tool_use_id for ask in self._left)

    def _forget(self, tool_use_id: str) -> None:
        self._left = [ask for ask in self._left if ask.tool_use_id != tool_use_id]
