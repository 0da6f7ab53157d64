"""One call of a tool through the workspace's host, for a program that is no editor: connect, call, leave.

It answers no question itself: asks and reviews are for the windows that show the session. So it stays connected only as
long as a call takes, and never keeps a host alive.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from assent.cli.server_process import ServerGone, as_protocol_error
from assent.host.connection import Link, NoHost, RefusedByHost, connect
from assent.host.place import Unusable
from assent.lsp.rpc import envelope
from assent.lsp.rpc.framing import Frame, FrameDecoder, framed
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.types.blocks import Json, text_of
from assent.types.errors import AssentError, ProtocolError

_CHUNK = 64 * 1024


class NoEditor(AssentError):
    """No window of an editor can answer; the text says why."""


async def run_tool(folder: Path, name: str, input: Json, *, needs_window: bool) -> tuple[str, bool]:
    """The result's text, and whether it is an error. `needs_window`: a person has to see or decide something.

    Raises NoEditor, and ProtocolError for what the host refuses.
    """
    link = await asyncio.to_thread(_found, folder)
    try:
        async with _client(link, folder) as peer:
            roster = cast("list[Json]", (await _asked(peer, "assent/session/roster", {}))["sessions"])
            shown = [each for each in roster if each.get("clients") and _inside(folder, str(each.get("cwd", "")))]
            if needs_window and not shown:
                raise NoEditor("no window shows a conversation of Assent there")
            session = {"sessionId": shown[-1]["sessionId"]} if shown else {}
            result = await _asked(peer, "assent/tool/run", {"name": name, "input": input, **session})
            return text_of(result["content"]), bool(result["isError"])
    except ServerGone as error:
        raise NoEditor(str(error)) from None
    finally:
        link.close()


def _found(folder: Path) -> Link:
    """The host of the folder, or of one above it: an agent may work in a part of the workspace."""
    why = "no host of Assent runs"
    for place in (folder, *folder.parents):
        try:
            return connect(str(place))
        except NoHost:
            continue
        except (RefusedByHost, Unusable) as error:
            why = str(error)
            break
    raise NoEditor(why)


def _inside(folder: Path, cwd: str) -> bool:
    return bool(cwd) and (folder == Path(cwd) or Path(cwd) in folder.parents or folder in Path(cwd).parents)


async def _asked(peer: Peer, method: str, params: Json) -> Json:
    try:
        return cast("Json", await peer.request(method, params))
    except RemoteError as error:
        known = as_protocol_error(error)
        if known.kind == "invalidParams" and "no tool named" in str(known):
            raise NoEditor("the windows there cannot answer this") from None
        raise known from None


@asynccontextmanager
async def _client(link: Link, folder: Path) -> AsyncGenerator[Peer, None]:
    reader, writer = await asyncio.open_connection(sock=link.stream.dup())

    def send(body: bytes, _urgent: bool) -> None:
        if writer.is_closing():
            raise ServerGone("the host ended")
        writer.write(framed(body))

    peer = Peer(send)

    async def read() -> None:
        decoder = FrameDecoder()
        try:
            while chunk := await reader.read(_CHUNK):
                for piece in decoder.feed(chunk):
                    for message in envelope.read(piece.body) if isinstance(piece, Frame) else ():
                        if isinstance(message, envelope.Response):
                            peer.settle(message)
                        elif isinstance(message, envelope.Request | envelope.Notification):
                            peer.receive(message)
        finally:
            peer.abandon(ServerGone("the host ended"))

    reading = asyncio.create_task(read())
    root = folder.as_uri()
    workspace: Any = [{"uri": root, "name": folder.name}]
    params: Json = {"processId": None, "rootUri": root, "capabilities": {}, "workspaceFolders": workspace}
    try:
        await peer.request("initialize", {**params, "clientInfo": {"name": "assent mcp serve"}})
        peer.notify("initialized", {})
        yield peer
        with contextlib.suppress(RemoteError, ServerGone, TimeoutError):
            async with asyncio.timeout(2):
                await peer.request("shutdown", {})
            peer.notify("exit", {})
            await writer.drain()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await peer.close()
        writer.close()


def protocol_words(error: ProtocolError) -> str:
    return f"{error}. {error.hint}".strip() if error.hint else str(error)
