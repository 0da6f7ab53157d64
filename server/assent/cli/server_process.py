"""Our server as a child process, spoken to exactly as an editor would: `lsp/rpc` over its two pipes.

Owns the process and its end. Not aware of what the methods mean.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from assent.lsp.rpc import envelope
from assent.lsp.rpc.framing import Frame, FrameDecoder, framed
from assent.lsp.rpc.peer import Incoming, Peer, RemoteError
from assent.types.blocks import Json
from assent.types.errors import AssentError, ProtocolError
from assent.types.programs import NEUTRAL, python, python_environment, user_path

_CHUNK = 64 * 1024


class ServerGone(AssentError):
    """The server ended while we still wanted something from it."""


class ServerProcess:
    """One running server. Handlers are registered by method before `start`."""

    def __init__(self, *, arguments: list[str] | None = None) -> None:
        self._arguments = arguments or []
        self._peer = Peer(self._send)
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    def on_request(self, method: str, handler: Callable[[Json], Awaitable[Any]]) -> None:
        async def serve(params: Any, _incoming: Incoming) -> Any:
            return await handler(params or {})

        self._peer.requests[method] = serve

    def on_notification(self, method: str, handler: Callable[[Json], None]) -> None:
        self._peer.notifications[method] = handler

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
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Json) -> Any:
        """The server's answer. Raises ProtocolError, or ServerGone."""
        try:
            return await self._peer.request(method, params)
        except RemoteError as error:
            raise _as_protocol_error(error) from None

    def notify(self, method: str, params: Json) -> None:
        self._peer.notify(method, params)

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
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._peer.close()

    def _send(self, body: bytes, _urgent: bool) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            raise ServerGone("the server has ended; start again with `assent chat --session latest`")
        process.stdin.write(framed(body))

    async def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        decoder = FrameDecoder()
        try:
            while chunk := await self._process.stdout.read(_CHUNK):
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


def _as_protocol_error(error: RemoteError) -> ProtocolError:
    given: Any = error.data
    data = cast("Json", given) if isinstance(given, dict) else {}
    try:
        return ProtocolError(data.get("kind", "internal"), str(error), hint=data.get("hint", ""))
    except KeyError:  # a kind that this version does not know
        return ProtocolError("internal", str(error))
