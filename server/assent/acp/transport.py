"""Lines of JSON on two pipes, as the library's transport.

Writing is never waited for, which is what lets updates be sent from plain functions, in order with everything else.
Cancelling single requests (`$/cancel_request`, both directions) lives here too: the library knows nothing of it, and
only the transport sees the ids of requests.
"""

import asyncio
import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

from assent.acp.lines import LineDecoder, Refusal
from assent.stdio.reader import ChunkReader
from assent.stdio.writer import FrameWriter
from assent.storage.lines import encode
from assent.types.blocks import Json

Id = str | int | float | None

# Stable in the protocol, but not routed by the library: they reach the agent as extensions of these names.
EXTENSIONS = {"session/delete": "_session/delete", "logout": "_logout"}
CANCEL = "$/cancel_request"

# The request that the running task answers. The library makes that task, and those it answers by, in the context of
# `receive`; which of them sends the answer is its own affair, and differs between its versions.
_answering: ContextVar[Id] = ContextVar("answering", default=None)


class LineTransport:
    """Structurally the library's `Transport`. `on_end` is called once, from any thread, when the client is gone."""

    def __init__(self, incoming: int, outgoing: int, *, on_end: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Json | None] = asyncio.Queue()
        self._after: dict[Id, list[Callable[[], None]]] = {}  # by the request that is to be answered first
        self._open: dict[Id, Callable[[], None] | None] = {}  # requests not answered yet, and how each is cancelled
        self._cancelled: set[Id] = set()  # those of them that the client has cancelled
        self._sent: dict[asyncio.Task[Any], Id] = {}  # the last request each task of ours has sent
        self._decoder = LineDecoder()
        self._extensions = EXTENSIONS
        self._peeked: list[Json | None] = []  # the first message, read before it was known who answers it
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
        if "method" not in message:
            self._open.pop(message.get("id"), None)
            self._cancelled.discard(message.get("id"))
            for call in self._after.pop(message.get("id"), ()):
                call()
        elif "id" in message and task is not None:
            self._sent[task] = message["id"]
            task.add_done_callback(lambda done: self._sent.pop(done, None))

    def after_answer(self, call: Callable[[], None]) -> None:
        """Run it right after the request that is being handled was answered."""
        self._after.setdefault(_answering.get(), []).append(call)

    def on_cancel(self, call: Callable[[], None]) -> None:
        """Run it when the client cancels the request that is being handled; at once if it has already."""
        id = _answering.get()
        if id in self._cancelled:
            call()
        elif id in self._open:
            self._open[id] = call

    def withdraw_request(self) -> None:
        """Tell the client that the request this task has sent is moot. A courtesy: its answer is dropped anyway."""
        task = asyncio.current_task()
        if task is not None and (id := self._sent.pop(task, None)) is not None:
            self.post({"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": id}})

    async def close(self) -> None:
        """Nothing to do: the process ends, and `finish` has its own bound."""

    async def finish(self, *, seconds: float) -> None:
        """Let what is queued be written, but not for longer than this."""
        self._writer.flush()
        await asyncio.to_thread(self._writer.close, timeout=seconds)

    # --- in ----------------------------------------------------------------------------------------------------------

    async def first(self) -> Json | None:
        """The first message, which `receive` gives again."""
        self._peeked = [await self._messages.get()]
        return self._peeked[0]

    def speaks_draft(self) -> None:
        """The library routes every method of the draft itself."""
        self._extensions = {}

    async def receive(self) -> Json | None:
        while True:
            message = self._peeked.pop() if self._peeked else await self._messages.get()
            if message is None or message.get("method") != CANCEL:
                break
            self._cancel(message)
        if message is None or "method" not in message:
            return message
        if "id" in message:
            self._open[message["id"]] = None
            _answering.set(message["id"])
        renamed = self._extensions.get(message["method"])
        return message if renamed is None else {**message, "method": renamed}

    def _cancel(self, message: Json) -> None:
        id = cast("Json", message.get("params") or {}).get("requestId")
        if (
            isinstance(id, str | int | float) and id in self._open
        ):  # one that is answered, or never was, is nothing to do
            self._cancelled.add(id)
            if (call := self._open[id]) is not None:
                call()

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
