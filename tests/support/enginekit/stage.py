"""The stage: engine, client, fake API and transcript of one test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio

from assent.engine.query_engine import QueryEngine
from assent.model.client import ModelClient, ModelSettings, make_call_model
from assent.model.clock import SystemClock
from assent.model.http_transport import Endpoint
from assent.model.retry import RetryPolicy
from assent.tools.tool import AnyTool, ToolServices
from assent.types.blocks import Block, text_of
from assent.types.messages import AssistantMessage, Message, RequestStart, Result
from assent.types.ports import ModelEvent, ModelRequest
from enginekit.invariants import assert_conversation_valid, assert_turn_valid, reloaded
from enginekit.parts import make_engine
from fakeapi import FakeApi, Limits

MODEL = "claude-opus-4-8"
OTHER_MODEL = "claude-sonnet-5"
SMALL_MODEL = "claude-haiku-4-5"
WAIT = 120.0  # generous: only a hang reaches it, also on a machine that is busy


class InstantClock(SystemClock):
    """Waiting costs nothing but a turn of the event loop; what was waited for is on record."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def jitter(self) -> float:
        return 0.0


@dataclass
class Recorder:
    """A transcript in memory that also knows what was on disk, and when."""

    written: list[Message] = field(default_factory=list[Message])
    durable: int = 0  # how many of them were flushed durably
    on_flush: Callable[[], None] = lambda: None

    def append(self, message: Message) -> None:
        self.written.append(message)

    async def flush(self, *, durable: bool) -> None:
        await asyncio.sleep(0)
        self.on_flush()
        if durable:
            self.durable = len(self.written)


@dataclass
class Spills:
    files: dict[str, str] = field(default_factory=dict[str, str])
    folder: Path = Path("spill")

    def write(self, tool_use_id: str, text: str) -> str:
        path = f"spill/{tool_use_id}.txt"
        self.files[path] = text
        return path


@dataclass
class TurnLog:
    """One turn as a consumer saw it."""

    messages: list[Message]

    @property
    def result(self) -> Result:
        last = self.messages[-1]
        assert isinstance(last, Result)
        return last

    @property
    def transitions(self) -> list[str]:
        return [m.transition for m in self.messages if isinstance(m, RequestStart) and m.transition is not None]

    @property
    def kinds(self) -> list[str]:
        return [message.type for message in self.messages]

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]

    @property
    def errors(self) -> list[str]:
        """What a person was shown as gone wrong."""
        return [text_of(m.content) for m in self.messages if isinstance(m, AssistantMessage) and m.error]


class Stage:
    """Config fields of the engine go in by name; `limits` describes the model to both sides."""

    def __init__(
        self,
        *,
        tools: Sequence[AnyTool] = (),
        model: str = MODEL,
        limits: Limits | None = None,
        default_max_tokens: int | None = None,
        check_requests: bool = True,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        source_seconds: float = WAIT,
        **config: Any,
    ) -> None:
        self.api = FakeApi(extra_models={model: limits} if limits else None, check_on_exit=check_requests)
        self.transcript = Recorder()
        self.spills = Spills()
        self.clock = InstantClock()
        corrections: dict[str, Any] = {}
        if limits is not None:
            corrections = {"context_window": limits.window, "max_output_tokens": limits.max_output}
        if default_max_tokens is not None:
            corrections["default_max_tokens"] = default_max_tokens
        self._corrections = {model: corrections} if corrections else {}
        self._config: dict[str, Any] = {
            "cwd": "/project",
            "model": model,
            "tools": list(tools),
            "small_model": SMALL_MODEL,
            "transcript": self.transcript,
            "services": ToolServices(spill=self.spills),
            **config,
        }
        self.requests: list[ModelRequest] = []
        self._sleep = sleep
        self._source_seconds = source_seconds
        self._client: ModelClient | None = None
        self._engine: QueryEngine | None = None
        self._tasks_before: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Stage:
        self._tasks_before = asyncio.all_tasks()
        await self.api.start()
        self._client = make_call_model(
            ModelSettings(
                endpoint=Endpoint(base_url=self.api.url, api_key="test"),
                models=self._corrections,
                retry=RetryPolicy(),
            ),
            clock=self.clock,
        )
        self._engine = self.new_engine()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None
        if self._engine is not None:
            await self._engine.aclose()
        await self._client.aclose()
        await self.api.__aexit__(kind)

    @property
    def engine(self) -> QueryEngine:
        assert self._engine is not None
        return self._engine

    def new_engine(self, **changes: Any) -> QueryEngine:
        """Another engine on the same endpoint, with other config: a resumed session, say."""
        assert self._client is not None
        client = self._client

        async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            self.requests.append(request)
            async with aclosing(client(request)) as events:
                async for event in events:
                    yield event

        given: dict[str, Any] = {
            "call_model": call,
            "model_info": client.info,
            "sleep": self._sleep,
            "source_seconds": self._source_seconds,
            "context_seconds": self._source_seconds,
            "look_seconds": WAIT,
        }
        return make_engine(**{**given, **self._config, **changes})

    async def turn(
        self,
        prompt: str | Sequence[Block] = "go",
        *,
        engine: QueryEngine | None = None,
        on_message: Callable[[int, Message], None] = lambda _at, _message: None,
        **options: Any,
    ) -> TurnLog:
        """A whole turn, with everything that must hold afterwards checked."""
        engine = engine or self.engine
        seen: list[Message] = []
        with anyio.fail_after(WAIT):
            async with aclosing(engine.submit(prompt, **options)) as messages:
                async for message in messages:
                    seen.append(message)
                    on_message(len(seen) - 1, message)
        assert_turn_valid(seen)
        assert_conversation_valid(engine.messages)
        assert not engine.running
        return TurnLog(seen)

    async def nothing_left_running(self) -> None:
        """No task of the engine, the tools or the client outlives its work; the endpoint's own do not count."""
        while left := {task for task in asyncio.all_tasks() - self._tasks_before if not _of_the_endpoint(task)}:
            _, hung = await asyncio.wait(left - {asyncio.current_task()}, timeout=WAIT)
            assert hung == set()

    def assert_reloads(self) -> None:
        """The transcript gives back the conversation as the engine has it."""
        assert reloaded(self.transcript.written) == self.engine.messages


def _of_the_endpoint(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "fakeapi" in code.co_filename
