"""Files as one session sees them: what the editor has open IS the file; the rest is on disk. Implements the port.

Knows no LSP and opens no file itself: buffers come from `documents`, the disk is another `Workspace` given to it.
"""

from collections.abc import Callable, Mapping

from assent.editor.documents import Documents, of_buffer
from assent.editor.landing import Landings
from assent.editor.proposal import EditOrigin, Proposal, Review
from assent.editor.proposals import Proposals
from assent.editor.saving import SaveBarrier
from assent.types.errors import ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText, Workspace


class EditorWorkspace:
    def __init__(
        self,
        *,
        documents: Documents,
        disk: Workspace,
        proposals: Proposals,
        landings: Landings,
        barrier: SaveBarrier,
        origin: Callable[[], EditOrigin],
        review: Callable[[], Review],
    ) -> None:
        self._documents = documents
        self._disk = disk
        self._proposals = proposals
        self._landings = landings
        self._barrier = barrier
        self._origin = origin
        self._review = review

    async def read(self, path: str) -> FileText:
        document = self._landings.open_at(path)
        return await self._disk.read(path) if document is None else of_buffer(document, path)

    async def apply(self, plan: EditPlan) -> EditOutcome:
        """The change lands at once, and stays marked unless nothing is to be reviewed at all."""
        if self._documents.is_notebook(plan.path):
            raise ToolError(f"{plan.path} is open as a notebook in the editor, which cannot be changed from here")
        review: Review = "off" if self._review() == "off" else "after"
        proposal_id = str(self._proposals.propose(plan, self._origin(), review=review)["proposalId"])
        await self._proposals.land(proposal_id)
        proposal = self._proposals.find(proposal_id)
        if proposal.creates and not proposal.hunks:
            return await self._disk.apply(plan)  # an empty file has nothing to review
        _refuse_if_nothing_landed(proposal)
        return await self._proposals.edit_outcome(proposal_id)

    async def save_barrier(self) -> str:
        return await self._barrier.hold()

    def unsaved(self) -> Mapping[str, str]:
        dirty = (document for document in self._documents.opened() if document.dirty)
        return {document.path: document.text for document in dirty if document.path is not None}


def _refuse_if_nothing_landed(proposal: Proposal) -> None:
    if proposal.hunks and all(hunk.state == "conflict" for hunk in proposal.hunks):
        why = proposal.hunks[0].why or "it changed since it was read; Read it again, then repeat the change"
        raise ToolError(f"{proposal.path} was not changed: {why}")
