"""Files as one session sees them: what the editor has open IS the file; the rest is on disk. Implements the port.

Knows no LSP and opens no file itself: buffers come from `documents`, the disk is another `Workspace` given to it.
"""

from collections.abc import Callable, Mapping

from assent.editor.diagnostics import Diagnostics
from assent.editor.documents import Document, Documents, text_sha256
from assent.editor.landing import Landings
from assent.editor.proposal import Origin, Proposal, Review
from assent.editor.proposals import Proposals
from assent.editor.reports import outcomes, report
from assent.editor.saving import SaveBarrier
from assent.types.errors import FileMissing, ToolError
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
        diagnostics: Diagnostics,
        origin: Callable[[], Origin],
        review: Callable[[], Review],
    ) -> None:
        self._documents = documents
        self._disk = disk
        self._proposals = proposals
        self._landings = landings
        self._barrier = barrier
        self._diagnostics = diagnostics
        self._origin = origin
        self._review = review

    async def read(self, path: str) -> FileText:
        document = self._landings.open_at(path)
        return await self._disk.read(path) if document is None else of_buffer(document, path)

    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome:
        """With a proposal: take its outcome, waiting for the last decision. Without: the change lands at once.

        An edit that reaches us undecided was allowed as it is, so review "before" has had its say by then: it lands,
        and stays marked unless nothing is to be reviewed at all.
        """
        if self._documents.is_notebook(plan.path):
            raise ToolError(f"{plan.path} is open as a notebook in the editor, which cannot be changed from here")
        if proposal_id is None:
            review: Review = "off" if self._review() == "off" else "after"
            proposal_id = str(self._proposals.propose(plan, self._origin(), review=review)["proposalId"])
            await self._proposals.land(proposal_id)
        else:
            await self._proposals.wait(proposal_id)
        proposal = self._proposals.find(proposal_id)
        if proposal.creates and not proposal.hunks:
            return await self._disk.apply(plan)  # an empty file has nothing to review
        if proposal.review != "before":
            _refuse_if_nothing_landed(proposal)
        document = self._landings.open_at(proposal.path)
        return EditOutcome(
            path=proposal.path,  # the user may have renamed the file under review
            after=await self._after(proposal.path),
            hunks=outcomes(proposal),
            report=report(proposal),
            diagnostics="" if document is None else await self._diagnostics.news(proposal_id, document),
        )

    async def save_barrier(self) -> str:
        return await self._barrier.hold()

    def unsaved(self) -> Mapping[str, str]:
        dirty = (document for document in self._documents.opened() if document.dirty)
        return {document.path: document.text for document in dirty if document.path is not None}

    async def _after(self, path: str) -> FileText | None:
        try:
            return await self.read(path)
        except FileMissing:
            return None  # every hunk of a new file was rejected


def of_buffer(document: Document, path: str) -> FileText:
    return FileText(
        path=path,
        text=document.text,
        sha256=text_sha256(document.text),
        version=0 if document.version is None else document.version,
    )


def _refuse_if_nothing_landed(proposal: Proposal) -> None:
    if proposal.hunks and all(hunk.state == "conflict" for hunk in proposal.hunks):
        why = proposal.hunks[0].why or "it changed since it was read; Read it again, then repeat the change"
        raise ToolError(f"{proposal.path} was not changed: {why}")
