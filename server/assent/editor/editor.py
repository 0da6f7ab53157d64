"""One editor, put together.

editor = Editor(client, disk, encoding="utf-16", snapshot=history.snapshot)
editor.documents     didOpen, didChange, … go here in order, from lsp/
editor.proposals     sessions/ proposes, resolves and waits
editor.edits         for changing other documents through the editor (chat documents)
editor.provenance    for the hover
editor.workspace(origin=lambda: Origin(…), review=lambda: "before")   the Workspace of one session
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import anyio

from assent.editor.buffer_edits import DocumentEdits, Sleep
from assent.editor.client_edits import ClientEdits
from assent.editor.diagnostics import EditDiagnostics
from assent.editor.documents import Documents, of_buffer
from assent.editor.editor_workspace import EditorWorkspace
from assent.editor.hunks import Hunk
from assent.editor.landing import Landings
from assent.editor.proposal import EditOrigin, Proposal, Review
from assent.editor.proposals import Proposals
from assent.editor.provenance import Provenance
from assent.editor.review_watch import ReviewWatch
from assent.editor.saving import SaveBarrier
from assent.text.positions import Encoding
from assent.types.errors import ToolError
from assent.types.ports import FileText, Workspace

log = logging.getLogger(__name__)

Snapshot = Callable[[EditOrigin, str, FileText | None], Awaitable[None]]
"""Called before an edit lands: whose edit, the absolute path, the file as it was (None: it did not exist)."""


class EditorSide(Protocol):
    """What the language server of one client needs: the client's own documents, and the proposals of all."""

    @property
    def documents(self) -> Documents: ...

    @property
    def edits(self) -> DocumentEdits: ...

    @property
    def proposals(self) -> Proposals: ...

    @property
    def provenance(self) -> Provenance: ...


class Editor:
    def __init__(
        self,
        client: ClientEdits,
        disk: Workspace,
        *,
        encoding: Encoding = "utf-16",
        snapshot: Snapshot | None = None,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._disk = disk
        self._snapshot = snapshot
        self.documents = Documents(encoding=encoding)
        self.edits = DocumentEdits(self.documents, client, sleep=sleep)
        self.diagnostics = EditDiagnostics(client)
        self._landings = Landings(
            self.documents, self.edits, disk, before=self._before_landing, after=self._after_landing
        )
        self.proposals = Proposals(self.documents, self._landings, news=self.diagnostics.news, sleep=sleep)
        self.provenance = Provenance(self.documents)
        self.proposals.on_restored = self.provenance.restored
        self._barrier = SaveBarrier(self.documents, client, sleep=sleep)
        self.on_landing: Callable[[str], None] = lambda _uri: None  # a change of this document is about to be made

    def workspace(self, *, origin: Callable[[], EditOrigin], review: Callable[[], Review]) -> EditorWorkspace:
        return EditorWorkspace(
            documents=self.documents,
            disk=self._disk,
            proposals=self.proposals,
            landings=self._landings,
            barrier=self._barrier,
            origin=origin,
            review=review,
        )

    async def watch(self) -> None:
        """Follow closed files on disk until cancelled."""
        await ReviewWatch(self.documents, self.refresh).run()

    async def refresh(self, path: str) -> None:
        """A file changed on disk: what is anchored in it follows, unless the editor has it open and reloads itself."""
        await self._landings.look(path)

    async def _before_landing(self, proposal: Proposal) -> None:
        self.on_landing(proposal.uri)
        document = self.documents.get(proposal.uri)
        if self._snapshot is not None:
            await self._snapshot(proposal.origin, proposal.path, await self._as_it_is(proposal))
        if document is not None:
            await self.diagnostics.take_baseline(proposal.proposal_id, document)

    def _after_landing(self, proposal: Proposal, hunks: Sequence[Hunk]) -> None:
        self.provenance.wrote(proposal, hunks)

    async def _as_it_is(self, proposal: Proposal) -> FileText | None:
        document = self.documents.get(proposal.uri)
        if document is not None:
            return of_buffer(document, proposal.path)
        try:
            return await self._disk.read(proposal.path)
        except ToolError:
            return None
