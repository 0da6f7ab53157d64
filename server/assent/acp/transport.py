"""Lines of JSON on two pipes, as the library's transport.

Writing is never waited for, which is what lets updates be sent from plain functions, in order with everything else.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from assent.acp.lines import LineDecoder, Refusal
from assent.stdio.reader import ChunkReader
from assent.stdio.writer import FrameWriter
from assent.storage.lines import encode
from assent.types.blocks import Json


class LineTransport:
    """Structurally the library's `Transport`. `on_end` is called once, from any thread, when the client is gone."""

    def __init__(self, incoming: int, outgoing: int, *, on_end: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Json | None] = asyncio.Queue()
        self._after: dict[asyncio.Task[Any], list[Callable[[], None]]] = {}
        self._decoder = LineDecoder()
        self._on_end = on_end
        self._writer = FrameWriter(outgoing, frame=bytes, on_broken=self._ended, soon=self._loop.call_soon)
        self._reader = ChunkReader(incoming, self._loop, on_data=self._received, on_end=self._ended)

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
        for read in self._decoder.feed(chunk):
            if isinstance(read, Refusal):
                self.post({"jsonrpc": "2.0", "id": read.id, "error": {"code": read.code, "message": read.text}})
            else:
                self._messages.put_nowait(read)

    def _ended(self) -> None:
        self._on_end()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._messages.put_nowait, None)
