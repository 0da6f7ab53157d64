"""Changing open documents through their editor: one edit in flight per document, and no guessing.

Done means a change came back that made the text we expect. `applied: false` means failed. Neither within two seconds
means unknown: the document is in doubt and gets no further edit until our mirror and the buffer agree. What a client
answers proves nothing otherwise: Neovim says applied when it refused a stale edit, and reports the change later.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import anyio

from assent.editor.client_edits import ClientEdits, ClientGone
from assent.editor.documents import Document, DocumentEvent, Documents, Expectation, text_sha256
from assent.text.positions import edit_of
from assent.text.splices import Splice
from assent.text.uris import same_document

_QUESTIONS = 5

Landing = Literal["landed", "failed", "unknown"]
Sleep = Callable[[float], Awaitable[None]]


class DocumentEdits:
    def __init__(
        self, documents: Documents, client: ClientEdits, *, timeout: float = 2.0, sleep: Sleep = anyio.sleep
    ) -> None:
        self._documents = documents
        self._client = client
        self._timeout = timeout
        self._sleep = sleep
        self._locks: dict[str, anyio.Lock] = {}
        self._doubts: dict[str, int] = {}  # by URI: the version at which we lost sight of the buffer
        self._in_flight: dict[str, _Flight] = {}
        documents.listen(self._heard)

    async def apply(
        self,
        uri: str,
        build: Callable[[Document], Sequence[Splice]],
        label: str,
        *,
        hunks: bool = False,
        done: Callable[[], bool] = lambda: False,
    ) -> Landing:
        """Make the changes `build` gives for the text as it is when our turn comes (ascending, apart; none = nothing).

        `hunks`: it is the agent's work on a file, to be saved before a command runs. `done` says that what was wanted
        is in the text, though the user has typed around it in the same breath.
        """
        uri = same_document(uri)
        async with self._locks.setdefault(uri, anyio.Lock()):
            document = self._documents.get(uri)
            if document is None:
                return "failed"
            if (uri in self._doubts or (document.version or 0) <= 0) and not await self._safe(uri, document):
                return "unknown"
            changes = build(document)
            if not changes:
                return "landed"
            return await self._make(document, Expectation.of(document.text, changes, hunks=hunks), label, done)

    def in_doubt(self, uri: str) -> bool:
        return same_document(uri) in self._doubts

    async def _safe(self, uri: str, document: Document) -> bool:
        """Before an edit that no version guards: does the buffer hold what we think?"""
        if not self._client.answers_for(uri):
            return uri not in self._doubts
        return await self._agree(uri) and self._documents.get(uri) is document

    async def _make(
        self, document: Document, expectation: Expectation, label: str, done: Callable[[], bool]
    ) -> Landing:
        uri = document.uri
        flight = _Flight(expectation, done)
        self._in_flight[uri] = flight
        self._documents.expect(uri, expectation)
        settled = False
        try:
            outcome = await self._fly(document, flight, label)
            settled = True
            if outcome == "unknown":
                self._doubts[uri] = document.version or 0
            else:
                self._documents.expect(uri, None)
            return outcome
        finally:
            if not settled:  # cancelled on the way: the edit may still land, and we would not know
                self._doubts[uri] = document.version or 0
            del self._in_flight[uri]

    async def _fly(self, document: Document, flight: "_Flight", label: str) -> Landing:
        text, lines = document.text, document.lines
        version = document.version  # of this text: the next change may be heard before the edit is sent
        edits = [edit_of(text, lines, change, self._documents.encoding) for change in flight.expectation.changes]
        asked = agreed = False
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                try:
                    flight.answer = await self._client.apply_edit(document.client_uri, version, edits, label)
                except ClientGone:
                    flight.answer = False
                flight.heard.set()

            async def wait() -> None:
                await self._sleep(self._timeout)
                flight.late = True
                flight.heard.set()

            tasks.start_soon(ask)
            tasks.start_soon(wait)
            while not (flight.over or agreed):
                if flight.answer and self._client.answers_for(document.uri) and not asked:
                    # It said yes. Asked, a client with our plugin reports its changes before it answers.
                    asked, agreed = True, await self._agree(document.uri)
                else:
                    await flight.heard.wait()
                    flight.heard = anyio.Event()
            tasks.cancel_scope.cancel()
        if flight.is_in:
            return "landed"
        if flight.answer is False or flight.closed:
            return "failed"
        agreed = agreed or (self._client.answers_for(document.uri) and await self._agree(document.uri))
        if flight.is_in:
            return "landed"
        return "failed" if agreed and flight.answer else "unknown"

    async def _agree(self, uri: str) -> bool:
        """Whether the buffer holds the mirror's text. Typing on past the answer makes it worth asking again."""
        for _ in range(_QUESTIONS):
            document = self._documents.get(uri)
            if document is None:
                return False
            try:
                answer = await self._client.document(document.client_uri)
            except ClientGone:
                return False
            if answer is None or self._documents.get(uri) is not document:
                return False
            if answer.get("sha256") == text_sha256(document.text):
                self._doubts.pop(uri, None)
                return True
            if not isinstance(answer.get("version"), int) or answer["version"] >= (document.version or 0):
                return False
        return False

    def _heard(self, event: DocumentEvent) -> None:
        flight = self._in_flight.get(event.uri)
        if flight is not None:
            flight.landed = flight.landed or event.landed is flight.expectation
            flight.closed = flight.closed or event.kind in ("closed", "renamed", "deleted")
            flight.heard.set()
        elif event.uri in self._doubts:
            # Long past any debounce, a report of the buffer is a report of all of it.
            self._doubts.pop(event.uri, None)
            self._documents.expect(event.uri, None)


class _Flight:
    __slots__ = ("answer", "closed", "done", "expectation", "heard", "landed", "late")

    def __init__(self, expectation: Expectation, done: Callable[[], bool]) -> None:
        self.expectation = expectation
        self.done = done
        self.heard = anyio.Event()
        self.answer: bool | None = None
        self.landed = False
        self.late = False
        self.closed = False

    @property
    def is_in(self) -> bool:
        return self.landed or self.done()

    @property
    def over(self) -> bool:
        return self.is_in or self.late or self.closed or self.answer is False
