"""How decided text gets into a file: through the editor when it is open there, by an atomic write when it is not.

Whatever happens on the way, a hunk goes in only over the very text the decision was made on.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Sequence

import anyio

from assent.editor.buffer_edits import DocumentEdits
from assent.editor.decisions import TYPED_OVER, Put
from assent.editor.documents import Document, DocumentEvent, Documents, Expectation, of_buffer
from assent.editor.hunks import Hunk
from assent.editor.proposal import Proposal
from assent.editor.rebase import stands
from assent.text.splices import Splice
from assent.text.uris import path_of, uri_of
from assent.types.errors import AssentError, FileMissing, ToolError
from assent.types.ports import EditPlan, FileText, Workspace

log = logging.getLogger(__name__)

_ATTEMPTS = 5
_NOT_APPLIED = "the editor did not apply it"
_NOT_CONFIRMED = "the editor has not confirmed it; look at the file before going on"

BeforeLanding = Callable[[Proposal], Awaitable[None]]
AfterLanding = Callable[[Proposal, Sequence[Hunk]], None]


class Landings:
    def __init__(
        self,
        documents: Documents,
        edits: DocumentEdits,
        disk: Workspace,
        *,
        before: BeforeLanding | None = None,
        after: AfterLanding | None = None,
    ) -> None:
        self._documents = documents
        self._edits = edits
        self._disk = disk
        self._before = before  # file history and the baseline of diagnostics are taken here
        self._after = after  # provenance is noted here
        self._writing = anyio.Lock()
        self._reals: dict[str, str] = {}
        documents.listen(self._heard)
        self.under_way: set[str] = set()  # ids of hunks on their way into a document

    async def put(self, proposal: Proposal, puts: Sequence[tuple[Hunk, Put]]) -> dict[str, str]:
        """Land these; by hunk id, why one did not. A pending hunk that does not get in is left in conflict."""
        if not puts:
            return {}
        flight = _Puts(puts)
        ids = {hunk.hunk_id for hunk, _ in puts}
        self.under_way |= ids
        try:
            if self._before is not None:
                await self._before(proposal)
            await self._try(proposal, flight)
        except (AssentError, OSError) as error:
            flight.fail(f"nothing was changed: {error}")
        finally:
            self.under_way -= ids
            flight.leave()
            self._landed(proposal, flight.landed())
        return flight.refused

    async def text_of(self, uri: str, path: str) -> str | None:
        document = self._documents.get(uri)
        if document is not None:
            return document.text
        try:
            return (await self._disk.read(path)).text
        except ToolError:
            return None

    async def file_at(self, path: str) -> FileText | None:
        """The file as it is now: in the editor where it is open; None where there is none."""
        document = self.open_at(path)
        if document is not None:
            return of_buffer(document, path)
        try:
            return await self._disk.read(path)
        except FileMissing:
            return None

    async def look(self, path: str) -> None:
        """What is anchored in a file follows what the disk holds now. Never while we write it ourselves."""
        async with self._writing:
            known = self._documents.known(self.uri_for(path))
            if known is None:
                return
            try:
                text: str | None = (await self._disk.read(path)).text
            except ToolError:
                text = None
            self._documents.disk(known.uri, text)

    def uri_for(self, path: str) -> str:
        """The URI under which the editor has this file open, a link to it included; else its own."""
        found = self.open_at(path)
        return uri_of(path) if found is None else found.uri

    def open_at(self, path: str) -> Document | None:
        found = self._documents.by_path(path)
        if found is not None:
            return found
        real = os.path.realpath(path)
        for document in self._documents.opened():
            if document.path is not None and self._real(document.path) == real:
                return document
        return None

    def _real(self, path: str) -> str:
        """Where links of an open document's path lead; looked up once, for every read asks this of every document."""
        if path not in self._reals:
            self._reals[path] = os.path.realpath(path)
        return self._reals[path]

    def _heard(self, event: DocumentEvent) -> None:
        if event.kind in ("opened", "closed"):
            self._reals.pop(path_of(event.uri) or "", None)

    def _landed(self, proposal: Proposal, hunks: Sequence[Hunk]) -> None:
        document = self._documents.get(proposal.uri)
        if hunks and document is not None:
            document.agent_dirty = document.dirty  # also when it came back mixed with typing, as no text we expected
        if self._after is not None:
            self._after(proposal, hunks)

    async def _try(self, proposal: Proposal, flight: "_Puts") -> None:
        for _ in range(_ATTEMPTS):
            document = self._documents.get(proposal.uri)
            version = None if document is None else document.version
            if document is None:
                outcome = await self._write(proposal, flight)
            else:
                outcome = await self._edits.apply(
                    proposal.uri, flight.build, _label(proposal), hunks=True, done=flight.done
                )
            if not flight.left():
                return
            if outcome == "unknown":
                flight.fail(_NOT_CONFIRMED, keep=True)
                return
            moved = self._documents.get(proposal.uri)
            if outcome == "failed" and moved is not None and moved.version == version:
                break  # nothing was in the way, and still it was not applied
        flight.fail(_NOT_APPLIED)

    async def _write(self, proposal: Proposal, flight: "_Puts") -> str:
        async with self._writing:
            if self._documents.is_notebook(proposal.path):
                flight.fail("it is open as a notebook in the editor, which cannot be changed from here")
                return "failed"
            try:
                before = await self._read(proposal)
                if self._documents.get(proposal.uri) is not None:
                    return "opened"  # while we were reading; its editor must make the change
                self._documents.disk(proposal.uri, "" if before is None else before.text)
                document = self._documents.known(proposal.uri)
                if document is None:
                    flight.fail("the file is gone")
                    return "failed"
                changes = flight.build(document)
                if not changes:
                    return "landed"
                expected = Expectation.of(document.text, changes)
                await self._disk.apply(_plan(proposal, before, expected.after))
            except ToolError as error:
                flight.fail(str(error))
                return "failed"
            self._documents.disk(proposal.uri, expected.after, landed=expected)
            return "landed"

    async def _read(self, proposal: Proposal) -> FileText | None:
        try:
            return await self._disk.read(proposal.path)
        except FileMissing:
            if proposal.creates:
                return None
            raise


class _Puts:
    """The hunks of one landing: which are still to go in, and why some will not."""

    def __init__(self, puts: Sequence[tuple[Hunk, Put]]) -> None:
        self._puts = sorted(puts, key=lambda item: item[0].start)
        self._built: list[Hunk] = []
        self._sent: set[str] = set()
        self.refused: dict[str, str] = {}

    def build(self, document: Document) -> list[Splice]:
        """The changes for the text as it is now; called again for every attempt."""
        changes: list[Splice] = []
        self._built = []
        for hunk, put in sorted(self._puts, key=lambda item: item[0].start):
            if self._is_in(hunk) or hunk.hunk_id in self.refused:
                continue
            if document.text[hunk.start : hunk.end] != put.over or not stands(hunk, document.text):
                self._refuse(hunk, TYPED_OVER)
                continue
            hunk.target = put.target
            self._built.append(hunk)
            self._sent.add(hunk.hunk_id)
            changes.append(Splice(hunk.start, hunk.end, put.target.text))
        return changes

    def done(self) -> bool:
        return bool(self._built) and all(hunk.target is None for hunk in self._built)

    def left(self) -> bool:
        return any(hunk.hunk_id not in self.refused and not self._is_in(hunk) for hunk, _ in self._puts)

    def fail(self, why: str, *, keep: bool = False) -> None:
        """None of the rest got in. `keep`: it may yet, and will be known by its text."""
        for hunk, _ in self._puts:
            if hunk.hunk_id not in self.refused and not self._is_in(hunk):
                target = hunk.target
                self._refuse(hunk, why)
                hunk.target = target if keep else None

    def leave(self) -> None:
        """Also when cancelled: nothing of ours stays marked as under way unless it may still arrive."""
        for hunk, _ in self._puts:
            if hunk.target is not None and hunk.hunk_id not in self.refused:
                target = hunk.target
                self._refuse(hunk, _NOT_CONFIRMED)
                hunk.target = target

    def landed(self) -> list[Hunk]:
        return [hunk for hunk, _ in self._puts if self._is_in(hunk)]

    def _is_in(self, hunk: Hunk) -> bool:
        return hunk.hunk_id in self._sent and hunk.target is None and hunk.hunk_id not in self.refused

    def _refuse(self, hunk: Hunk, why: str) -> None:
        self.refused[hunk.hunk_id] = why
        hunk.target = None
        if hunk.state in ("pending", "conflict"):
            hunk.state, hunk.why = "conflict", why


def _label(proposal: Proposal) -> str:
    return f"Assent: {proposal.reason or proposal.tool}"


def _plan(proposal: Proposal, before: FileText | None, new_text: str) -> EditPlan:
    return EditPlan(
        path=proposal.path,
        before=before,
        new_text=new_text,
        tool=proposal.tool,
        tool_use_id=proposal.tool_use_id,
        reason=proposal.reason,
        target=proposal.target,
    )
