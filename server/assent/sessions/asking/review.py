"""Review, the stage of a call between permission and the call itself, for edits only.

    parse → hooks → prepare → permit → review → call

An edit that may be made lands at once, by the call; it waits here only where review "before" was set explicitly. An
edit that was asked about is decided here with the ask's reply. Turns and `tool/run` come through `run`; an edit that
outlived its process (`orphans`) through `finish`. No other module proposes, waits for or withdraws a change.
"""

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from assent.editor.proposal import EditOrigin, Proposal
from assent.editor.proposals import Proposals
from assent.sessions.asking.ask_answers import AskAnswer
from assent.sessions.asking.change import AskedChange
from assent.sessions.asking.permission_hooks import PermissionHooks
from assent.sessions.asking.review_time import ReviewTime
from assent.text.uris import path_of
from assent.types.blocks import Json
from assent.types.ports import EditOutcome, EditPlan, ToolCall


class ReviewHost(Protocol):
    """What the review needs to know of its session, as it is at the moment of the call."""

    @property
    def closed(self) -> bool: ...
    @property
    def interactive(self) -> bool: ...
    @property
    def review_time(self) -> ReviewTime: ...
    def origin(self) -> EditOrigin: ...
    def reviewing(self, waiting: Sequence[Json]) -> AbstractContextManager[None]: ...
    async def settled(self, path: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """What a person said when asked about a call. Without a change they agreed to it as it is now: it just lands."""

    change: AskedChange | None = None
    answer: AskAnswer | None = None  # None: the hunks are decided already


class EditReview:
    def __init__(self, host: ReviewHost, proposals: Proposals | None, hooks: PermissionHooks) -> None:
        self._host = host
        self._proposals = proposals
        self._hooks = hooks
        self._answered: dict[str, _Answered] = {}  # by call, from the gate's verdict to `run`
        self._calls: dict[str, ToolCall] = {}  # those whose hunks may be decided now

    # --- for the gate, while it asks ---------------------------------------------------------------------------------

    @contextmanager
    def following(self, call: ToolCall) -> Generator[None]:
        """While inside, the call is notified when one of its hunks lands."""
        self._calls[call.tool_use_id] = call
        try:
            yield
        finally:
            self._calls.pop(call.tool_use_id, None)

    def landing(self, path: str) -> None:
        """A hunk is about to land in this file: a call that waits for the rest of its hunks has begun to act (L10)."""
        for call in self._calls.values():
            if call.plan is not None and any(path == each.path for each in (call.plan, *call.plan.others)):
                call.acted()

    def propose(self, plan: EditPlan | None) -> AskedChange | None:
        """Show the change. Under review "after" only the first file: the others land once that one is allowed."""
        if plan is None or self._proposals is None or self._host.review_time.now == "off":
            return None
        shown = self._proposals.propose(plan, self._host.origin(), review="before")
        waiting = plan.others if self._host.review_time.now == "before" else ()
        others = [self._proposals.propose(each, self._host.origin(), review="before") for each in waiting]
        return AskedChange(proposals=self._proposals, shown=shown, others=tuple(each["proposalId"] for each in others))

    def answered(self, call: ToolCall, change: AskedChange | None, answer: AskAnswer | None = None) -> None:
        """A person decided this call: `run` carries that out."""
        self._answered[call.tool_use_id] = _Answered(change=change, answer=answer)

    def forget(self, call: ToolCall) -> None:
        """It is judged anew."""
        self._answered.pop(call.tool_use_id, None)

    def leave(self, change: AskedChange | None) -> None:
        """The turn ends under a question. Interrupted, the edit is off; when the process ends, it can still be made."""
        if change is not None and not self._host.closed:
            change.withdraw()

    # --- the stage ---------------------------------------------------------------------------------------------------

    async def run(self, call: ToolCall) -> EditOutcome | None:
        """What became of an edit that people reviewed. None: nothing is to be reviewed, the call makes the change."""
        said = self._answered.pop(call.tool_use_id, None)
        if said is None and self._host.review_time.allowed_edits_wait and self._host.interactive:
            said = _Answered(change=self.propose(call.plan))
        if said is None or said.change is None:
            return None
        try:
            with self.following(call):
                failed = await self._decide(said.change, said.answer)
        except BaseException:
            self.leave(said.change)
            raise
        if said.change.empty and not failed:
            return None
        if failed or not said.change.landed:
            made = f"\n{said.change.words()}" if said.change.landed else ""
            reason = f"{failed}{made}" if failed else said.change.refusal()
            refused = await self._hooks.denied(call, reason)
            return EditOutcome(path=path_of(said.change.shown["uri"]) or "", after=None, refused=refused)
        first, *others = [await self._outcome(said.change, each) for each in said.change.ids]
        return replace(first, others=tuple(others))

    async def finish(self, change: AskedChange, answer: AskAnswer | None) -> tuple[str, bool]:
        """The same for an edit that outlived its process: its outcome as text, and whether any hunk landed."""
        failed = await self._decide(change, answer)
        return failed or change.words(), change.landed and not failed

    def left(self, proposal: Proposal) -> AskedChange:
        """The edit an ask was about, with its call's other files as far as they are undecided."""
        assert self._proposals is not None
        live = self._proposals.live(proposal.origin.session_id)
        same = [each for each in live if each.tool_use_id == proposal.tool_use_id and each is not proposal]
        shown = self._proposals.get(proposal.proposal_id)
        return AskedChange(proposals=self._proposals, shown=shown, others=tuple(each.proposal_id for each in same))

    async def _decide(self, change: AskedChange, answer: AskAnswer | None) -> str:
        """Once every file that was proposed has been decided; or why the answer could not be carried out."""
        if answer is not None and (failed := await change.carry_out(answer)):
            return failed
        if waiting := change.pending():
            with self._host.reviewing(waiting):
                await change.wait()
        else:
            await change.wait()
        return ""

    async def _outcome(self, change: AskedChange, proposal_id: str) -> EditOutcome:
        outcome = await change.proposals.edit_outcome(proposal_id)
        await self._host.settled(outcome.path)
        return outcome
