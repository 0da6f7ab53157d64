"""What stands behind an initialized connection: the app, the front, and one table of handlers.

Handlers live one noun per file; this is where they are put together. Requests of our own are decoded by their type in
`protocol`; plain LSP requests go through pygls (`features`), which is loaded a moment later, off the way to the first
answer.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from assent.lsp import configuration, documents, edits, lists, sessions, trust
from assent.lsp.chat_documents import ChatDocuments
from assent.lsp.client import Client
from assent.lsp.content import read_document
from assent.lsp.editor_client import EditorClient
from assent.lsp.front import LspFront
from assent.lsp.host import App, Build, Host, nothing
from assent.lsp.marks import HunkMarks
from assent.lsp.peer import Incoming, Peer, RemoteError, RequestHandler, params_object
from assent.lsp.progress import TurnProgress
from assent.lsp.status import StatusBoard
from assent.sessions.stream.front import Call
from assent.stdio.background import in_thread
from assent.types.blocks import Json
from assent.types.programs import keep_out
from assent.wire import CLIENT_REQUESTS
from assent.wire.decoding import decoded
from assent.wire.shapes import Wire

if TYPE_CHECKING:
    from assent.lsp.features import Features

log = logging.getLogger("assent.lsp")

Handler = Callable[["Connection", Json, Call], Coroutine[Any, Any, Any]]

PLAIN_REQUESTS = (
    "codeAction/resolve",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/hover",
    "workspace/executeCommand",
    "workspace/textDocumentContent",
)

ONLY_LOOKING = frozenset(  # these can be cut off anywhere
    (
        "assent/agent/list",
        "assent/command/list",
        "assent/complete",
        "assent/document/read",
        "assent/permission/explain",
        "assent/session/export",
        "assent/session/list",
        "assent/session/search",
        "assent/settings/get",
    )
)

OWN_REQUESTS: dict[str, Handler] = {
    **sessions.HANDLERS,
    **edits.HANDLERS,
    **lists.HANDLERS,
    **configuration.HANDLERS,
    **trust.HANDLERS,
    "assent/document/read": read_document,
}


class Connection:
    def __init__(self, peer: Peer, client: Client, build: Build) -> None:
        self.peer = peer
        self.client = client
        self.front = LspFront(peer, client)
        host = Host(
            client=EditorClient(peer, client),
            roots=client.roots,
            encoding=client.encoding,
            settings=client.options.settings or {},
            api_key=client.options.api_key,
            trusted=client.options.trusted,
        )
        keep_out(*client.roots())
        self.app: App = build(host)
        self.app.editor.documents.encoding = client.encoding  # pyright: ignore[reportAttributeAccessIssue] -- one of the three, by construction
        self.status = StatusBoard(self)
        self.progress = TurnProgress(self)
        self.marks = HunkMarks(self)
        self.chats = ChatDocuments(self)
        self.features: asyncio.Future[Features] = asyncio.get_running_loop().create_future()
        self._loading_features = False
        self.trust_asked: set[tuple[str, str]] = set()  # a folder and the hash of what it would activate
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stop = asyncio.Event()
        self._entered = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self.front.listen(self.status.heard)
        self.front.listen(self.progress.heard)
        self.app.sessions.on_settings.append(self.status.publish)
        configuration.apply(self, client.options.settings or {})
        trust.vouch(self)
        self._register()
        self.app.editor.documents.listen(lambda _event: self.need_features())

    # --- life -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Returns once sessions can run."""
        self._life = asyncio.create_task(self._live())
        entered = asyncio.create_task(self._entered.wait())
        await asyncio.wait({self._life, entered}, return_when=asyncio.FIRST_COMPLETED)
        if self._life.done():
            self._life.result()
        self.status.publish()

    def need_features(self) -> None:
        """Load pygls, once something asks for plain LSP or soon will: a conversation alone never pays for it."""
        if not self._loading_features:
            self._loading_features = True
            self.spawn(self._load_features())

    async def _load_features(self) -> None:
        await in_thread(lambda: importlib.import_module("assent.lsp.features"))
        from assent.lsp.features import Features

        self.features.set_result(Features(self))

    async def close(self) -> None:
        self._stop.set()
        for task in list(self._tasks):
            task.cancel()
        if self._life is not None:
            await self._life

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def refresh_lenses(self) -> None:
        """What lenses offer has changed; clients that can be told ask for them again."""
        if self.client.can("workspace.codeLens.refreshSupport"):
            self.spawn(self.peer.request("workspace/codeLens/refresh", None))

    async def _live(self) -> None:
        async with self.app:
            self._entered.set()
            await self._stop.wait()

    # --- the table ------------------------------------------------------------------------------------------------

    def _register(self) -> None:
        self.peer.notifications.update(documents.notifications(self.app.editor.documents))
        self.peer.notifications.update(
            {
                "initialized": lambda _params: configuration.begin(self),
                "workspace/didChangeConfiguration": lambda params: configuration.changed(self, params),
                "workspace/didChangeWorkspaceFolders": self._folders_changed,
                "window/workDoneProgress/cancel": self.progress.cancelled,
            }
        )
        for method in CLIENT_REQUESTS:
            self.peer.requests[method] = self._own(method)
        for method in PLAIN_REQUESTS:
            self.peer.requests[method] = self._plain(method)

    def _own(self, method: str) -> RequestHandler:
        params_type = CLIENT_REQUESTS[method].params
        handler = OWN_REQUESTS.get(method)

        async def serve(params: Any, incoming: Incoming) -> Any:
            decoded = decode(params, params_type)
            if method.startswith("assent/session/"):
                self.client.speaks_assent = True
            call = Call(front=self.front, answered=anyio.Event())
            assert call.answered is not None
            incoming.after_answer.append(call.answered.set)
            if method == "assent/tool/run" or (method == "assent/session/send" and decoded.get("wait")):
                incoming.on_cancel = call.cancelled.set
            elif method not in ONLY_LOOKING:
                incoming.on_cancel = nothing  # it is soon done; cut in two it would leave half a session behind
            if handler is not None:
                return await handler(self, decoded, call)
            return await self.app.sessions.request(method, decoded, call)

        return serve

    def _plain(self, method: str) -> RequestHandler:
        async def serve(params: Any, incoming: Incoming) -> Any:
            if method == "workspace/executeCommand":
                incoming.on_cancel = nothing
            self.need_features()
            features = await asyncio.shield(self.features)
            return await features.handle(method, params)

        return serve

    def _folders_changed(self, params: Any) -> None:
        self.client.change_folders(params_object(params))
        keep_out(*self.client.roots())
        self.status.publish()


def decode(params: Any, struct: type[Wire]) -> Json:
    """Checked parameters as plain JSON; absent and null optional fields are left out."""
    return msgspec.to_builtins(decoded(params_object(params), struct))


async def _logged(work: Coroutine[Any, Any, Any]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except RemoteError as error:
        log.info("the client: %s", error)
    except Exception:
        log.exception("background work failed")
