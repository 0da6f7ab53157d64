"""Lines of JSON on two pipes, as the library's transport. Whatever the client sends, the stream goes on.

The library takes decoded messages and trusts their shape; a reply to an id that cannot be one, or an error that is no
object, would end its loop. So what is no JSON-RPC message is answered here and never reaches it. Writing is never
waited for, which is what lets updates be sent from plain functions, in order with everything else.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

import orjson

from assent.stdio.reader import ChunkReader
from assent.stdio.writer import FrameWriter
from assent.storage.lines import encode
from assent.types.blocks import Json

log = logging.getLogger("assent.acp")

MAX_LINE = 64 * 1024 * 1024
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class LineTransport:
    """Structurally the library's `Transport`. `on_end` is called once, from any thread, when the client is gone."""

    def __init__(self, incoming: int, outgoing: int, *, on_end: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Json | None] = asyncio.Queue()
        self._after: dict[asyncio.Task[Any], list[Callable[[], None]]] = {}
        self._half = bytearray()
        self._skipping = False  # the rest of a line that is too long
        self._on_end = on_end
        self._loop = loop
        self._writer = FrameWriter(outgoing, frame=bytes, on_broken=self._ended, soon=loop.call_soon)
        self._reader = ChunkReader(incoming, loop, on_data=self._received, on_end=self._ended)

    def start(self) -> None:
        self._reader.start()

    # --- out ---------------------------------------------------------------------------------------------------------

    def post(self, message: Json) -> None:
        self._writer.send(encode(message))

    async def send(self, message: Json) -> None:
        self.post(message)
        task = asyncio.current_task()
        if "method" not in message and task is not None:
            for call in self._after.pop(task, ()):
                call()

    def after_answer(self, call: Callable[[], None]) -> None:
        """Run it right after the request that is being handled was answered; the library answers in the same task."""
        task = asyncio.current_task()
        assert task is not None
        self._after.setdefault(task, []).append(call)
        task.add_done_callback(lambda done: self._after.pop(done, None))

    async def close(self) -> None:
        """Nothing to do: the process ends, and `finish` has its own bound."""

    async def finish(self, *, seconds: float) -> None:
        """Let what is queued be written, but not for longer than this."""
        self._writer.flush()
        await asyncio.to_thread(self._writer.close, timeout=seconds)

    # --- in ----------------------------------------------------------------------------------------------------------

    async def receive(self) -> Json | None:
        return await self._messages.get()

    def _received(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole, self._half = bytes(self._half) + line, bytearray()
            if self._skipping:
                self._skipping = False
            else:
                self._accept(whole)
        self._half += rest
        if self._skipping:
            self._half.clear()
        elif len(self._half) > MAX_LINE:
            self._half.clear()
            self._skipping = True
            self._refuse(None, _INVALID_REQUEST, f"the message is longer than {MAX_LINE:,} bytes")

    def _accept(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message: Any = orjson.loads(line)
        except ValueError:
            self._refuse(None, _PARSE_ERROR, "this line is not JSON")
            return
        wrong = _wrong_with(message)
        if wrong is None:
            self._messages.put_nowait(message)
        elif wrong:
            id = cast("Json", message).get("id") if isinstance(message, dict) else None
            self._refuse(id if isinstance(id, str | int) else None, _INVALID_REQUEST, wrong)
        else:
            log.info("a reply that answers nothing was dropped")

    def _refuse(self, id: str | int | None, code: int, text: str) -> None:
        self.post({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})

    def _ended(self) -> None:
        self._on_end()
        self._loop.call_soon_threadsafe(self._messages.put_nowait, None)


def _wrong_with(message: Any) -> str | None:
    """Why a message cannot be handled; None when it can, and empty for a useless reply, which nobody may answer."""
    if not isinstance(message, dict):
        return "a message must be one JSON object"
    body = cast("Json", message)
    id_is_sound = isinstance(body.get("id"), str | int | float | None)
    if "method" in body:
        if not isinstance(body["method"], str):
            return "method must be a string"
        if not id_is_sound:
            return "id must be a string or a number"
        if not isinstance(body.get("params"), dict | None):
            return "params must be an object"
        return None
    if "id" not in body:
        return "a message needs a method or an id"
    if not id_is_sound or not ("result" in body or isinstance(body.get("error"), dict)):
        return ""
    return None
