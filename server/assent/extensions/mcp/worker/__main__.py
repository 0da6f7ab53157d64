"""The worker's main loop: requests come in as JSON lines on stdin, answers and events leave on stdout.

→ {"id", "op": "connect", "server", "config"}      ← {"id", "result"} or {"id", "error", "kind"}
→ {"id", "op": "list" | "call" | "read" | "prompt" | "roots" | "log" | "forget", "server", …}
→ {"op": "cancel", "id"}   {"op": "close", "server"}   {"op": "answer", "ask", "result"}
← {"event": "progress" | "changed" | "closed" | "ask", …}
"""

import asyncio
import contextlib
import ctypes
import itertools
import os
import signal
import sys
import time
from collections import Counter
from typing import Any, cast

import anyio
import anyio.lowlevel
import orjson
from anyio.abc import TaskGroup

from assent.extensions.mcp.processes import descendants
from assent.extensions.mcp.worker.connection import Connection
from assent.extensions.mcp.worker.encoded_lines import encoded
from assent.extensions.mcp.worker.failure import Failed
from assent.extensions.mcp.worker.sign_in import StoredTokens
from assent.extensions.mcp.worker.trimming import trimmed, trimmed_prompt

Json = dict[str, Any]
_SUBREAPER = 36
MOST_QUESTIONS = 5  # of one server at a time; what it asks beyond them is declined
_LONGEST = 64 * 1024 * 1024


class Worker:
    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._connections: dict[str, Connection] = {}
        self._scopes: dict[int, anyio.CancelScope] = {}
        self._asks: dict[int, asyncio.Future[Json]] = {}
        self._numbers = itertools.count(1)
        self._open: Counter[str] = Counter()  # questions of a server that nobody has answered yet

    def obey(self, message: Json) -> None:
        match message.get("op"):
            case "cancel":
                if scope := self._scopes.get(message["id"]):
                    scope.cancel()
            case "answer":
                waiting = self._asks.pop(message["ask"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message.get("result") or {})
            case _:
                self._scopes[message["id"]] = anyio.CancelScope()  # now: its cancellation may be the next line
                self._group.start_soon(self._answer, message)

    async def _answer(self, message: Json) -> None:
        number = message["id"]
        with self._scopes[number]:
            await anyio.lowlevel.checkpoint_if_cancelled()  # what nobody wants any more never reaches the server
            try:
                send({"id": number, "result": await self._do(message)})
            except Failed as error:
                connection = self._connections.get(message.get("server", ""))
                send({
                    "id": number, "error": str(error), "kind": error.kind,
                    "stderr": connection.log.tail if connection else "",
                })  # fmt: skip
            except Exception as error:
                send({"id": number, "error": f"{type(error).__name__}: {error}"[:2000], "kind": "failed"})
        if self._scopes.pop(number).cancelled_caught:
            send({"id": number, "error": "cancelled", "kind": "cancelled"})

    async def _do(self, message: Json) -> Any:
        key = message.get("server", "")
        match message["op"]:
            case "connect":
                return await self._connect(key, message["config"])
            case "close":
                if connection := self._connections.pop(key, None):
                    await connection.close()
                return {}
            case "forget":
                await StoredTokens(message["url"], folder=message["folder"]).forget()
                return {}
            case "log":
                connection = self._connections.get(key)
                return {"tail": connection.log.tail if connection else ""}
            case op:
                connection = self._connections.get(key)
                if connection is None:
                    raise Failed("not connected", "gone")
                return await self._request(connection, op, message)

    async def _request(self, connection: Connection, op: str, message: Json) -> Any:
        number, timeout = message["id"], float(message.get("timeout", 60))
        match op:
            case "list":
                return await connection.list(message["kind"])
            case "roots":
                await connection.set_roots(message["roots"])
                return {}
            case "call":
                progress = _Progress(number)
                result = await connection.call(number, message["tool"], message["arguments"], timeout, progress)
                return trimmed(result, folder=message.get("folder", ""), name=message.get("file", "mcp"))
            case "read":
                result = await connection.read(number, message["uri"], timeout)
                return trimmed(result, folder=message.get("folder", ""), name=message.get("file", "mcp"))
            case "prompt":
                return trimmed_prompt(await connection.prompt(number, message["name"], message["arguments"], timeout))
            case _:
                raise Failed(f"unknown request {op}")

    async def _connect(self, key: str, config: Json) -> Json:
        if old := self._connections.pop(key, None):
            await old.close()
        connection = self._connections[key] = Connection(key, config, ask=self._ask, notify=send)
        self._group.start_soon(connection.run)
        try:
            return await connection.ready()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await connection.close()
            raise

    async def _ask(self, key: str, kind: str, call: int | None, params: Json) -> Json:
        if kind == "elicit" and self._open[key] >= MOST_QUESTIONS:
            return {"action": "decline"}
        number = next(self._numbers)
        self._open[key] += 1
        waiting = self._asks[number] = asyncio.get_running_loop().create_future()
        send({"event": "ask", "ask": number, "server": key, "kind": kind, "call": call, "params": params})
        try:
            return await waiting
        finally:
            self._open[key] -= 1
            if self._asks.pop(number, None) is not None:
                send({"event": "withdrawn", "ask": number})


class _Progress:
    """Reports a call's progress, at most ten times a second."""

    def __init__(self, call: int) -> None:
        self._call = call
        self._last = 0.0
        self._words = ""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        now = time.monotonic()
        if now - self._last >= 0.1:
            self._last = now
            send({"event": "progress", "id": self._call, "progress": progress, "total": total, "message": message})

    async def said(self, words: str) -> None:
        """A task's own words, each only once."""
        if words != self._words:
            self._words = words
            send({"event": "progress", "id": self._call, "message": words[:500]})


def send(message: Json) -> None:
    """The parent always reads: it drops what it does not want, so a blocking write is short.

    What is longer than the parent reads would end this process and with it every server: one request fails instead.
    """
    line = encoded(message) + b"\n"
    if len(line) >= _LONGEST:
        if "id" not in message:
            return
        line = orjson.dumps({"id": message["id"], "error": "its answer is far too large", "kind": "failed"}) + b"\n"
    data = memoryview(line)
    while data:
        data = data[os.write(_out, data) :]


_out = -1  # our copy of stdout


async def main() -> None:
    reader = asyncio.StreamReader(limit=_LONGEST)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with anyio.create_task_group() as group:
        worker = Worker(group)
        send({"event": "ready"})
        with contextlib.suppress(ValueError):
            while line := await reader.readline():
                worker.obey(cast("Json", orjson.loads(line)))
        _end()  # without ceremony: the parent is gone, and waits for nothing


def _end(*_signal: object) -> None:
    for _ in range(20):
        found = descendants(os.getpid())
        if not found:
            break
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)  # what was killed needs a moment to end; the worker serves nobody any more
    os._exit(0)


if __name__ == "__main__":
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    # stdout is ours alone: nothing that a library prints may get between the messages.
    _out = os.dup(1)
    os.set_inheritable(_out, False)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    anyio.run(main)
