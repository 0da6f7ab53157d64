"""The seam to the editor: what we may ask a connected client to do. `lsp/` implements it; nothing here knows LSP."""

from typing import Literal, Protocol

from assent.types.blocks import Json

Unsaved = Literal["saved", "disk", "cancel"]


class ClientEdits(Protocol):
    """One connected editor. Every method may raise `ClientGone`; none of them ever answers for the user."""

    @property
    def can_query(self) -> bool:
        """The client claimed `editorQueries`: `query` and `document` get real answers."""
        ...

    def answers_for(self, uri: str) -> bool:
        """Whether `document` gets a real answer for this one."""
        ...

    @property
    def encoding(self) -> str:
        """The negotiated position encoding, in which `query` asks and is answered."""
        ...

    @property
    def can_save(self) -> bool:
        """The client claimed `save`."""
        ...

    async def apply_edit(self, uri: str, version: int | None, edits: list[Json], label: str) -> bool:
        """workspace/applyEdit with one TextDocumentEdit. What the client answered; it proves nothing by itself."""
        ...

    async def save(self, uris: list[str]) -> Json:
        """assent/editor/save → `{saved: [uri], failed: [{uri, message}]}`."""
        ...

    async def ask_unsaved(self, uris: list[str], reason: str) -> Unsaved:
        """[Saved, continue / Run on disk state / Cancel], by whatever means the client has; waits for the person."""
        ...

    async def query(self, kind: str, params: Json) -> Json:
        """assent/editor/query → `{status, version?, value, …}`; status noServer when nobody can answer."""
        ...

    async def document(self, uri: str) -> Json | None:
        """`{version, sha256, dirty}` of the live buffer (sha256 of its UTF-8 text), or None: cannot or not open.

        The client flushes its didChange before answering, and those are handled before this returns.
        """
        ...

    def tell(self, text: str) -> None:
        """Show the person a sentence. Nobody waits for it."""
        ...


class ClientGone(Exception):
    """The client cannot be reached or does not know the request."""


class NoClient:
    """Stands in where no editor is connected: nothing is open, so nothing is ever asked of it."""

    can_query = False
    can_save = False
    encoding = "utf-16"

    def answers_for(self, uri: str) -> bool:
        return False

    async def apply_edit(self, uri: str, version: int | None, edits: list[Json], label: str) -> bool:
        raise ClientGone("no editor is connected")

    async def save(self, uris: list[str]) -> Json:
        raise ClientGone("no editor is connected")

    async def ask_unsaved(self, uris: list[str], reason: str) -> Unsaved:
        raise ClientGone("no editor is connected")

    async def query(self, kind: str, params: Json) -> Json:
        return {"status": "noServer", "value": None}

    async def document(self, uri: str) -> Json | None:
        return None

    def tell(self, text: str) -> None:
        pass
