"""The save barrier: before a command runs on the files, what the agent changed in open buffers is saved to them.

Only documents that hold unsaved edits of ours; the person's other dirty buffers are never saved for them. A save that
fails is the person's to decide about; nothing runs silently on files that are not what the agent thinks they are.
"""

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, cast

import anyio

from assent.editor.buffer_edits import Sleep
from assent.editor.client_edits import ClientEdits, ClientGone, Unsaved
from assent.editor.documents import Document, DocumentEvent, Documents
from assent.text.uris import same_document
from assent.types.errors import ToolError


class SaveBarrier:
    def __init__(
        self, documents: Documents, client: ClientEdits, *, timeout: float = 2.0, sleep: Sleep = anyio.sleep
    ) -> None:
        self._documents = documents
        self._client = client
        self._timeout = timeout
        self._sleep = sleep
        self._told = anyio.Event()
        documents.listen(self._heard)

    async def hold(self) -> str:
        """Returns once the files hold our edits, or the person said to go on without; what was left unsaved, in words.

        Raises ToolError when the person cancelled, or nobody could be asked.
        """
        waiting = self._unsaved()
        if not waiting:
            return ""
        reason = "Assent is about to run a command on these files"
        if self._client.can_save:
            reason = await self._save(waiting) or reason
            waiting = self._unsaved(among=waiting)
            if not waiting:
                return ""
        answer = await self._ask(waiting, reason)
        left = self._unsaved(among=waiting)
        match answer:
            case "saved" if not left:
                return ""
            case "saved" | "disk":
                return _words(left or waiting)
            case "cancel":
                raise ToolError(f"Not run: the user cancelled because of unsaved changes in {_names(waiting)}")

    async def _save(self, waiting: Sequence[Document]) -> str:
        """Ask the editor to save; why it could not, or empty. Then give format-on-save time to be reported."""
        uris = [document.client_uri for document in waiting]
        try:
            answer = await self._client.save(uris)
        except ClientGone as error:
            return str(error)
        saved = cast("list[str]", answer.get("saved") or [])
        await self._until(lambda: not self._unsaved(among=self._named(saved, waiting)), self._timeout)
        for document in self._unsaved(among=self._named(saved, waiting)):
            self._documents.save(document.uri)  # its editor says so, though it sent no didSave
        failed = cast("list[dict[str, Any]]", answer.get("failed") or [])
        return "; ".join(f"{item.get('uri')} could not be saved: {item.get('message')}" for item in failed)

    async def _ask(self, waiting: Sequence[Document], reason: str) -> Unsaved:
        """The person's answer; saving everything by hand meanwhile is an answer too."""
        answer: Unsaved = "saved"
        gone = ""
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                nonlocal answer, gone
                try:
                    answer = await self._client.ask_unsaved([document.client_uri for document in waiting], reason)
                except ClientGone as error:
                    gone = str(error) or "the editor is gone"
                tasks.cancel_scope.cancel()

            tasks.start_soon(ask)
            await self._until(lambda: not self._unsaved(among=waiting), None)
            tasks.cancel_scope.cancel()
        if gone:
            raise ToolError(f"Not run: {_names(waiting)} could not be saved, and nobody could be asked ({gone})")
        return answer

    async def _until(self, met: Callable[[], bool], timeout: float | None) -> None:
        async with anyio.create_task_group() as tasks:

            async def late(seconds: float) -> None:
                await self._sleep(seconds)
                tasks.cancel_scope.cancel()

            if timeout is not None:
                tasks.start_soon(late, timeout)
            while not met():
                await self._told.wait()
            tasks.cancel_scope.cancel()

    def _named(self, uris: Sequence[str], among: Sequence[Document]) -> list[Document]:
        keys = {same_document(str(uri)) for uri in uris}
        return [document for document in among if document.uri in keys]

    def _unsaved(self, among: Sequence[Document] | None = None) -> list[Document]:
        dirty = [document for document in self._documents.opened() if document.agent_dirty and document.dirty]
        return dirty if among is None else [document for document in dirty if document in among]

    def _heard(self, event: DocumentEvent) -> None:
        self._told.set()
        self._told = anyio.Event()


def _words(left: Sequence[Document]) -> str:
    return (
        f"Unsaved in the editor while this ran: {_names(left)}. "
        "The command saw these files as they are on disk, without the latest edits."
    )


def _names(documents: Sequence[Document]) -> str:
    return ", ".join(PurePath(document.path or document.uri).name for document in documents)
