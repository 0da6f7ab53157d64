"""A small LSP client: enough to host our server from a terminal, exactly as an editor would.

It owns a child process and its two pipes. It knows JSON-RPC, not what the methods mean.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from assent.types.blocks import Json
from assent.types.errors import AssentError, ProtocolError
from assent.types.programs import NEUTRAL, python, python_environment, user_path

RequestHandler = Callable[[Json], Awaitable[Any]]
NotificationHandler = Callable[[Json], None]


class ServerGone(AssentError):
    """The server ended while we still wanted something from it."""


class Wire:
    """One running server. Handlers are registered by method before `start`."""

    def __init__(self, *, arguments: list[str] | None = None) -> None:
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}
        self._arguments = arguments or []
        self._next_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
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
        self._spawn(self._read())

    async def request(self, method: str, params: Json) -> Any:
        self._next_id += 1
        number = self._next_id
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await answer

    def notify(self, method: str, params: Json) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

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
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send(self, message: Json) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            raise ServerGone("the server has ended; start again with `assent chat --session latest`")
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        try:
            while message := await _read_message(stream):
                self._dispatch(message)
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ServerGone("the server ended unexpectedly; your conversation is saved"))

    def _dispatch(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            answer = self._waiting.pop(message["id"], None)
            if answer is not None and not answer.done():
                _settle(answer, message)
        elif "id" in message:
            self._spawn(self._serve(message))
        elif handler := self.notifications.get(method):
            handler(message.get("params") or {})

    async def _serve(self, message: Json) -> None:
        handler = self.requests.get(message["method"])
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if handler is None:
            reply["error"] = {"code": -32601, "message": f"{message['method']} is not something this client does"}
        else:
            reply["result"] = await handler(message.get("params") or {})
        self._send(reply)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _settle(answer: asyncio.Future[Any], message: Json) -> None:
    error = message.get("error")
    if error is None:
        answer.set_result(message.get("result"))
        return
    data: Json = error.get("data") or {}
    kind = data.get("kind", "internal")
    try:
        failure = ProtocolError(kind, error.get("message", "the server could not do that"), hint=data.get("hint", ""))
    except KeyError:
        failure = ProtocolError("internal", error.get("message", kind))
    answer.set_exception(failure)


async def _read_message(stream: asyncio.StreamReader) -> Json | None:
    length = 0
    while True:
        line = await stream.readline()
        if not line:
            return None
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(await stream.readexactly(length))
