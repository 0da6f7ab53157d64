"""One chat document and its session: a front of that session that writes its events as text.

The text goes in through `workspace/applyEdit`, at the end only, at most five times a second, one edit in flight. A
document that is closed meanwhile gets the rest when it is opened again.
"""

import asyncio
from collections.abc import Callable

from assent.editor.documents import Document
from assent.editor.editor import EditorSide
from assent.lsp.chat import chat_text
from assent.sessions.stream.front import CannotAnswer, FrontFlags
from assent.sessions.stream.published import Published
from assent.text.lines import uniform_eol, with_eol
from assent.text.splices import Splice
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire.asks import Elicit, PermissionAsk

EDITS_PER_SECOND = 5
_LABEL = "Assent's answer"


class DocumentChat:
    def __init__(self, uri: str, session_id: str, *, editor: EditorSide, refresh_lenses: Callable[[], None]) -> None:
        self._editor = editor
        self._refresh_lenses = refresh_lenses
        self.uri = uri
        self.session_id = session_id
        self.running = False
        self._rendering = chat_text.Rendering()
        self._waiting = ""
        self._work = asyncio.Event()
        self._task = asyncio.create_task(self._write())

    # --- a front -----------------------------------------------------------------------------------------------------

    @property
    def flags(self) -> FrontFlags:
        return FrontFlags(partials=True, max_event_rate=EDITS_PER_SECOND, numbered=False)

    def event(self, published: Published) -> None:
        params = published.json()
        if params.get("parentToolUseId"):
            return  # a subagent's own conversation is folded into its tool call
        event: Json = params["event"]
        if event.get("type") in ("turnStarted", "turnFinished"):
            self.running = event["type"] == "turnStarted"
            self._refresh_lenses()
        self._append(self._rendering.of(event))

    async def ask(self, ask: PermissionAsk) -> Json:
        raise CannotAnswer("a document cannot be asked; the editor's own front is")

    async def elicit(self, elicit: Elicit) -> Json:
        raise CannotAnswer("a document cannot be asked; the editor's own front is")

    def withdraw(self, request_id: str) -> None:
        pass

    # --- writing -----------------------------------------------------------------------------------------------------

    @property
    def open(self) -> bool:
        return self._editor.documents.get(self.uri) is not None

    async def begin(self) -> None:
        """Line 1 names the session; the heading for the answer stands at the end."""

        def build(document: Document) -> list[Splice]:
            text = document.text
            end = len(text)
            opening = ("\n" if text.endswith("\n") else "\n\n") + self._rendering.begin()
            if chat_text.session_in(text) == self.session_id:
                return [_splice(document, end, end, opening)]
            start, stop = chat_text.header_span(text)
            line = chat_text.header(self.session_id) + ("" if stop else "\n")
            return [_splice(document, start, stop, line), _splice(document, end, end, opening)]

        landing = await self._editor.edits.apply(self.uri, build, _LABEL)
        if landing == "failed":
            raise ProtocolError("unsupported", "the editor refused the edit", hint="Is the document read-only?")

    def wake(self) -> None:
        self._work.set()

    def close(self) -> None:
        self._task.cancel()

    def _append(self, text: str) -> None:
        if text:
            self._waiting += text
            self._work.set()

    async def _write(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting and self.open:
                await self._write_once()
                await asyncio.sleep(1 / EDITS_PER_SECOND)  # the pace protocol.md sets, not a wait for something

    async def _write_once(self) -> None:
        text = self._waiting
        landing = await self._editor.edits.apply(self.uri, at_end(text), _LABEL)
        if landing == "landed" or (landing == "unknown" and self._is_in(text)):
            self._waiting = self._waiting[len(text) :]

    def _is_in(self, text: str) -> bool:
        """Whether the text is in the document although the editor did not confirm the edit."""
        document = self._editor.documents.get(self.uri)
        return document is not None and text.strip() in document.text[-len(text) - 4096 :].replace("\r\n", "\n")


def at_end(text: str) -> Callable[[Document], list[Splice]]:
    """For `DocumentEdits.apply`: this text, after whatever the document ends with by then."""

    def build(document: Document) -> list[Splice]:
        return [_splice(document, len(document.text), len(document.text), text)]

    return build


def _splice(document: Document, start: int, end: int, text: str) -> Splice:
    """In the document's own line ends: an editor would rewrite any other, and the edit would not be recognised."""
    eol = uniform_eol(document.text)
    return Splice(start, end, text if eol is None else with_eol(text, eol))
