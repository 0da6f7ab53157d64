"""The second stage of the start: pygls, loaded once something needs plain LSP.

Until then the peer serves `assent/*` from the feature table. pygls and lsprotocol take 0.3 s and 15 MB, which a client
that only chats never pays. When they are there, `AssentServer` goes on top of the same peer: requests in flight go on,
and no message is lost or served twice.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from assent.lsp.base import BaseServer
from assent.lsp.rpc.peer import Incoming, RequestHandler
from assent.stdio.background import in_thread

if TYPE_CHECKING:
    from assent.lsp.server import AssentServer

log = logging.getLogger("assent.lsp")


class Staging:
    def __init__(self, early: BaseServer) -> None:
        self._early = early
        self._loading: asyncio.Task[AssentServer] | None = None
        early.app.editor.documents.listen(lambda _event: self.need_pygls())

    def need_pygls(self) -> None:
        """Begin to load it, because plain requests are here or will follow. Does not wait."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
            self._loading.add_done_callback(_log_failure)

    def later(self, method: str) -> RequestHandler:
        """A handler that waits for the second stage and hands the request on."""

        async def serve(params: Any, incoming: Incoming) -> Any:
            self.need_pygls()
            assert self._loading is not None
            await asyncio.shield(self._loading)
            return await self._early.peer.requests[method](params, incoming)

        return serve

    def cancel(self) -> None:
        if self._loading is not None:
            self._loading.cancel()

    async def _load(self) -> "AssentServer":
        """Both the import and the converter take long, so the server is made in a thread; the peer is the loop's."""
        made: list[AssentServer] = []
        await in_thread(lambda: made.append(_make(self._early)))
        server = made[0]
        server.protocol.serve()
        return server


def _make(early: BaseServer) -> "AssentServer":
    from assent.lsp.server import AssentServer

    return AssentServer(early)


def _log_failure(loading: "asyncio.Task[AssentServer]") -> None:
    if not loading.cancelled() and (error := loading.exception()) is not None:
        log.error("pygls could not be loaded", exc_info=error)
