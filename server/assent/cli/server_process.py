"""Our server as a child process or as a host, spoken to exactly as an editor would: `lsp/rpc` over two streams.

Owns the process, the connection and their end. Not aware of what the methods mean.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

from assent.host.connection import Link, NoHost, RefusedByHost, connect_to
from assent.host.place import HostPlace, Unusable
from assent.lsp.rpc import envelope
from assent.lsp.rpc.framing import Frame, FrameDecoder, framed
from assent.lsp.rpc.peer import Incoming, Peer, RemoteError
from assent.types.blocks import Json
from assent.types.errors import AssentError, ProtocolError
from assent.types.programs import NEUTRAL, python, python_environment, user_path

_CHUNK = 64 * 1024


class ServerGone(AssentError):
    """The server ended while we still wanted something from it."""


class ServerConnection:
    """A server at the other end of two streams. Handlers are registered by method before it begins."""

    def __init__(self) -> None:
        self._peer = Peer(self._send)
        self._outgoing: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    def on_request(self, method: str, handler: Callable[[Json], Awaitable[Any]]) -> None:
        async def serve(params: Any, _incoming: Incoming) -> Any:
            return await handler(params or {})

        self._peer.requests[method] = serve

    def on_notification(self, method: str, handler: Callable[[Json], None]) -> None:
        self._peer.notifications[method] = handler

    async def request(self, method: str, params: Json) -> Any:
        """The server's answer. Raises ProtocolError, or ServerGone."""
        try:
            return await self._peer.request(method, params)
        except RemoteError as error:
            raise as_protocol_error(error) from None

    def notify(self, method: str, params: Json) -> None:
        self._peer.notify(method, params)

    async def _begin(self, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        self._outgoing = outgoing
        self._reading = asyncio.create_task(self._read(incoming))

    async def _over(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._peer.close()

    def _send(self, body: bytes, _urgent: bool) -> None:
        if self._outgoing is None or self._outgoing.is_closing():
            raise ServerGone("the server has ended; start again with `assent chat --session latest`")
        self._outgoing.write(framed(body))

    async def _read(self, incoming: asyncio.StreamReader) -> None:
        decoder = FrameDecoder()
        try:
            while chunk := await incoming.read(_CHUNK):
                for piece in decoder.feed(chunk):
                    if isinstance(piece, Frame):
                        self._accept(piece.body)
        finally:
            self._peer.abandon(ServerGone("the server ended unexpectedly; your conversation is saved"))

    def _accept(self, body: bytes) -> None:
        for message in envelope.read(body):
            match message:
                case envelope.Response():
                    self._peer.settle(message)
                case envelope.Request() | envelope.Notification():
                    self._peer.receive(message)
                case envelope.Malformed():
                    continue  # our own server sends none


class ServerProcess(ServerConnection):
    """Started for us alone, or a bridge to the host where the settings want one."""

    def __init__(self, *, arguments: list[str] | None = None) -> None:
        super().__init__()
        self._arguments = arguments or []
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        # The server logs to its own file; what it writes to stderr would only garble the conversation.
        self._process = await asyncio.create_subprocess_exec(
            *python("-m", "assent.cli.main", "serve", "--stdio", *self._arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=NEUTRAL,
            env=python_environment() | {"PATH": user_path()},
            start_new_session=True,  # Ctrl-C is ours: it interrupts the turn, not the server
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        await self._begin(self._process.stdout, self._process.stdin)

    async def stop(self) -> None:
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            try:
                async with asyncio.timeout(5):
                    await self.request("shutdown", {})
                    self.notify("exit", {})
                    await process.wait()
            except (TimeoutError, AssentError, ConnectionError):
                process.kill()
                await process.wait()
        await self._over()


class HostConnection(ServerConnection):
    """To a host that runs already."""

    def __init__(self, place: HostPlace) -> None:
        super().__init__()
        self._place = place
        self._link: Link | None = None

    async def start(self) -> None:
        """Raises ServerGone where the host does not take us in."""
        try:
            self._link = await asyncio.to_thread(connect_to, self._place)
        except (NoHost, RefusedByHost, Unusable) as error:
            raise ServerGone(f"the host cannot be reached: {error}") from None
        await self._begin(*await asyncio.open_connection(sock=self._link.stream))

    async def stop(self) -> None:
        await self._over()
        if self._outgoing is not None:  # by its owner: the loop still watches the descriptor
            self._outgoing.close()
            with contextlib.suppress(OSError):
                await self._outgoing.wait_closed()
        if self._link is not None:
            self._link.control.close()


def as_protocol_error(error: RemoteError) -> ProtocolError:
    given: Any = error.data
    data = cast("Json", given) if isinstance(given, dict) else {}
    try:
        return ProtocolError(data.get("kind", "internal"), str(error), hint=data.get("hint", ""))
    except KeyError:  # a kind that this version does not know
        return ProtocolError("internal", str(error))
