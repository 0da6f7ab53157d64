"""All proposals of the process: proposed, shown, rebased, decided, landed, told.

Owns the life of a proposal. The rules of each part are elsewhere and pure: `rebase` (typing), `decisions` (people),
`anchoring` (restarts), `reports` (words for the model). Text enters documents only through `landing`.

A reviewed edit: `propose` → (ask, review) → `resolve` … → `wait` returns → `edit_outcome`.
An edit that lands at once ("after", "off"): `propose` → `land`.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import anyio

from assent.editor.anchoring import lose, reanchor
from assent.editor.bounded_wait import happens_within
from assent.editor.buffer_edits import Sleep
from assent.editor.decisions import Choice, Nothing, Put, Refuse, Settle, revert_step, step_for
from assent.editor.documents import Document, DocumentEvent, Documents, text_sha256
from assent.editor.hunks import Hunk, Target, make_hunks
from assent.editor.landing import Landings
from assent.editor.line_choices import choices_of
from assent.editor.news import Listener, ProposalNews
from assent.editor.proposal import EditOrigin, Proposal, Review, from_json, on_wire, to_json
from assent.editor.rebase import cover_empty, rebase
from assent.editor.reports import outcome_of, outcomes, report
from assent.text.diff import diff_splices
from assent.text.lines import is_empty, uniform_eol, with_eol
from assent.text.splices import in_sequence
from assent.text.uris import same_document
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ports import EditOutcome, EditPlan

log = logging.getLogger(__name__)

NewProblems = Callable[[str, Document], Awaitable[str]]
"""(proposal, document): the diagnostics that came with it, in words for the model."""

_KEPT_CHARS = 256 * 1024  # of what was made, remembered over a restart
_KEPT = 200  # proposals nobody can act on any more are kept this long for undo and for questions


class Proposals:
    def __init__(
        self,
        documents: Documents,
        landings: Landings,
        *,
        news: NewProblems,
        settle: float = 1.0,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._documents = documents
        self._landings = landings
        self._new_problems = news
        self._settle = settle  # how long typing must rest before a conflict counts as the person's answer
        self._sleep = sleep
        self._proposals: dict[str, Proposal] = {}
        self._news = ProposalNews(self._wire)
        self.on_restored: Callable[[Proposal], None] = lambda _proposal: None  # provenance marks it again
        documents.listen(self._heard)

    # --- making and landing ------------------------------------------------------------------------------------------

    def propose(self, plan: EditPlan, origin: EditOrigin, *, review: Review = "before") -> Json:
        """Under review "before" it is published now and waits for decisions; else `land` makes and publishes it."""
        base = "" if plan.before is None else plan.before.text
        uri = self._landings.uri_for(plan.path)
        reading = None if plan.before is None else base
        known = self._documents.known(uri)
        if known is not None and not known.open:
            self._documents.disk(uri, reading)  # the plan's reading is the newest we have
        document = self._documents.follow(uri, reading)
        new_text = plan.new_text
        eol = uniform_eol(document.text) if document.open else None
        if eol is not None:  # an editor would rewrite other line ends to the buffer's own
            new_text = with_eol(new_text, eol)
        hunks = make_hunks(base, new_text)
        proposal = Proposal.of(plan, origin, review, uri=document.uri, base_hash=text_sha256(base), hunks=hunks)
        if document.text != base:
            rebase(hunks, base, in_sequence(diff_splices(base, document.text)), document.text)
            if proposal.creates:
                for hunk in hunks:
                    hunk.state, hunk.why = "conflict", "the file exists by now"
        self._proposals[proposal.proposal_id] = proposal
        self._forget_old()
        if review == "before":
            self._news.publish("proposed", proposal)
        return self._wire(proposal)

    async def land(self, proposal_id: str) -> Json:
        """Make the whole change at once: review after (it stays marked and can be rejected) or off."""
        proposal = self._find(proposal_id)
        state = "landed" if proposal.review == "after" else "accepted"
        puts = [
            (hunk, Put(hunk.old_text, Target(hunk.new_text, state)))
            for hunk in proposal.hunks
            if hunk.state == "pending"
        ]
        await self._landings.put(proposal, puts)
        self._tell_conflicts(proposal)
        if proposal.review == "after" and proposal.open:
            self._news.publish("proposed", proposal)
        self._wake(proposal)
        return self._wire(proposal)

    # --- deciding ----------------------------------------------------------------------------------------------------

    async def resolve(
        self,
        proposal_id: str,
        decisions: Sequence[Json | str] | Mapping[str, Any],
        *,
        version: int | None = None,
        message: str = "",
        unnamed: Literal["pending", "reject"] = "pending",
    ) -> Json:
        """assent/edit/resolve, and an ask's reply (unnamed="reject"; `{"all": "accept"}` for an allow without hunks).

        Lands what was accepted before it returns `{proposal, refused: [{hunkId, reason}], report}`. A decision that
        is a bare hunk id accepts it. Raises ProtocolError: unknownProposal, unknownHunk, staleProposal (its data
        holds the fresh `proposal`), invalidParams.
        """
        proposal = self._find(proposal_id)
        document = self._document(proposal)
        if version is not None and version != document.version:
            raise ProtocolError(
                "staleProposal",
                "The document has changed since this proposal was shown",
                hint="Decide on the proposal in data.proposal",
                data={"proposal": self._wire(proposal)},
            )
        choices = choices_of(proposal, decisions, unnamed)
        if message:
            proposal.message = message
        refused = await self._carry_out(proposal, choices)
        self._resolved(proposal, [choice for choice in choices if choice.hunk.hunk_id not in refused], message)
        return {
            "proposal": self._wire(proposal),
            "refused": [{"hunkId": hunk_id, "reason": reason} for hunk_id, reason in refused.items()],
            "report": report(proposal),
        }

    async def revert(self, hunk_id: str) -> Json:
        """Take back a hunk that landed, whenever that was; refused when its lines were changed by hand since."""
        for proposal in self._proposals.values():
            hunk = proposal.hunk(hunk_id)
            if hunk is None:
                continue
            step = revert_step(hunk, self._document(proposal).text)
            refused = await self._take(proposal, [(hunk, step)])
            self._resolved(proposal, [] if refused else [Choice(hunk=hunk, verb="reject")], "")
            return {
                "proposal": self._wire(proposal),
                "refused": [{"hunkId": key, "reason": reason} for key, reason in refused.items()],
            }
        raise ProtocolError("unknownHunk", f"There is no hunk {hunk_id}", hint="It may have been decided long ago")

    def withdraw(self, proposal_id: str, *, message: str = "") -> None:
        """The turn was interrupted or the ask denied: what is pending is rejected."""
        proposal = self._proposals.get(proposal_id)
        if proposal is None:
            return
        gone = [hunk for hunk in proposal.hunks if hunk.state in ("pending", "conflict") and not hunk.decided]
        for hunk in gone:
            hunk.state, hunk.decided, hunk.target = "rejected", True, None
        if message:
            proposal.message = message
        if gone:
            self._resolved(proposal, [Choice(hunk=hunk, verb="reject") for hunk in gone], message)

    def drop_session(self, session_id: str) -> None:
        """Session deleted: pending hunks are rejected; what landed stays in the files, and is nobody's any more."""
        for proposal in [found for found in self._proposals.values() if found.origin.session_id == session_id]:
            self.withdraw(proposal.proposal_id)
            self._forget(proposal)

    async def wait(self, proposal_id: str) -> Json:
        """Until no hunk is pending: decided, or typed over and left so. The proposal as it then is."""
        proposal = self._find(proposal_id)
        while self._waits(proposal) or await self._may_come_back(proposal):
            if self._waits(proposal):
                await proposal.changed.wait()
        self._tell_conflicts(proposal)
        return self._wire(proposal)

    # --- questions ---------------------------------------------------------------------------------------------------

    def get(self, proposal_id: str) -> Json:
        return self._wire(self._find(proposal_id))

    def list(self, session_id: str | None = None, *, uri: str | None = None) -> list[Json]:
        """Those with a hunk that wants a decision or can still be rejected; of one session, of one document."""
        return [
            self._wire(proposal)
            for proposal in self.live(session_id)
            if uri is None or proposal.uri == same_document(uri)
        ]

    def live(self, session_id: str | None = None) -> "list[Proposal]":
        return [
            proposal
            for proposal in self._proposals.values()
            if proposal.open and proposal.shown and (session_id is None or proposal.origin.session_id == session_id)
        ]

    def find(self, proposal_id: str) -> Proposal:
        return self._find(proposal_id)

    def report(self, proposal_id: str) -> str:
        """What the model is told of the decisions; empty when everything was accepted as proposed."""
        return report(self._find(proposal_id))

    def outcome(self, proposal_id: str) -> tuple[str, bool]:
        """What became of it, in words, and whether anything of it was made."""
        return outcome_of(self._find(proposal_id))

    async def edit_outcome(self, proposal_id: str) -> EditOutcome:
        """The same for the tool that planned it: the file as it is now, each hunk, new problems in it."""
        proposal = self._find(proposal_id)
        document = self._landings.open_at(proposal.path)
        return EditOutcome(
            path=proposal.path,  # the user may have renamed the file under review
            after=await self._landings.file_at(proposal.path),  # None: every hunk of a new file was rejected
            hunks=outcomes(proposal),
            report=report(proposal),
            diagnostics="" if document is None else await self._new_problems(proposal_id, document),
        )

    def listen(self, listener: Listener) -> Callable[[], None]:
        return self._news.listen(listener)

    # --- storage -----------------------------------------------------------------------------------------------------

    def dump(self, session_id: str) -> "list[Json]":
        """What `load` needs in another process: what can be decided, and the newest of what was made, for the hover."""
        mine = [found for found in self._proposals.values() if found.origin.session_id == session_id]
        kept = [proposal for proposal in mine if proposal.open and proposal.shown]
        room = _KEPT_CHARS
        for proposal in reversed(mine):
            room -= proposal.size
            if room < 0:
                break
            if not proposal.open and proposal.made:
                kept.append(proposal)
        return [to_json(proposal, self._document(proposal)) for proposal in mine if proposal in kept]

    async def load(self, session_id: str, saved: Sequence[Mapping[str, Any]]) -> None:
        """Proposals of a session that was resumed, found again in the files as they are now."""
        for raw in saved:
            try:
                proposal, stored = from_json(raw)
            except (KeyError, TypeError, ValueError):
                log.warning("a stored proposal of session %s could not be read", session_id)
                continue
            if proposal.proposal_id not in self._proposals:
                await self._restore(proposal, stored)

    async def _restore(self, proposal: Proposal, stored: "list[Json]") -> None:
        text = await self._landings.text_of(proposal.uri, proposal.path)
        if text is None and not proposal.open:
            return  # only its marks would be left, and there is nothing to put them on
        document = self._documents.follow(proposal.uri, text)
        if text is None and not document.open and not proposal.creates:
            lose(proposal.hunks, "the file is gone")
        else:
            for hunk, item in zip(proposal.hunks, stored, strict=True):
                reanchor(hunk, item, document.text)
        self._proposals[proposal.proposal_id] = proposal
        self.on_restored(proposal)
        if proposal.open:
            self._news.publish("updated", proposal)

    # --- what happens to documents -----------------------------------------------------------------------------------

    def _heard(self, event: DocumentEvent) -> None:
        uri = event.old_uri if event.kind == "renamed" else event.uri
        for proposal in [found for found in self._proposals.values() if found.uri == uri]:
            had = [hunk.state for hunk in proposal.hunks]
            match event.kind:
                case "opened" | "closed" if proposal.creates and is_empty(event.before) and is_empty(event.after):
                    cover_empty(proposal.hunks, event.after)
                case "opened" | "changed" | "closed":
                    rebase(proposal.hunks, event.before, event.splices, event.after, ours=event.landed is not None)
                case "renamed":
                    proposal.move(event.uri)
                case "deleted":
                    lose(proposal.hunks, "the file was deleted")
                case "saved":
                    continue
            self._after_change(proposal, had)

    def _after_change(self, proposal: Proposal, had: Sequence[str]) -> None:
        changed = [hunk for hunk, state in zip(proposal.hunks, had, strict=True) if hunk.state != state]
        if proposal.told:
            for hunk in changed:
                hunk.decided = hunk.decided or hunk.state == "conflict"
        if not changed and not proposal.open:
            return
        self._news.publish("updated", proposal)
        done = [hunk for hunk in changed if hunk.state == "accepted" and hunk.hunk_id not in self._landings.under_way]
        if done and proposal.review == "before":
            self._resolved(proposal, [Choice(hunk=hunk, verb="accept") for hunk in done], "")
        self._wake(proposal)

    # --- parts -------------------------------------------------------------------------------------------------------

    async def _carry_out(self, proposal: Proposal, choices: Sequence[Choice]) -> dict[str, str]:
        text = self._document(proposal).text
        busy = Refuse("a decision on it is being carried out")
        steps: list[tuple[Hunk, Settle | Put | Refuse | Nothing]] = []
        for choice in choices:
            step = busy if choice.hunk.hunk_id in self._landings.under_way else step_for(choice, text)
            if isinstance(step, Put | Settle):
                choice.hunk.lines = choice.lines
            steps.append((choice.hunk, step))
        return await self._take(proposal, steps)

    async def _take(
        self, proposal: Proposal, steps: Sequence[tuple[Hunk, Settle | Put | Refuse | Nothing]]
    ) -> dict[str, str]:
        """Do what the decisions came to; the hunks that did not let themselves be changed, and why."""
        refused: dict[str, str] = {}
        puts: list[tuple[Hunk, Put]] = []
        text = self._document(proposal).text
        for hunk, step in steps:
            match step:
                case Settle(state, decided):
                    if state == "edited" and not hunk.decided:
                        hunk.placed = text[hunk.start : hunk.end]
                    if state == "pending":
                        hunk.placed, hunk.lines = None, None
                    hunk.state, hunk.decided, hunk.target = state, decided, None
                case Put():
                    puts.append((hunk, step))
                case Refuse(reason):
                    refused[hunk.hunk_id] = reason
                case Nothing():
                    pass
        try:
            refused |= await self._landings.put(proposal, puts)
        finally:
            self._wake(proposal)  # also when the landing was cancelled: whoever waits must look again
        return refused

    def _tell_conflicts(self, proposal: Proposal) -> None:
        """The outcome goes to the model now: what is in conflict stays so, unless its text turns up after all."""
        proposal.told = True
        for hunk in proposal.hunks:
            hunk.decided = hunk.decided or hunk.state == "conflict"

    def _waits(self, proposal: Proposal) -> bool:
        """Also until the landing of the last decision has been told to everyone else."""
        return proposal.pending or any(hunk.hunk_id in self._landings.under_way for hunk in proposal.hunks)

    async def _may_come_back(self, proposal: Proposal) -> bool:
        """A conflict may be a thought half typed: it is the answer only once the typing has rested."""
        if proposal.told or not any(hunk.state == "conflict" and not hunk.decided for hunk in proposal.hunks):
            return False
        return await happens_within(proposal.changed, self._settle, self._sleep)

    def _resolved(self, proposal: Proposal, choices: Sequence[Choice], message: str) -> None:
        self._news.publish("resolved", proposal, decisions=choices, message=message)
        self._wake(proposal)

    def _wake(self, proposal: Proposal) -> None:
        proposal.changed.set()
        proposal.changed = anyio.Event()

    def _document(self, proposal: Proposal) -> Document:
        found = self._documents.known(proposal.uri)
        if found is not None:
            return found
        # Its file is gone; an empty stand-in lets the proposal still be shown and rejected.
        return self._documents.follow(proposal.uri, None)

    def _wire(self, proposal: Proposal) -> Json:
        return on_wire(proposal, self._document(proposal), self._documents.encoding)

    def _find(self, proposal_id: str) -> Proposal:
        found = self._proposals.get(proposal_id)
        if found is None:
            raise ProtocolError("unknownProposal", f"There is no proposal {proposal_id}", hint="Ask assent/edit/list")
        return found

    def _forget_old(self) -> None:
        spent = [proposal for proposal in self._proposals.values() if not proposal.open and not proposal.pending]
        for proposal in spent[: max(0, len(spent) - _KEPT)]:
            self._forget(proposal)

    def _forget(self, proposal: Proposal) -> None:
        del self._proposals[proposal.proposal_id]
        self._documents.unfollow(proposal.uri)
