"""The editor's side of documents, over the wire: edits, saves and questions to the user's own language servers.

Implements `editor.client_edits.ClientEdits`. Whether an edit landed is judged by the document store, not by what the
client answers here.
"""

import asyncio
from typing import Any, cast

from assent.editor.client_edits import ClientGone, Unsaved
from assent.lsp.client import ConnectedClient
from assent.lsp.plain_asks import choose
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.types.blocks import Json
from assent.types.ids import new_id

QUERY_TIMEOUT_MS = 5000
_STATUSES = frozenset({"success", "starting", "noServer", "error"})
_WARNING = 2
_SAVED, _DISK, _CANCEL = "Saved, continue", "Run on disk state", "Cancel"


class EditorClient:
    def __init__(self, peer: Peer, client: ConnectedClient) -> None:
        self._peer = peer
        self._client = client

    @property
    def can_query(self) -> bool:
        return self._client.flags.editor_queries

    def answers_for(self, uri: str) -> bool:
        return self.can_query

    @property
    def encoding(self) -> str:
        return self._client.encoding

    @property
    def can_save(self) -> bool:
        return self._client.flags.save

    async def apply_edit(self, uri: str, version: int | None, edits: list[Json], label: str) -> bool:
        # Neovim takes versioned edits without claiming so. It compares only versions above 0, and counts from 0: 1 is
        # the version that says "as it was opened", older than a buffer with any change in it.
        neovim = self._client.name == "Neovim"
        if neovim or self._client.can("workspace.workspaceEdit.documentChanges"):
            version = 1 if neovim and version == 0 else version
            edit: Json = {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}
        else:
            edit = {"changes": {uri: edits}}
        # The change itself tells that the edit is in, often before the answer does: it must not be recalled then.
        answer = await self._request("workspace/applyEdit", {"label": label, "edit": edit}, recall=False)
        return answer.get("applied") is True

    async def save(self, uris: list[str]) -> Json:
        answer = await self._request("assent/editor/save", {"requestId": new_id("r"), "uris": uris})
        return {"saved": answer.get("saved") or [], "failed": answer.get("failed") or []}

    async def ask_unsaved(self, uris: list[str], reason: str) -> Unsaved:
        names = ", ".join(uri.rsplit("/", 1)[-1] for uri in uris)
        text = f"Assent: {reason or 'a command is about to run'}. Not saved yet: {names}"
        try:
            chosen = await choose(self._peer, text, [_SAVED, _DISK, _CANCEL], speaks_assent=self._client.speaks_assent)
        except RemoteError as error:
            raise ClientGone(str(error)) from None
        return "saved" if chosen == _SAVED else "disk" if chosen == _DISK else "cancel"

    async def query(self, kind: str, params: Json) -> Json:
        if not self.can_query:
            return {"status": "noServer", "value": None}
        timeout = int(params.get("timeoutMs") or QUERY_TIMEOUT_MS)
        request = {"requestId": new_id("r"), "timeoutMs": timeout, **params, "kind": kind}
        try:
            async with asyncio.timeout(timeout / 1000 + 1):
                answer = await self._request("assent/editor/query", request)
        except TimeoutError:
            return {"status": "error", "value": None, "message": "the editor did not answer in time"}
        except ClientGone as error:
            return {"status": "error", "value": None, "message": str(error)}
        if answer.get("status") not in _STATUSES:
            return {"status": "error", "value": None, "message": "the editor's answer has no known status"}
        return answer

    async def document(self, uri: str) -> Json | None:
        if not self.can_query:
            return None
        answer = await self.query("document", {"uri": uri})
        value = answer.get("value")
        return cast("Json", value) if answer["status"] == "success" and isinstance(value, dict) else None

    def tell(self, text: str) -> None:
        self._peer.notify("window/showMessage", {"type": _WARNING, "message": f"Assent: {text}"})

    async def _request(self, method: str, params: Json, *, recall: bool = True) -> Json:
        try:
            answer: Any = await self._peer.request(method, params, recall=recall)
        except RemoteError as error:
            raise ClientGone(f"{method}: {error}") from None
        return cast("Json", answer) if isinstance(answer, dict) else {}
