"""One connection from its first byte to its last: framing, the life of the protocol, and who gets which message.

    stdin → reader → framing → envelope → gate (this file) → peer → handlers
    stdout ← writer ← peer, front

Rules:
1. Until `initialize` was answered requests get notInitialized; after `shutdown` they get invalidRequest; `exit` always
   counts. What comes between `initialize` and the moment the app is ready waits, in order.
2. No message, however broken, ends the process or goes unanswered if it was a request.
3. The way out never waits for the client: see `life`.

`initialize` itself has usually been answered already, by `early`; the loop then begins with its parameters.
"""

import asyncio
import contextlib
import gc
import importlib
import logging
import signal
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assent.lsp.backend import Build
from assent.lsp.capabilities import initialize_result
from assent.lsp.client import ConnectedClient
from assent.lsp.early import Opening
from assent.lsp.rpc import envelope
from assent.lsp.rpc.envelope import Malformed, Message, Notification, Request, Response
from assent.lsp.rpc.framing import Frame, FrameDecoder, framed
from assent.lsp.rpc.peer import Peer, params_object
from assent.stdio import freed_memory, life
from assent.stdio.background import in_thread
from assent.stdio.reader import ChunkReader
from assent.stdio.writer import FrameWriter
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

if TYPE_CHECKING:
    from assent.lsp.base import BaseServer
    from assent.lsp.staging import Staging

log = logging.getLogger("assent.lsp")

PAUSE_AT = 64 * 1024 * 1024  # bytes queued for a client that does not read, before we stop reading from it
RESUME_AT = 8 * 1024 * 1024


def serve(opening: Opening, build: Build, *, preload: Callable[[], Any], data_dir: Path) -> int:
    """Serve the connection until the client goes; ends the process itself, with its exit code."""
    from assent.stdio.logs import start_logging

    start_logging(data_dir / "logs")
    life.be_an_engine()
    freed_memory.give_back()
    loop = asyncio.new_event_loop()  # not asyncio.run: that would wait for threads which may never return
    code = loop.run_until_complete(_served(opening, build, preload))
    life.leave(code)
    return code


async def _served(opening: Opening, build: Build, preload: Callable[[], Any]) -> int:
    process = life.Life()
    end_on_signals(process)
    reaping = asyncio.create_task(life.reap_orphans())
    try:
        return await ServerLoop(opening, build, preload=preload, ending=process).run()
    finally:
        reaping.cancel()


def end_on_signals(process: life.Life) -> None:
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), process.end, name, 0)


class ServerLoop:
    """`ending` is the process's for its only connection; one among several has an ending of its own, and leaves
    nothing behind when it is over (`shared`)."""

    def __init__(
        self,
        opening: Opening,
        build: Build,
        *,
        preload: Callable[[], Any],
        ending: life.Ending,
        shared: bool = False,
    ) -> None:
        self._opening = opening
        self._build = build
        self._preload = preload
        self._life = ending
        self._shared = shared
        self._decoder = FrameDecoder()
        self._accept: Callable[[Message], None] = self._new  # → _starting → _serving → _ending
        self._held: deque[Request | Notification] = deque()  # until the app is ready
        self._server: BaseServer | None = None
        self._staging: Staging | None = None
        self._failure: ProtocolError | None = None
        self._background: set[asyncio.Task[Any]] = set()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        self._writer = FrameWriter(
            self._opening.outgoing, frame=framed, on_broken=self._client_gone, soon=loop.call_soon
        )
        self._peer = Peer(self._send)
        self._reader = ChunkReader(
            self._opening.incoming, loop, on_data=self._received, on_end=self._client_gone, stoppable=self._shared
        )
        if self._opening.initialize is not None:
            self._begin(self._opening.initialize)
        self._received(self._opening.unread)
        self._reader.start()
        await self._life.over()
        log.info("ending: %s", self._life.reason)
        await self._close()
        if self._shared:
            self._reader.stop()
            self._writer.end()
        return self._life.code

    # --- in -------------------------------------------------------------------------------------------------------

    def _received(self, chunk: bytes) -> None:
        for piece in self._decoder.feed(chunk):
            messages = envelope.read(piece.body) if isinstance(piece, Frame) else [envelope.of_fault(piece)]
            for message in messages:
                self._accept(message)

    # One of these four is `_accept`: it is the state of the protocol, and says what becomes of a message in it.

    def _new(self, message: Message) -> None:
        """Before `initialize`."""
        match message:
            case Request(method="initialize"):
                self._initialize(message)
            case Request():
                error = ProtocolError("notInitialized", "send `initialize` first", hint="LSP begins with `initialize`.")
                self._peer.refuse(message.id, error)
            case Notification(method="exit"):
                self._life.end("exit", 1)
            case Notification():
                pass  # nobody is there to take it
            case _:
                self._settle(message)

    def _starting(self, message: Message) -> None:
        """`initialize` has been answered, the program is loading or could not be loaded: messages wait, in order."""
        match message:
            case Notification(method="$/cancelRequest"):
                if not self._drop_held(_id_of(message.params)):
                    self._peer.cancel(_id_of(message.params))
            case Request(method="initialize" | "shutdown") | Notification(method="exit") | Malformed() | Response():
                self._serving(message)
            case _ if self._failure is None:
                self._held.append(message)
            case Request():
                self._peer.refuse(message.id, self._failure)
            case Notification():
                pass

    def _serving(self, message: Message) -> None:
        """The program is there: every keystroke and every request comes this way."""
        match message:
            case Notification(method="exit"):
                self._life.end("exit", 1)
            case Notification(method="$/cancelRequest"):
                self._peer.cancel(_id_of(message.params))
            case Request(method="initialize"):
                self._peer.refuse(message.id, ProtocolError("invalidRequest", "`initialize` was sent before"))
            case Request(method="shutdown"):
                self._accept = self._ending
                self._spawn(self._shut_down(message))
            case Request() | Notification():
                self._peer.receive(message)
            case _:
                self._settle(message)

    def _ending(self, message: Message) -> None:
        """After `shutdown`: only `exit` may follow."""
        match message:
            case Notification(method="exit"):
                self._life.end("exit", 0)
            case Notification(method="$/cancelRequest"):
                self._peer.cancel(_id_of(message.params))
            case Request():
                error = ProtocolError("invalidRequest", "the server is shutting down", hint="Only `exit` may follow.")
                self._peer.refuse(message.id, error)
            case Notification():
                pass
            case _:
                self._settle(message)

    def _settle(self, message: Response | Malformed) -> None:
        """Messages that are handled alike in every state."""
        if isinstance(message, Malformed):
            self._peer.refuse(message.id, message.error)
        else:
            self._peer.settle(message)

    def _drop_held(self, id: Any) -> bool:
        """A request that is cancelled while it waits for the program never begins."""
        for message in self._held:
            if isinstance(message, Request) and message.id == id:
                self._held.remove(message)
                self._peer.refuse(message.id, ProtocolError("cancelled", "the request was cancelled"))
                return True
        return False

    # --- life -----------------------------------------------------------------------------------------------------

    def _initialize(self, message: Request) -> None:
        try:
            params = params_object(message.params)
        except ProtocolError as error:
            self._peer.refuse(message.id, error)
            return
        self._send(envelope.result_body(message.id, initialize_result(params)), True)
        self._begin(params)

    def _begin(self, params: Json) -> None:
        """`initialize` has been answered; make the rest ready."""
        self._accept = self._starting
        client = ConnectedClient(params)
        if self._opening.notice:
            client.warnings.append({"kind": "host", "text": self._opening.notice, "hint": "`assent doctor` says more."})
        if client.process_id is not None and not self._shared:  # else its bridge does
            life.watch_parent(client.process_id, lambda: self._life.end("the client's process died"))
        self._spawn(self._make_ready(client))

    async def _make_ready(self, client: ConnectedClient) -> None:
        try:
            await in_thread(self._load)
            server = await self._start(client)
        except Exception as error:
            log.critical("the server could not start", exc_info=error)
            text = f"the server could not start: {type(error).__name__}: {error}"
            self._failure = ProtocolError("internal", text, hint="`assent doctor` shows what is wrong.")
            self._refuse_held(self._failure)
            return
        if self._accept == self._ending:
            await life.close_within(server.close)
            return
        self._server, self._accept = server, self._serving
        while self._held:
            self._peer.receive(self._held.popleft())
        try:
            await in_thread(server.app.warm_up)
        except Exception as error:  # it is loaded when it is needed, and fails there if it must
            log.warning("warming up failed", exc_info=error)
        if not self._shared:
            gc.freeze()  # what is loaded now stays; the collector need not walk it while text streams

    def _load(self) -> None:
        gc.disable()  # nothing of what is imported is garbage; a collection would only walk it
        try:
            self._preload()
            importlib.import_module("assent.lsp.staging")
            importlib.import_module("assent.lsp.features").load()
        finally:
            gc.enable()

    async def _start(self, client: ConnectedClient) -> "BaseServer":
        from assent.lsp.base import BaseServer
        from assent.lsp.dispatch import serve_early
        from assent.lsp.registry import server as table
        from assent.lsp.staging import Staging

        server = BaseServer(self._peer, client, self._build)
        self._staging = Staging(server)
        serve_early(server, table, later=self._staging.later)
        await server.start()
        return server

    def _refuse_held(self, error: ProtocolError) -> None:
        while self._held:
            message = self._held.popleft()
            if isinstance(message, Request):
                self._peer.refuse(message.id, error)

    async def _shut_down(self, message: Request) -> None:
        """Everything is closed before the answer: a client that waits for it may kill us right after."""
        await self._close_app()
        self._refuse_held(ProtocolError("cancelled", "the server is shutting down"))
        self._send(envelope.result_body(message.id, None), True)

    def _client_gone(self) -> None:
        self._life.end("the client has gone", 0 if self._accept == self._ending else 1)

    async def _close_app(self) -> None:
        server, self._server = self._server, None
        if self._staging is not None:
            self._staging.cancel()
        self._failure = ProtocolError("invalidRequest", "the server is shutting down")
        if server is not None:
            await life.close_within(server.close)
        await self._peer.close()

    async def _close(self) -> None:
        self._accept = self._ending
        await self._close_app()
        for task in self._background:
            task.cancel()
        self._writer.flush()
        await asyncio.to_thread(self._writer.close, timeout=0.3)

    # --- out ------------------------------------------------------------------------------------------------------

    def _send(self, body: bytes, urgent: bool) -> None:
        self._writer.send(body, urgent=urgent)
        if self._writer.queued > PAUSE_AT and not self._reader.paused:
            self._reader.pause()
            self._spawn(self._resume_when_read())

    async def _resume_when_read(self) -> None:
        while self._writer.queued > RESUME_AT:  # noqa: ASYNC110 -- the writer's thread makes room, not a task
            await asyncio.sleep(0.05)
        self._reader.resume()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _id_of(params: Any) -> Any:
    return cast("Json", params).get("id") if isinstance(params, dict) else None
