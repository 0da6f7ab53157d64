"""Chat documents: any open `*.assent.md` is a conversation. Send it, and the answer grows at its end.

Owns which document belongs to which session; one of them is a `chat.Chat`, its words are `chat_text`'s.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from assent.editor.documents import Document, DocumentEvent
from assent.editor.editor import EditorSide
from assent.lsp.background_work import Spawn
from assent.lsp.chat import chat_text
from assent.lsp.chat.document_front import DocumentChat, at_end
from assent.lsp.client import ConnectedClient
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.sessions.hub import Sessions
from assent.sessions.stream.front import Call, Front
from assent.text.positions import offset_at
from assent.text.uris import path_of, same_document, uri_of
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.wire.requests import SessionFork, SessionNew, SessionSend

ENDING = ".assent.md"
_INFO = 3


def is_chat(uri: str) -> bool:
    return uri.endswith(ENDING)


class ChatDocuments:
    """`front` is the editor itself, where the questions of these conversations go."""

    def __init__(
        self,
        peer: Peer,
        client: ConnectedClient,
        *,
        editor: EditorSide,
        sessions: Sessions,
        front: Front,
        refresh_lenses: Callable[[], None],
        spawn: Spawn,
    ) -> None:
        self._peer = peer
        self._client = client
        self._editor = editor
        self._sessions = sessions
        self._front = front
        self._refresh_lenses = refresh_lenses
        self._spawn = spawn
        self._chats: dict[str, DocumentChat] = {}  # by uri
        self._last: str | None = None
        editor.documents.listen(self._document_changed)

    # --- what there is at a document ---------------------------------------------------------------------------------

    def session_of(self, uri: str) -> str | None:
        chat = self._chats.get(uri)
        if chat is not None:
            return chat.session_id
        document = self._editor.documents.get(uri)
        return chat_text.session_in(document.text) if document is not None else None

    def lenses(self, uri: str) -> list[Json]:
        document = self._editor.documents.get(uri)
        if document is None:
            return []
        line = chat_text.prompt_line(document.text)
        at = {"line": line, "character": 0}
        return [{"range": {"start": at, "end": at}, "command": command} for command in self._offers(uri)]

    def actions(self, uri: str) -> list[Json]:
        return [
            {"title": f"Assent: {command['title']}", "kind": "quickfix", "command": command}
            for command in self._offers(uri)
        ]

    def selected(self, uri: str, span: Json) -> str:
        """The text of a range in an open document."""
        documents = self._editor.documents
        document = documents.get(same_document(uri))
        if document is None:
            return ""
        start, end = (
            offset_at(document.text, document.lines, span[edge], documents.encoding) for edge in ("start", "end")
        )
        return document.text[start:end]

    def short_path(self, path: str) -> str:
        for root in self._client.roots():
            if path.startswith(root + os.sep):
                return os.path.relpath(path, root)
        return path

    # --- what a person does ------------------------------------------------------------------------------------------

    async def send(self, uri: str) -> Json:
        """Send the prompt of a chat document; answers as soon as the turn is accepted."""
        document = self._document(uri)
        prompt = chat_text.prompt_in(document.text)
        if not prompt:
            raise ProtocolError(
                "invalidParams", "there is nothing to send", hint=f"Write under the last `{chat_text.YOU}`."
            )
        chat = await self._chat(uri, document)
        if chat.running:
            raise ProtocolError("busy", "the answer is still being written", hint="Wait for it, or stop it.")
        chat.running = True
        self._last = uri
        try:
            await chat.begin()
            return await self._send(chat.session_id, prompt, front=chat)
        except ProtocolError:
            chat.running = False
            raise

    async def post(self, prompt: str) -> Json:
        """A prompt from a code action: into the last-used chat document, else into a new session without one."""
        uri = self._last
        document = self._editor.documents.get(uri) if uri is not None else None
        if uri is None or document is None:
            return await self._loose(prompt)
        chat = self._chats[uri]
        if chat.running:
            return await self._send(chat.session_id, prompt, front=self._front)
        before = (
            ""
            if chat_text.prompt_in(document.text) == "" and _awaits_prompt(document.text)
            else f"\n\n{chat_text.YOU}\n\n"
        )
        await self._editor.edits.apply(uri, at_end(before + prompt + "\n"), "Assent: prompt")
        return await self.send(uri)

    async def begin_question(self, text: str) -> Json:
        """Put the start of a question into a chat document, where the person finishes it."""
        uri = self._last or await self.create()
        if self._editor.documents.get(uri) is not None:
            await self._editor.edits.apply(uri, at_end(text), "Assent: question")
        self._show(uri)
        return {"uri": uri}

    async def create(self) -> str:
        """A new chat document in the first workspace folder, shown where the client can show documents."""
        roots = self._client.roots()
        if not roots:
            raise ProtocolError("unsupported", "there is no workspace folder for a chat document")
        path = await asyncio.to_thread(_new_file, Path(roots[0]))
        uri = uri_of(str(path))
        self._last = uri
        self._show(uri)
        return uri

    def close(self) -> None:
        """The editor has gone; its conversations go on without their documents."""
        for chat in self._chats.values():
            self._sessions.disconnect(chat)
            chat.close()

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _send(self, session_id: str, prompt: str, *, front: Front) -> Json:
        params = SessionSend(session_id, prompt, client_message_id=new_id("c"))
        return msgspec.to_builtins(await self._sessions.send(params, Call(front=front)))

    def _offers(self, uri: str) -> list[Json]:
        chat = self._chats.get(uri)
        if chat is not None and chat.running:
            return [{"title": "Stop", "command": "assent.interrupt", "arguments": [chat.session_id]}]
        return [{"title": "Send", "command": "assent.send", "arguments": [uri]}]

    async def _chat(self, uri: str, document: Document) -> "DocumentChat":
        """The chat of a document: the one we know, its session resumed, a fork of one open elsewhere, or a new one."""
        wanted = chat_text.session_in(document.text)
        known = self._chats.get(uri)
        if known is not None and wanted in (None, known.session_id):
            return known
        owner = next((chat for chat in self._chats.values() if chat.session_id == wanted and chat.uri != uri), None)
        hub = self._sessions
        if wanted is None:
            session_id = (await hub.new(SessionNew(cwd=self._folder(uri)), Call(front=self._front))).session_id
        elif owner is not None and owner.open:
            session_id = (await hub.stored.fork(SessionFork(wanted), Call())).session_id
        else:
            session_id = wanted
        session = await hub.session(session_id)
        # Questions of this conversation go to the same person.
        session.events.join(Call(front=self._front), session.spawn)
        chat = DocumentChat(uri, session_id, editor=self._editor, refresh_lenses=self._refresh_lenses)
        if known is not None:
            known.close()
        self._chats[uri] = chat
        return chat

    async def _loose(self, prompt: str) -> Json:
        roots = self._client.roots()
        params = SessionNew(cwd=roots[0] if roots else None)
        session_id = (await self._sessions.new(params, Call(front=self._front))).session_id
        if not self._client.speaks_assent:
            self._spawn(self._show_result(session_id, prompt))
            return {"sessionId": session_id}
        return {"sessionId": session_id, **await self._send(session_id, prompt, front=self._front)}

    async def _show_result(self, session_id: str, prompt: str) -> None:
        """A client without chat and without a chat document still gets the answer's words."""
        params = SessionSend(session_id, prompt, wait=True)
        answer = await self._sessions.send(params, Call(front=self._front))
        text = answer.result.result[:1500] if answer.result is not None else ""
        self._peer.notify("window/showMessage", {"type": _INFO, "message": f"Assent: {text}"})

    def _document(self, uri: str) -> Document:
        document = self._editor.documents.get(uri)
        if document is None or not is_chat(uri):
            raise ProtocolError(
                "unsupported", "this is not an open chat document", hint=f"Open a file named *{ENDING}."
            )
        return document

    def _folder(self, uri: str) -> str:
        path, roots = path_of(uri), self._client.roots()
        if path is None:  # a document that was never saved
            if not roots:
                hint = "Save it, or open a folder."
                raise ProtocolError("unsupported", "a chat document without a file needs a workspace folder", hint=hint)
            return roots[0]
        around = [root for root in roots if path.startswith(root + os.sep)]
        return max(around, key=len) if around else str(Path(path).parent)

    def _show(self, uri: str) -> None:
        """Show the document if the client claims that it can; the answer is not awaited."""

        async def show() -> None:
            with contextlib.suppress(RemoteError):
                await self._peer.request("window/showDocument", {"uri": uri, "takeFocus": True})

        if self._client.can("window.showDocument.support") is True:
            self._spawn(show())

    def _document_changed(self, event: DocumentEvent) -> None:
        if event.kind == "renamed" and (chat := self._chats.pop(event.old_uri, None)):
            chat.uri = event.uri
            self._chats[event.uri] = chat
        elif event.kind == "opened" and (chat := self._chats.get(event.uri)):
            chat.wake()


def _awaits_prompt(text: str) -> bool:
    return text.rstrip().endswith(chat_text.YOU)


def _new_file(folder: Path) -> Path:
    number = 1
    while True:
        path = folder / f"chat{'' if number == 1 else f'-{number}'}{ENDING}"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(f"{chat_text.YOU}\n\n")
        except FileExistsError:
            number += 1
        else:
            return path
