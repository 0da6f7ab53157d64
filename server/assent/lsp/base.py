"""The server object that every handler gets as `ls`: the program, the client, and the notifications to the client.

`BaseServer` needs no pygls, so that `assent/*` is served before pygls has loaded; `AssentServer` is a `BaseServer` and
a pygls `LanguageServer`. It is made once per connection, after `initialize`. Not aware of any method: those are in
`features/`.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from assent.lsp.backend import Build
from assent.lsp.background_work import BackgroundWork
from assent.lsp.chat.chat_documents import ChatDocuments
from assent.lsp.client import ConnectedClient
from assent.lsp.editor_client import EditorClient
from assent.lsp.editor_settings import EditorSettings
from assent.lsp.lsp_front import LspFront
from assent.lsp.marks import HunkMarks
from assent.lsp.progress import TurnProgress
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.lsp.status import StatusBoard
from assent.lsp.trust_questions import TrustQuestions
from assent.sessions.stream.front import Call
from assent.types.errors import ProtocolError
from assent.types.programs import keep_out
from assent.wire.requests import SessionRef
from assent.wire.results import Interrupted

_INFO = 3
_MOST_TOLD = 3  # messages at once; the rest is in the roster


class BaseServer:
    def __init__(self, peer: Peer, client: ConnectedClient, build: Build) -> None:
        self.peer = peer
        self.client = client
        self.background = BackgroundWork()
        self.front = LspFront(peer, client)
        keep_out(*client.roots())
        self.app = build(client, EditorClient(peer, client))
        self.front.acted = self.app.acted
        self.app.joined(self.front)
        self._leaving: list[Callable[[], None]] = []
        self._make_surfaces()
        self._stop = asyncio.Event()
        self._entered = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    def _make_surfaces(self) -> None:
        """Everything that tells the client about the program without being asked."""
        peer, client, app, spawn = self.peer, self.client, self.app, self.background.spawn
        self.trust = TrustQuestions(
            peer,
            client,
            settings=app.settings,
            store=app.trust,
            sessions=app.sessions,
            spawn=spawn,
            answered=lambda: self.status.publish(),
        )
        self.status = StatusBoard(peer, client, facts=app.status, trust=self.trust.folders)
        self.progress = TurnProgress(peer, client, interrupt=self.interrupt, spawn=spawn)
        self.editor_settings = EditorSettings(
            peer,
            client,
            app.settings,
            spawn=spawn,
            changed=self.status.publish,
            place=client.name or "unnamed" if app.shared else "",
        )
        self.chats = ChatDocuments(
            peer,
            client,
            editor=app.editor,
            sessions=app.sessions,
            front=self.front,
            refresh_lenses=self.refresh_lenses,
            spawn=spawn,
        )
        self.marks = HunkMarks(peer, client, app.editor.proposals, refresh_lenses=self.refresh_lenses)
        self.front.listen(self.status.on_event)
        self.front.listen(self.progress.on_event)
        app.sessions.settings_watch.listeners.append(self.status.publish)
        self._leaving += [self.marks.close, lambda: app.sessions.settings_watch.listeners.remove(self.status.publish)]
        if client.speaks_assent:
            unlisten = app.sessions.roster.listen(lambda now: peer.notify("assent/roster", msgspec.to_builtins(now)))
            self._leaving.append(unlisten)
        self.trust.vouch()

    # --- life -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Returns once sessions can run."""
        self._life = asyncio.create_task(self._live())
        entered = asyncio.create_task(self._entered.wait())
        try:
            await asyncio.wait({self._life, entered}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the client went while the program was starting
            await self.close()
            raise
        if self._life.done():
            self._life.result()
        self.status.publish()
        self._tell_missed()

    def _tell_missed(self) -> None:
        missed = self.app.missed()
        if missed is None or not missed.sessions:
            return
        if self.client.speaks_assent:
            self.peer.notify("assent/missed", msgspec.to_builtins(missed))
        if self.client.flags.missed:
            return
        for entry in missed.sessions[:_MOST_TOLD]:
            self.peer.notify("window/showMessage", {"type": _INFO, "message": f"Assent: {entry.text}"})

    async def close(self) -> None:
        if self.app.shared:
            self._leave()
        self._stop.set()
        self.background.cancel()
        if self._life is not None:
            await self._life

    def _leave(self) -> None:
        """The program goes on without this client: its questions stay open, what waits for its editor fails."""
        self.app.left(self.front)
        self.chats.close()
        while self._leaving:
            self._leaving.pop()()
        self.peer.abandon(RemoteError(0, "the editor has gone"))

    async def _live(self) -> None:
        async with self.app.running:
            self._entered.set()
            await self._stop.wait()

    # --- for handlers ---------------------------------------------------------------------------------------------

    def notify(self, method: str, params: Any) -> None:
        self.peer.notify(method, params)

    async def request(self, method: str, params: Any) -> Any:
        """The client's answer. Raises RemoteError."""
        return await self.peer.request(method, params)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run this beside everything else; a failure is logged."""
        self.background.spawn(work)

    def refresh_lenses(self) -> None:
        """What lenses offer has changed; clients that can be told request them again."""
        if self.client.can("workspace.codeLens.refreshSupport"):
            self.spawn(self.peer.request("workspace/codeLens/refresh", None))

    async def folder(self, *, session_id: str | None = None, cwd: str | None = None, otherwise: str = "") -> str:
        """The folder that a request is about: the session's, the one it names, else the first of the workspace."""
        if session_id is not None:
            return (await self.app.sessions.session(session_id)).cwd
        roots = self.client.roots()
        folder = cwd or (roots[0] if roots else otherwise)
        if not folder:
            raise ProtocolError(
                "invalidParams", "say which folder: there is no workspace", hint="Give `cwd` or `sessionId`."
            )
        return folder

    async def interrupt(self, session_id: str) -> Interrupted:
        return await self.app.sessions.interrupt(SessionRef(session_id), Call())
