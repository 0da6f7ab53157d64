"""The fake endpoint itself: HTTP/1.1 on loopback, a script, a record of what was asked. See the package docstring."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from fakeapi import frames, models, providers, wire
from fakeapi.body import blocks_of, items
from fakeapi.caching import CacheUse, PromptCache
from fakeapi.conversation import answer_digest
from fakeapi.delivery import Delivery
from fakeapi.gates import Arrivals, Gates
from fakeapi.rules import MAX_BODY_BYTES, Known, refuse
from fakeapi.script import Answer, Cut, Drop, Failure, Json, Part, Reply, failure

Matcher = Callable[["Request"], bool]

CERTIFICATE = Path(__file__).with_name("loopback-ca.pem")
"""What a client must trust to talk to `FakeApi(tls=True)`; made for these tests, good for nothing else."""


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
    def provider(self) -> providers.Provider | None:
        return providers.of_path(self.path)

    @property
    def counts_tokens(self) -> bool:
        return self.path.startswith("/v1/messages/count_tokens")

    @property
    def messages(self) -> list[Json]:
        return items(self.body, "messages")

    @property
    def blocks(self) -> list[tuple[str, Json]]:
        """Every content block with the role of its message."""
        return [(str(message["role"]), block) for message in self.messages for block in blocks_of(message)]

    @property
    def last_text(self) -> str:
        """The words of the last message, tool results included."""
        from assent.types.blocks import text_of

        return text_of(blocks_of(self.messages[-1])) if self.messages else ""

    @property
    def tool_results(self) -> dict[str, Json]:
        return {each["tool_use_id"]: each for _, each in self.blocks if each.get("type") == "tool_result"}


class FakeApi:
    """A strict Messages API on a loopback port, answering from a script."""

    def __init__(
        self,
        *,
        key: str | None = None,
        extra_models: Mapping[str, models.Limits] | None = None,
        min_cache_tokens: int = 0,
        check_on_exit: bool = True,
        tls: bool = False,
    ) -> None:
        self.key = key
        self._tls = tls
        self.requests: list[Request] = []
        self.offers: list[str] = ["claude-sonnet-5-5"]  # what GET /v1/models lists
        self.cache = PromptCache(minimum=min_cache_tokens)
        self.port = 0
        self.connections = 0  # how many were made, ever
        self._closed = 0
        self._extra_models = dict(extra_models or {})
        self._check_on_exit = check_on_exit
        self._script: deque[Answer] = deque()
        self._matched: list[tuple[Matcher, deque[Answer]]] = []
        self._otherwise: Callable[[Request], Answer] | None = None
        self._gates = Gates()
        self._delivery = Delivery(self._gates)
        self._expected_refusals = 0
        self._known_blocks: set[str] = set()
        self._paused: set[str] = set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrivals = Arrivals()
        self._closings = Arrivals()

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

    def forget(self) -> None:
        """Drop the answers that nobody asked for, so that a scene that failed leaves nothing to the next one."""
        self._script.clear()
        self._matched.clear()

    def release(self, name: str) -> None:
        self._gates[name].open()

    async def reached(self, name: str) -> None:
        await asyncio.wrap_future(self._gates[name].reached)

    async def called(self, count: int) -> Request:
        """Waits until `count` calls have come in, and gives the last of them. Bound it with a timeout."""
        await self._arrivals.wait(count)
        return self.requests[count - 1]

    async def closed(self, count: int) -> None:
        """Waits until so many connections have ended."""
        await self._closings.wait(count)

    # --- what happened ------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """For a spawned program: this endpoint and a key it takes."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": self.key or "test", "NO_PROXY": "127.0.0.1"}

    @property
    def calls(self) -> list[Request]:
        """Only the calls for a message, without token counts and refusals."""
        return [each for each in self.requests if each.provider and not each.counts_tokens and not each.refusal]

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
        context = None
        if self._tls:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(CERTIFICATE.with_name("loopback.pem"))
        self._server = await asyncio.start_server(self._serve, sock=listener, limit=MAX_BODY_BYTES * 2, ssl=context)
        return self

    async def stop(self) -> None:
        self._gates.open_all()
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
    def threaded(cls, **options: Any) -> Generator[FakeApi]:
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
        if not started.wait(120):
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
        self.connections += 1
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
            self._closed += 1
            self._closings.arrived(self._closed)

    async def _answer(self, connection: wire.Connection, request: Request) -> bool:
        """Answers one call; False when the connection is done for."""
        if request.path.startswith("/fake/"):
            return await self._control(connection, request)
        if request.method == "GET" and request.path.partition("?")[0] == "/v1/models":
            listed = [{"type": "model", "id": id, "display_name": id} for id in self.offers]
            body = orjson.dumps({"data": listed, "has_more": False})
            await connection.send_whole(200, {"content-type": "application/json"}, body)
            return True
        try:
            request.body = cast("Json", orjson.loads(request.raw))
            providers.normalise(request)
        except orjson.JSONDecodeError as problem:
            answer: Answer = failure(400, f"The request body is not valid JSON: {problem}")
        else:
            try:
                answer = self._judge(request)
            except Exception as bug:  # a dropped connection would only be retried, and the test would hang
                answer = failure(400, f"a bug in the fake API: {bug!r}")
        if isinstance(answer, Failure) and request.answer is None:
            request.refusal = answer.message
        if isinstance(answer, Reply) and not request.counts_tokens:
            request.cache = self.cache.use(request.body)
            answer = self._delivery.settle(request, answer)
            self._remember(request, answer)
        request.answer = answer
        self.requests.append(request)
        self._arrivals.arrived(len(self.requests))
        try:
            alive = await self._delivery.send(connection, request, answer)
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
        if "anthropic-version" not in headers and request.provider == "anthropic":
            return failure(400, "anthropic-version: header is required")
        if request.provider is None:
            return failure(404, f"Not Found: {request.path}")
        if len(request.raw) > MAX_BODY_BYTES:
            return failure(413, "Request exceeds the maximum size")
        name = request.body.get("model")
        limits = self._limits(name)
        if limits is None:
            return failure(404, f"model: {name}")
        if request.counts_tokens:
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

    def _remember(self, request: Request, reply: Reply) -> None:
        written = frames.content(reply)
        self._known_blocks.update(str(each["type"]) for each in written if each["type"] not in _ORDINARY)
        if frames.stop_reason(reply) == "pause_turn":
            last = request.messages[-1]
            before = blocks_of(last) if last["role"] == "assistant" else []
            self._paused.add(answer_digest(before + written))
            self._paused.add(answer_digest(written))

    async def _control(self, connection: wire.Connection, request: Request) -> bool:
        """For programs that run the fake as a process: read what happened, add to the script, open gates."""
        from fakeapi.control import control

        status, body = control(self, request)
        await connection.send_whole(status, {"content-type": "application/json"}, orjson.dumps(body))
        return True


_ORDINARY = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})


def _flat(parts: tuple[Part | tuple[Part, ...], ...]) -> tuple[Part, ...]:
    return tuple(inner for each in parts for inner in (each if isinstance(each, tuple) else (each,)))


def _saying(words: str) -> Matcher:
    def matches(request: Request) -> bool:
        return words in request.last_text or words in orjson.dumps(request.body.get("system") or "").decode()

    return matches
