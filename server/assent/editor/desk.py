"""Several editors at one desk: each has its own documents; one of them owns what both have open.

Rules:
1. Proposals, reads and the save barrier see one text per file: that of the document's owner. The first to open it owns
   it, then whoever last changed it. Nothing is ever merged: the owner's text counts, and the other editor is told.
2. A change that only brings a document level with the owner's, or with the file, is a reload and takes nothing over.
3. Edits and saves go to the owner. Where an edit is about to land, a document passes to the editor whose person acted
   last, if that one has the very same text open: people see the change where they asked for it.
4. When the owner closes a document or leaves, another editor that has it open owns it.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from assent.editor.buffer_edits import DocumentEdits
from assent.editor.client_edits import ClientEdits, ClientGone, Unsaved
from assent.editor.documents import Document, Documents
from assent.editor.editor import Editor
from assent.editor.proposals import Proposals
from assent.editor.provenance import Provenance
from assent.text.uris import same_document
from assent.types.blocks import Json


class Seat:
    """One editor at the desk, as its language server sees it (`editor.editor.EditorSide`)."""

    def __init__(self, desk: "Desk", editor: Editor, client: ClientEdits, *, name: str) -> None:
        self.client = client
        self.name = name or "another editor"
        self._documents = _SeatDocuments(desk, self)
        self._edits = DocumentEdits(self._documents, client)
        self._editor = editor
        self.notebooks: set[str] = set()

    @property
    def documents(self) -> Documents:
        return self._documents

    @property
    def edits(self) -> DocumentEdits:
        """For documents that are this editor's alone: conversations."""
        return self._edits

    @property
    def proposals(self) -> Proposals:
        return self._editor.proposals

    @property
    def provenance(self) -> Provenance:
        return self._editor.provenance


class Desk:
    """Also the one client that everything behind the desk talks to (`editor.client_edits.ClientEdits`)."""

    encoding = "utf-16"  # whoever has another one sits alone

    def __init__(self) -> None:
        self._seats: list[Seat] = []
        self._owners: dict[str, Seat] = {}
        self._active: Seat | None = None
        self._shared = Documents()
        self._editor: Editor | None = None

    def serve(self, editor: Editor) -> None:
        """The editor behind the desk, made with the desk as its client."""
        self._editor = editor
        self._shared = editor.documents
        editor.on_landing = self._bring_to_active

    def sit(self, client: ClientEdits, *, name: str) -> Seat:
        assert self._editor is not None
        seat = Seat(self, self._editor, client, name=name)
        self._seats.append(seat)
        return seat

    def leave(self, seat: Seat) -> None:
        if seat not in self._seats:
            return
        self._seats.remove(seat)
        if self._active is seat:
            self._active = None
        for document in seat.documents.opened():
            self.closed(seat, document.uri)
        for uri in seat.notebooks:
            self.notebook_closed(uri)

    def acted(self, seat: Seat) -> None:
        self._active = seat

    def owner(self, uri: str) -> Seat | None:
        return self._owners.get(same_document(uri))

    # --- what the seats tell -----------------------------------------------------------------------------------------

    def opened(self, seat: Seat, uri: str) -> None:
        mine = seat.documents.get(uri)
        if mine is None:
            return
        owner = self._owners.get(mine.uri)
        if owner is None or owner is seat:
            self._take(seat, mine)
            return
        theirs = self._shared.get(mine.uri)
        if theirs is not None and theirs.dirty and theirs.text != mine.text:
            seat.client.tell(f"{_name(mine)} has unsaved changes in {owner.name}. Assent works on that text.")

    def changed(self, seat: Seat, uri: str, version: int | None, changes: Sequence[Mapping[str, Any]]) -> None:
        mine = seat.documents.get(uri)
        if mine is None:
            return
        owner = self._owners.get(mine.uri)
        if owner is seat:
            self._shared.change(uri, version, changes)
            return
        theirs = self._shared.get(mine.uri)
        if theirs is not None and (mine.text == theirs.text or mine.text == theirs.saved):
            return
        held = owner.documents.get(mine.uri) if owner is not None else None
        self._take(seat, mine)
        if owner is not None and held is not None and held.dirty and held.text != mine.text:
            owner.client.tell(
                f"{_name(mine)} was changed in {seat.name}. Assent works on that text now; yours stays as it is here."
            )

    def saved(self, seat: Seat, uri: str, text: str | None) -> None:
        mine = seat.documents.get(uri)
        if mine is None:
            return
        owner = self._owners.get(mine.uri)
        if owner is seat:
            self._shared.save(uri, text)
            return
        self._shared.disk(mine.uri, mine.text)
        theirs = self._shared.get(mine.uri)
        if owner is not None and theirs is not None and theirs.dirty:
            owner.client.tell(f"{_name(mine)} was saved from {seat.name}. Your unsaved text of it is not in the file.")

    def closed(self, seat: Seat, uri: str) -> None:
        uri = same_document(uri)
        if self._owners.get(uri) is not seat:
            return
        for other in reversed(self._seats):
            document = other.documents.get(uri)
            if other is not seat and document is not None:
                self._take(other, document)
                return
        del self._owners[uri]
        self._shared.close(uri)

    def renamed(self, old_uri: str, new_uri: str) -> None:
        old, new = same_document(old_uri), same_document(new_uri)
        for uri in [uri for uri in self._owners if uri == old or uri.startswith(old + "/")]:
            self._owners[new + uri[len(old) :]] = self._owners.pop(uri)
        self._shared.rename(old_uri, new_uri)

    def deleted(self, uri: str) -> None:
        self._shared.delete(uri)

    def notebook_opened(self, uri: str) -> None:
        self._shared.open_notebook(uri)

    def notebook_closed(self, uri: str) -> None:
        if not any(same_document(uri) in seat.notebooks for seat in self._seats):
            self._shared.close_notebook(uri)

    def _take(self, seat: Seat, document: Document) -> None:
        """From now on this is the document; what is anchored in it follows the difference."""
        self._owners[document.uri] = seat
        self._shared.open(document.client_uri, document.language_id, document.version, document.text)

    def _bring_to_active(self, uri: str) -> None:
        seat, owner = self._active, self.owner(uri)
        if seat is None or owner is None or owner is seat:
            return
        mine, theirs = seat.documents.get(uri), self._shared.get(uri)
        if mine is not None and theirs is not None and mine.text == theirs.text:
            self._take(seat, mine)

    # --- as the one client -------------------------------------------------------------------------------------------

    @property
    def can_query(self) -> bool:
        return any(seat.client.can_query for seat in self._seats)

    @property
    def can_save(self) -> bool:
        return any(seat.client.can_save for seat in self._seats)

    def answers_for(self, uri: str) -> bool:
        owner = self.owner(uri)
        return owner is not None and owner.client.answers_for(uri)

    async def apply_edit(self, uri: str, version: int | None, edits: list[Json], label: str) -> bool:
        return await self._client_of(uri).apply_edit(uri, version, edits, label)

    async def save(self, uris: list[str]) -> Json:
        saved: list[str] = []
        failed: list[Json] = []
        for seat, mine in self._by_owner(uris):
            if not seat.client.can_save:
                failed += [{"uri": uri, "message": f"{seat.name} saves only when you do"} for uri in mine]
                continue
            try:
                answer = await seat.client.save(mine)
            except ClientGone as error:
                failed += [{"uri": uri, "message": str(error)} for uri in mine]
                continue
            saved += answer["saved"]
            failed += answer["failed"]
        return {"saved": saved, "failed": failed}

    async def ask_unsaved(self, uris: list[str], reason: str) -> Unsaved:
        """Everyone who holds one of them is asked, one after the other; the most careful answer counts."""
        answer: Unsaved = "saved"
        for seat, mine in self._by_owner(uris):
            said = await seat.client.ask_unsaved(mine, reason)
            if said == "cancel":
                return "cancel"
            answer = "disk" if said == "disk" else answer
        return answer

    async def query(self, kind: str, params: Json) -> Json:
        uri = params.get("uri")
        owner = self.owner(uri) if isinstance(uri, str) else None
        asked = [seat for seat in (owner, self._active, *self._seats) if seat is not None and seat.client.can_query]
        return await asked[0].client.query(kind, params) if asked else {"status": "noServer", "value": None}

    async def document(self, uri: str) -> Json | None:
        return await self._client_of(uri).document(uri)

    def tell(self, text: str) -> None:
        for seat in self._seats:
            seat.client.tell(text)

    def _client_of(self, uri: str) -> ClientEdits:
        owner = self.owner(uri)
        if owner is None:
            raise ClientGone("no editor has it open")
        return owner.client

    def _by_owner(self, uris: Sequence[str]) -> list[tuple[Seat, list[str]]]:
        found: dict[Seat, list[str]] = {}
        for uri in uris:
            if (owner := self.owner(uri)) is not None:
                found.setdefault(owner, []).append(uri)
        return list(found.items())


class _SeatDocuments(Documents):
    """The buffers of one editor, exactly as it told them; the desk hears of everything afterwards."""

    def __init__(self, desk: Desk, seat: Seat) -> None:
        super().__init__(encoding="utf-16")
        self._desk = desk
        self._seat = seat

    def open(self, uri: str, language_id: str, version: int | None, text: str) -> None:
        super().open(uri, language_id, version, text)
        self._desk.opened(self._seat, uri)

    def change(self, uri: str, version: int | None, changes: Sequence[Mapping[str, Any]]) -> bool:
        taken = super().change(uri, version, changes)
        if taken:
            self._desk.changed(self._seat, uri, version, changes)
        return taken

    def save(self, uri: str, text: str | None = None) -> None:
        super().save(uri, text)
        self._desk.saved(self._seat, uri, text)

    def close(self, uri: str) -> None:
        super().close(uri)
        self._desk.closed(self._seat, uri)

    def rename(self, old_uri: str, new_uri: str) -> None:
        super().rename(old_uri, new_uri)
        self._desk.renamed(old_uri, new_uri)

    def delete(self, uri: str) -> None:
        super().delete(uri)
        self._desk.deleted(uri)

    def open_notebook(self, uri: str) -> None:
        super().open_notebook(uri)
        self._seat.notebooks.add(same_document(uri))
        self._desk.notebook_opened(uri)

    def close_notebook(self, uri: str) -> None:
        super().close_notebook(uri)
        self._seat.notebooks.discard(same_document(uri))
        self._desk.notebook_closed(uri)


def _name(document: Document) -> str:
    return PurePath(document.path or document.uri).name
