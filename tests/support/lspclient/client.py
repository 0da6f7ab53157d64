"""The client's side of the wire: requests, notifications, answers to the server's requests, and everything it heard."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lspclient.process import Server

Json = dict[str, Any]
Answer = Callable[[Json], Any | Awaitable[Any]]
TIMEOUT = float(os.environ.get("ASSENT_PATIENCE", "120"))  # seconds; generous: a loaded machine is not a failure

PLUGIN: Json = {"permissions": True, "elicitation": True, "review": True, "partials": True}


class RpcError(Exception):
    def __init__(self, error: Json) -> None:
        super().__init__(str(error))
        self.code: int = error["code"]
        self.data: Json = error.get("data") or {}
        self.kind: str | None = self.data.get("kind")
        self.error = error


class Client:
    """`answers[method](params)` answers the server's requests; a method without one gets MethodNotFound."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.answers: dict[str, Answer] = {}
        self.heard: list[Json] = []  # every message from the server, in order
        self.documents: dict[str, Document] = {}
        self._next_id = 0
        self._waiting: dict[int | str, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._news = asyncio.Condition()
        self._reading: asyncio.Task[None] | None = None
        self.capabilities: Json = {}
        self.auto_apply = True  # behave as an editor: apply edits, report didChange, answer applied

    # --- life -----------------------------------------------------------------------------------------------------

    async def start(self, *, read: bool = True) -> None:
        self.process = await self.server.start()
        if read:
            self.read()

    def read(self) -> None:
        self._reading = asyncio.create_task(self._read())

    async def initialize(
        self, root: Path | None, *, assent: Json | None = None, capabilities: Json | None = None, **more: Any
    ) -> Json:
        params: Json = {
            "processId": None,
            "rootUri": root.as_uri() if root else None,
            "capabilities": capabilities or {},
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}] if root else None,
            **more,
        }
        if assent is not None:
            params["initializationOptions"] = {"assent": assent}
        result = await self.request("initialize", params)
        self.notify("initialized", {})
        return result

    async def stop(self) -> int:
        """The polite end; gives the exit code."""
        await self.request("shutdown", None)
        self.notify("exit", None)
        code = await self.server.ended(within=120)
        await self.close()
        return code

    async def close(self) -> None:
        await self.server.kill()
        for task in [*self._tasks, *([self._reading] if self._reading else [])]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- out ------------------------------------------------------------------------------------------------------

    def start_request(self, method: str, params: Any) -> tuple[int, asyncio.Future[Any]]:
        self._next_id += 1
        number = self._next_id
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number, answer

    async def request(self, method: str, params: Any = None, *, timeout: float = TIMEOUT) -> Any:
        _, answer = self.start_request(method, params)
        async with asyncio.timeout(timeout):
            return await answer

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def answer_to(self, id: int | str | None, *, timeout: float = TIMEOUT) -> Json:
        """The response with this id, however the request was sent."""
        return await self.wait_for(lambda m: "method" not in m and m.get("id") == id, timeout=timeout)

    # --- in -------------------------------------------------------------------------------------------------------

    def events(self, session_id: str | None = None, kind: str | None = None) -> list[Json]:
        return [
            message["params"]
            for message in self.heard
            if message.get("method") == "assent/session/event"
            and session_id in (None, message["params"]["sessionId"])
            and kind in (None, message["params"]["event"]["type"])
        ]

    async def wait_for(self, wanted: Callable[[Json], bool], *, after: int = 0, timeout: float = TIMEOUT) -> Json:
        """The first message, from index `after` of what was heard, that is wanted; waits for it if need be."""
        seen = after
        async with asyncio.timeout(timeout), self._news:
            while True:
                for message in self.heard[seen:]:
                    if wanted(message):
                        return message
                seen = len(self.heard)
                await self._news.wait()

    async def wait_event(
        self, kind: str, *, session_id: str | None = None, after: int = 0, timeout: float = TIMEOUT
    ) -> Json:
        def wanted(message: Json) -> bool:
            if message.get("method") != "assent/session/event":
                return False
            params = message["params"]
            return params["event"]["type"] == kind and session_id in (None, params["sessionId"])

        return (await self.wait_for(wanted, after=after, timeout=timeout))["params"]

    async def wait_notification(self, method: str, *, after: int = 0, timeout: float = TIMEOUT) -> Json:
        message = await self.wait_for(lambda m: m.get("method") == method, after=after, timeout=timeout)
        return message["params"]

    async def until(self, condition: Callable[[], bool], *, timeout: float = TIMEOUT) -> None:
        """Wait until something that messages change is so."""
        async with asyncio.timeout(timeout), self._news:
            while not condition():
                await self._news.wait()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        try:
            while True:
                length = 0
                while (line := await stream.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                if not line:
                    break
                await self._received(json.loads(await stream.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the server has ended"))

    async def _received(self, message: Json) -> None:
        if "method" not in message:
            answer = self._waiting.pop(message.get("id") or 0, None)
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(RpcError(message["error"]))
                else:
                    answer.set_result(message["result"])
        elif "id" in message:
            task = asyncio.create_task(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        async with self._news:
            self.heard.append(message)
            self._news.notify_all()

    async def _answer(self, message: Json) -> None:
        method: str = message["method"]
        params: Json = message.get("params") or {}
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        handler = self.answers.get(method)
        if handler is None and method == "workspace/applyEdit" and self.auto_apply:
            handler = self.apply_edit
        if handler is None:
            reply["error"] = {"code": -32601, "message": f"unhandled {method}"}
        else:
            try:
                result = handler(params)
                reply["result"] = await result if asyncio.iscoroutine(result) else result
            except RpcError as error:
                reply["error"] = error.error
        self.send(reply)

    # --- documents, as an editor has them -----------------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None, *, language: str = "plaintext") -> "Document":
        uri = path.as_uri()
        document = Document(uri, path.read_text() if text is None else text)
        self.documents[uri] = document
        item = {"uri": uri, "languageId": language, "version": document.version, "text": document.text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return document

    def close_document(self, uri: str) -> None:
        self.documents.pop(uri)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def type(self, document: "Document", start: int, end: int, text: str) -> None:
        """The user replaces text[start:end]; offsets count code points."""
        change = {"range": document.range(start, end), "text": text}
        document.splice(start, end, text)
        identifier = {"uri": document.uri, "version": document.version}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})

    async def apply_edit(self, params: Json) -> Json:
        """As an editor does it: all or nothing, versions checked, didChange after."""
        edit = params["edit"]
        found = [(e["textDocument"], e["edits"]) for e in edit.get("documentChanges", ())]
        found += [({"uri": uri, "version": None}, edits) for uri, edits in edit.get("changes", {}).items()]
        for identifier, _ in found:
            document = self.documents.get(identifier["uri"])
            if document is None or identifier.get("version") not in (None, document.version):
                return {"applied": False}
        for identifier, edits in found:
            document = self.documents[identifier["uri"]]
            spans = [(document.offset(e["range"]["start"]), document.offset(e["range"]["end"]), e) for e in edits]
            for start, end, one in sorted(spans, key=lambda span: span[:2], reverse=True):
                self.type(document, start, end, one["newText"])
        async with self._news:
            self._news.notify_all()
        return {"applied": True}


class Document:
    def __init__(self, uri: str, text: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1

    def splice(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.version += 1

    def offset(self, position: Json) -> int:
        """From a UTF-16 position."""
        at = 0
        for _ in range(position["line"]):
            found = self.text.find("\n", at)
            if found < 0:
                return len(self.text)
            at = found + 1
        units = 0
        while at < len(self.text) and self.text[at] != "\n" and units < position["character"]:
            units += 2 if ord(self.text[at]) > 0xFFFF else 1
            at += 1
        return at

    def position(self, offset: int) -> Json:
        before = self.text[:offset]
        line = before.count("\n")
        tail = before[before.rfind("\n") + 1 :]
        return {"line": line, "character": len(tail.encode("utf-16-le")) // 2}

    def range(self, start: int, end: int) -> Json:
        return {"start": self.position(start), "end": self.position(end)}


Connect = Callable[..., Awaitable[Client]]
"""Makes an initialized client of a server of its own; a fixture of tests/lsp."""
