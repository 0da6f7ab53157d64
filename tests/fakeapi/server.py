"""The fake endpoint itself: HTTP/1.1 on loopback, a script, a record of what was asked. See the package docstring."""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import orjson

from fakeapi import frames, models, wire
from fakeapi.caching import CacheUse, PromptCache, prefix_segments, tokens
from fakeapi.rules import MAX_BODY_BYTES, Known, answer_digest, blocks_of, refuse
from fakeapi.script import Answer, Cut, Drop, Failure, Hold, Json, Part, Reply, failure
from fakeapi.signing import Prefix

Matcher = Callable[["Request"], bool]


@dataclass(slots=True, kw_only=True)
class Request:
    """One recorded call. `refusal` says why the endpoint would not have it; `cache` what it read and wrote."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Json = field(default_factory=dict[str, Any])
    refusal: str | None = None
    cache: CacheUse | None = None
    answer: Answer | None = None
    finished: bool = False  # every byte of the answer went out
    dropped: bool = False  # the client went away first

    @property
    def messages(self) -> list[Json]:
        return cast("list[Json]", self.body.get("messages") or [])

    @property
    def last_text(self) -> str:
        """The words of the last message, tool results included."""
        from assent.types.blocks import text_of

        return text_of(blocks_of(self.messages[-1])) if self.messages else ""

    @property
    def tool_results(self) -> dict[str, Json]:
        return {
            each["tool_use_id"]: each
            for message in self.messages
            for each in blocks_of(message)
            if each.get("type") == "tool_result"
        }


class FakeApi:
    """A strict Messages API on a loopback port, answering from a script."""

    def __init__(
        self,
        *,
        key: str | None = None,
        extra_models: Mapping[str, models.Limits] | None = None,
        min_cache_tokens: int = 0,
        check_on_exit: bool = True,
    ) -> None:
        self.key = key
        self.requests: list[Request] = []
        self.cache = PromptCache(minimum=min_cache_tokens)
        self.port = 0
        self._extra_models = dict(extra_models or {})
        self._check_on_exit = check_on_exit
        self._script: deque[Answer] = deque()
        self._matched: list[tuple[Matcher, deque[Answer]]] = []
        self._otherwise: Callable[[Request], Answer] | None = None
        self._gates: dict[str, _Gate] = {}
        self._expected_refusals = 0
        self._known_blocks: set[str] = set()
        self._paused: set[str] = set()
        self._tool_ids = (f"toolu_{number:04d}" for number in itertools.count(1))
        self._message_ids = (f"msg_{number:04d}" for number in itertools.count(1))
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrivals = _Arrivals()

    # --- the script ---------------------------------------------------------------------------------------------------

    def reply(self, *parts: Part | tuple[Part, ...], **options: Any) -> FakeApi:
        """The next answer: its parts in order, and the fields of `script.Reply` by name."""
        return self.add(Reply(parts=_flat(parts), **options))

    def error(self, status: int, message: str | None = None, **options: Any) -> FakeApi:
        """The next call fails: `api.error(529)`, `api.error(429, retry_after=3)`."""
        return self.add(failure(status, message, **options))

    def cut(
        self,
        *parts: Part | tuple[Part, ...],
        at_byte: int | None = None,
        at_event: int | None = None,
        extra_bytes: int = 0,
        how: Literal["close", "reset", "clean", "stall"] = "close",
        **options: Any,
    ) -> FakeApi:
        """The next answer breaks off: at a byte of the event stream, or after some whole events (and a bit more)."""
        broken = Cut(at_byte=at_byte, at_event=at_event, extra_bytes=extra_bytes, how=how)
        return self.add(Reply(parts=_flat(parts), cut=broken, **options))

    def drop(self, how: Literal["close", "reset"] = "reset") -> FakeApi:
        """The next call's connection breaks before any answer."""
        return self.add(Drop(how=how))

    def add(self, *answers: Answer) -> FakeApi:
        self._script.extend(answers)
        return self

    def when(self, matches: Matcher | str, *answers: Answer) -> FakeApi:
        """Answers for calls that match: a predicate, or words looked for in the system prompt and the last message.
        Looked at before the script, and used up in order."""
        self._matched.append((_saying(matches) if isinstance(matches, str) else matches, deque(answers)))
        return self

    def otherwise(self, answer: Callable[[Request], Answer] | Answer) -> FakeApi:
        """What to say when the script has run out; without it such a call is refused and fails the test."""
        self._otherwise = answer if callable(answer) else lambda _request: answer
        return self

    def expect_refusal(self, count: int = 1) -> FakeApi:
        self._expected_refusals += count
        return self

    @property
    def left(self) -> int:
        """How many scripted answers have not been asked for."""
        return len(self._script) + sum(len(answers) for _, answers in self._matched)

    # --- gates and waiting --------------------------------------------------------------------------------------------

    def release(self, name: str) -> None:
        self._gate(name).open()

    async def reached(self, name: str) -> None:
        await asyncio.wrap_future(self._gate(name).reached)

    async def called(self, count: int) -> Request:
        """Waits until `count` calls have come in, and gives the last of them. Bound it with a timeout."""
        await self._arrivals.wait(count)
        return self.requests[count - 1]

    # --- what happened ------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """For a spawned program: this endpoint and a key it takes."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": self.key or "test"}

    @property
    def calls(self) -> list[Request]:
        """Only the calls for a message, without token counts and refusals."""
        return [each for each in self.requests if each.path.startswith("/v1/messages") and not each.refusal]

    @property
    def refusals(self) -> list[str]:
        return [each.refusal for each in self.requests if each.refusal]

    def cache_share(self) -> float:
        """Tokens read from cache ÷ tokens that could have been, over all calls so far."""
        used = [each.cache for each in self.requests if each.cache is not None]
        possible = sum(each.possible for each in used)
        return sum(min(each.read, each.possible) for each in used) / possible if possible else 1.0

    def check(self) -> None:
        """Fails when a call was refused that the test did not expect to be."""
        if len(self.refusals) != self._expected_refusals:
            raise AssertionError(f"{self._expected_refusals} refusals expected, got: {self.refusals}")

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self, port: int = 0) -> FakeApi:
        self._loop = asyncio.get_running_loop()
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(("127.0.0.1", port))
        self.port = listener.getsockname()[1]
        self._server = await asyncio.start_server(self._serve, sock=listener, limit=MAX_BODY_BYTES * 2)
        return self

    async def stop(self) -> None:
        for gate in self._gates.values():
            gate.open()
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> FakeApi:
        return await self.start()

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.stop()
        if kind is None and self._check_on_exit:
            self.check()

    @classmethod
    @contextmanager
    def threaded(cls, **options: Any) -> Iterator[FakeApi]:
        """The same in a thread of its own, for tests that are not async. Scripting from outside is safe."""
        api = cls(**options)
        started = threading.Event()
        stop = asyncio.Event()

        async def life() -> None:
            await api.start()
            started.set()
            await stop.wait()
            await api.stop()

        thread = threading.Thread(target=lambda: asyncio.run(life()), daemon=True)
        thread.start()
        if not started.wait(10):
            raise RuntimeError("the fake API did not start")
        try:
            yield api
        finally:
            if api._loop is not None:
                api._loop.call_soon_threadsafe(stop.set)
            thread.join(10)
        if api._check_on_exit:
            api.check()

    # --- serving ------------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._tasks.add(task)
        connection = wire.Connection(reader, writer)
        try:
            while (head := await connection.read_request()) is not None:
                request = Request(
                    number=len(self.requests) + 1,
                    method=head.method,
                    path=head.path,
                    headers=head.headers,
                    raw=head.body,
                )
                if not await self._answer(connection, request):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            pass  # the server is stopping; asyncio logs a cancelled connection task as an error otherwise
        finally:
            self._tasks.discard(task)
            connection.close()

    async def _answer(self, connection: wire.Connection, request: Request) -> bool:
        """Answers one call; False when the connection is done for."""
        if request.path.startswith("/fake/"):
            return await self._control(connection, request)
        try:
            request.body = cast("Json", orjson.loads(request.raw))
        except orjson.JSONDecodeError as problem:
            answer: Answer = failure(400, f"The request body is not valid JSON: {problem}")
        else:
            answer = self._judge(request)
        if isinstance(answer, Failure) and request.answer is None:
            request.refusal = answer.message
        request.answer = answer
        self.requests.append(request)
        self._arrivals.arrived(len(self.requests))
        try:
            alive = await self._send(connection, request, answer)
        except ConnectionError:
            request.dropped = True
            raise
        request.finished = True
        return alive

    def _judge(self, request: Request) -> Answer:
        """Either a refusal, or the scripted answer."""
        headers = request.headers
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if not given or (self.key is not None and given != self.key):
            return failure(401, "invalid x-api-key" if given else "x-api-key header is required")
        if "anthropic-version" not in headers:
            return failure(400, "anthropic-version: header is required")
        if request.path.partition("?")[0] not in ("/v1/messages", "/v1/messages/count_tokens"):
            return failure(404, f"Not Found: {request.path}")
        if len(request.raw) > MAX_BODY_BYTES:
            return failure(413, "Request exceeds the maximum size")
        name = request.body.get("model")
        limits = self._limits(name)
        if limits is None:
            return failure(404, f"model: {name}")
        if request.path.startswith("/v1/messages/count_tokens"):
            request.answer = Reply(parts=())
            return request.answer
        known = Known(limits=limits, blocks=frozenset(self._known_blocks), paused=frozenset(self._paused))
        refused = refuse(request.body, headers, known)
        if refused is not None:
            return refused
        scripted = self._next(request)
        if scripted is None:
            return failure(400, f"the fake API has no answer scripted for call {request.number}")
        request.answer = scripted
        return scripted

    def _limits(self, name: object) -> models.Limits | None:
        if not isinstance(name, str):
            return models.ADAPTIVE  # the shape check will say what is wrong
        if name in self._extra_models:
            return self._extra_models[name]
        return models.limits(name) if name in models.names() else None

    def _next(self, request: Request) -> Answer | None:
        for matches, answers in self._matched:
            if answers and matches(request):
                return answers.popleft()
        if self._script:
            return self._script.popleft()
        return self._otherwise(request) if self._otherwise is not None else None

    async def _send(self, connection: wire.Connection, request: Request, answer: Answer) -> bool:
        request_id = {"request-id": f"req_{request.number:04d}"}
        match answer:
            case Drop(how=how):
                connection.close(reset=how == "reset")
                return False
            case Failure():
                if answer.hold is not None:
                    await self._pass(answer.hold)
                error: Json = {"type": answer.type, "message": answer.message}
                if answer.details is not None:
                    error["details"] = answer.details
                body = {"type": "error", "error": error, "request_id": request_id["request-id"]}
                sent = answer.body if answer.body is not None else orjson.dumps(body)
                kind = "application/json" if answer.body is None else "text/html"
                await connection.send_whole(
                    answer.status, {"content-type": kind} | request_id | dict(answer.headers), sent
                )
                return True
            case Reply():
                if request.path.startswith("/v1/messages/count_tokens"):
                    segments = prefix_segments(request.body)
                    count = {"input_tokens": segments[-1].end if segments else 0}
                    await connection.send_whole(
                        200, {"content-type": "application/json"} | request_id, orjson.dumps(count)
                    )
                    return True
                return await self._send_reply(connection, request, answer, request_id)

    async def _send_reply(
        self, connection: wire.Connection, request: Request, reply: Reply, request_id: dict[str, str]
    ) -> bool:
        request.cache = self.cache.use(request.body)
        model = reply.model or str(request.body["model"])
        prefix = Prefix()
        for message in request.messages:
            for each in blocks_of(message):
                prefix.add(message["role"], each)
        reply = frames.settled(reply, model=model, prefix=prefix, next_tool_id=self._tool_ids)
        self._remember(request, reply)
        written = frames.content(reply)
        count = reply.output_tokens if reply.output_tokens is not None else sum(tokens(each) for each in written)
        usage = request.cache.usage() | {"output_tokens": 1} | dict(reply.usage or {})
        message = frames.Message(id=next(self._message_ids), model=model, usage=usage, output_tokens=count)
        headers = request_id | dict(reply.headers)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if not request.body.get("stream"):
            whole = orjson.dumps(frames.whole_message(reply, message))
            await connection.send_whole(200, {"content-type": "application/json"} | headers, whole)
            return True
        await connection.start_stream({"content-type": "text/event-stream; charset=utf-8"} | headers)
        return await self._stream(connection, reply, frames.stream(reply, message))

    async def _stream(self, connection: wire.Connection, reply: Reply, events: Iterator[bytes | Hold]) -> bool:
        limit = _cut_at(reply.cut)
        sent = count = 0
        held = bytearray()
        for each in events:
            if isinstance(each, Hold):
                connection.write_chunk(bytes(held))
                held.clear()
                await connection.drain()
                await self._pass(each.name)
                continue
            data = each
            count += 1
            if reply.cut is not None and reply.cut.at_event is not None and count > reply.cut.at_event:
                limit = sent + max(0, reply.cut.extra_bytes)
            elif reply.cut is not None and reply.cut.at_event == count and reply.cut.extra_bytes < 0:
                limit = sent + len(data) + reply.cut.extra_bytes
            if limit is not None and sent + len(data) > limit:
                connection.write_chunk(bytes(held) + data[: max(0, limit - sent)])
                return await self._break(connection, cast("Cut", reply.cut))
            sent += len(data)
            if reply.chunking == "whole":
                held += data
            elif reply.chunking == "byte":
                for at in range(len(data)):
                    connection.write_chunk(data[at : at + 1])
            else:
                connection.write_chunk(data)
            if reply.every:
                await connection.drain()
                await asyncio.sleep(reply.every)
            elif count % 64 == 0:
                await connection.drain()
        connection.write_chunk(bytes(held))
        if reply.cut is not None:
            return await self._break(connection, reply.cut)
        await connection.end_stream()
        return True

    async def _break(self, connection: wire.Connection, cut: Cut) -> bool:
        await connection.drain()
        match cut.how:
            case "clean":
                await connection.end_stream()
                return True
            case "stall":
                await connection.gone()
            case "close" | "reset":
                connection.close(reset=cut.how == "reset")
        return False

    def _remember(self, request: Request, reply: Reply) -> None:
        written = frames.content(reply)
        self._known_blocks.update(str(each["type"]) for each in written if each["type"] not in _ORDINARY)
        if frames.stop_reason(reply) == "pause_turn":
            last = request.messages[-1]
            before = blocks_of(last) if last["role"] == "assistant" else []
            self._paused.add(answer_digest(before + written))
            self._paused.add(answer_digest(written))

    async def _pass(self, name: str) -> None:
        gate = self._gate(name)
        gate.arrive()
        await asyncio.wrap_future(gate.opened)

    def _gate(self, name: str) -> _Gate:
        return self._gates.setdefault(name, _Gate())

    async def _control(self, connection: wire.Connection, request: Request) -> bool:
        """For programs that run the fake as a process: read what happened, add to the script, open gates."""
        from fakeapi.control import control

        status, body = control(self, request)
        await connection.send_whole(status, {"content-type": "application/json"}, orjson.dumps(body))
        return True


class _Gate:
    """Works across threads: the test may live in another one than the server."""

    def __init__(self) -> None:
        from concurrent.futures import Future

        self.reached: Future[None] = Future()
        self.opened: Future[None] = Future()

    def arrive(self) -> None:
        if not self.reached.done():
            self.reached.set_result(None)

    def open(self) -> None:
        if not self.opened.done():
            self.opened.set_result(None)


class _Arrivals:
    def __init__(self) -> None:
        self._waiting: list[tuple[int, Any]] = []
        self._count = 0

    def arrived(self, count: int) -> None:
        self._count = count
        for wanted, future in self._waiting:
            if count >= wanted and not future.done():
                future.set_result(None)

    async def wait(self, count: int) -> None:
        from concurrent.futures import Future

        if self._count >= count:
            return
        future: Future[None] = Future()
        self._waiting.append((count, future))
        if self._count < count:
            await asyncio.wrap_future(future)


_ORDINARY = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})


def _flat(parts: tuple[Part | tuple[Part, ...], ...]) -> tuple[Part, ...]:
    return tuple(inner for each in parts for inner in (each if isinstance(each, tuple) else (each,)))


def _cut_at(cut: Cut | None) -> int | None:
    return cut.at_byte if cut is not None else None


def _saying(words: str) -> Matcher:
    def matches(request: Request) -> bool:
        return words in request.last_text or words in orjson.dumps(request.body.get("system") or "").decode()

    return matches
